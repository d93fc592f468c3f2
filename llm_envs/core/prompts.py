"""The Jinja templates of an environment, in the folder `prompts` of its package."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def prompt_template(package: str, name: str) -> Template:
    """The template `name` of a package, e.g. `planner.jinja` of `llm_envs.sudoku`; a variable that is not given fails.

    Raises:
        jinja2.TemplateNotFound: no such file.
    """
    return _templates(package).get_template(name)


@cache
def _templates(package: str) -> Environment:
    # Prompts are text for a model: escaping them for HTML would spoil them.
    return Environment(loader=PackageLoader(package, "prompts"), undefined=StrictUndefined)  # noqa: S701
