"""A small environment of one's own to start from: `llm-envs new` writes it, `docs/new_environment.md` explains it."""

import re
from pathlib import Path

from llm_envs.core.errors import UsageError, require
from llm_envs.registry import environments

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\Z")
VERSIONED = re.compile(r"_v[0-9]+\Z")
LONGEST = 20  # characters; a longer name would make lines of the files longer than 120


def check_name(name: str) -> None:
    """Raise `UsageError` unless the name can be that of a module and of an environment of its own."""
    require(
        bool(NAME.match(name)) and len(name) <= LONGEST,
        "name",
        name,
        f"words of the letters a-z and digits joined by single underscores, a letter first, at most {LONGEST} "
        "characters, e.g. my_env",
    )
    if VERSIONED.search(name):
        bare = VERSIONED.sub("", name)
        raise UsageError(f"name={name!r}: must be without a version; write {bare!r}, and the module is {bare}_v0.")
    if {f"llm_envs/{name}-v0", f"{name}-v0"} & environments().keys():
        raise UsageError(f"name={name!r}: is the name of an environment that is installed; choose another.")


def scaffold(name: str, where: Path) -> list[Path]:
    """Write a new environment into the new folder `where / name`; the files in the order in which to read them.

    Raises:
        UsageError: a name that is not allowed, a folder that is there already, or a place that is no folder.
    """
    check_name(name)
    folder = where / name
    if not where.is_dir():
        raise UsageError(f"dir={str(where)!r}: must be a folder that exists.")
    if folder.exists():
        raise UsageError(f"name={name!r}: {folder} exists already; choose another name, or another place by --dir.")
    files = _render(name)
    folder.mkdir()
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in files]


def _render(name: str) -> dict[str, str]:
    """File -> text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    words = name.split("_")
    names = {"name": name, "title": " ".join(words).capitalize(), "camel": "".join(map(str.capitalize, words))}
    # Python is no HTML: escaping it would spoil it.
    templates = Environment(  # noqa: S701
        loader=PackageLoader("llm_envs.scaffold"), undefined=StrictUndefined, keep_trailing_newline=True
    )
    files = {
        f"{name}_v0.py": "module.py.jinja",
        f"test_{name}.py": "test.py.jinja",
        "pyproject.toml": "pyproject.toml.jinja",
    }
    return {file: templates.get_template(template).render(names) for file, template in files.items()}
