"""A suite: a JSON file that says what is played and holds digests of it.

    {
      "format": 1,
      "name": "my_suite",
      "about": "one line for `llm-envs suites`",
      "entries": [
        {
          "name": "plan_path",                      unique in the suite, without a slash
          "env": "llm_envs/plan_path-v0",
          "options": {"difficulty": "hard"},        of the environment
          "split": "test",                          no other: what is trained on is in no suite
          "first": 0, "instances": 50,              indices 0 to 49
          "samples": 1,                             episodes of each instance
          "reply_tokens": {"planner": 512},         most tokens of a served model's reply, by role
          "starts": ["0f3a…", …]                    digest of each instance's first state
        }
      ],
      "hash": "…"                                   SHA-256 of all of the above
    }

`llm-envs suites --freeze FILE` fills in `starts` and `hash`. A file whose hash is not its content's is refused, and so
is an instance whose start has another digest: then a generator has changed, and results could not be compared.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from llm_envs.core.errors import UsageError, require, unknown_choice
from llm_envs.core.task import Split
from llm_envs_bench.agents.cast import plan_run, roles_of
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.spec import digest_of

FORMAT = 1
SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """One environment of a suite; the module's page says what the fields are."""

    name: str
    env: str
    options: Mapping[str, Any]
    instances: int
    first: int = 0
    split: str = Split.TEST.value
    samples: int = 1
    reply_tokens: Mapping[str, int] = field(default_factory=dict)
    starts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(bool(self.name) and "/" not in self.name, "name", self.name, "a name without a slash")
        require(self.split == Split.TEST, f"split of {self.name}", self.split, "'test': other splits are trained on")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """From JSON; `TypeError` for what is no entry."""
        return cls(**{**data, "starts": tuple(data.get("starts", ()))})


@dataclass(frozen=True, slots=True)
class Suite:
    """What is played, by name.

    Attributes:
        about: one line.
        hash: of all the rest, as the file has it.
    """

    name: str
    about: str
    entries: tuple[SuiteEntry, ...]
    hash: str = ""

    @property
    def content_hash(self) -> str:
        """SHA-256 of everything but the hash."""
        return digest_of({key: value for key, value in asdict(self).items() if key != "hash"})

    @property
    def episodes(self) -> int:
        """How many episodes this is."""
        return sum(entry.instances * entry.samples for entry in self.entries)

    def to_json(self) -> str:
        """The content of the file, a line for each field of an entry."""
        entries = ",\n".join(_entry_text(entry) for entry in self.entries)
        head = "".join(f'  "{key}": {_compact(getattr(self, key))},\n' for key in ("name", "about"))
        return f'{{\n  "format": {FORMAT},\n{head}  "entries": [\n{entries}\n  ],\n  "hash": "{self.hash}"\n}}\n'


def suite_names() -> list[str]:
    """The suites that come with the package."""
    found = (Path(file.name) for file in files(__package__).iterdir())
    return sorted(file.stem for file in found if file.suffix == SUFFIX)


def load_suite(name: str) -> Suite:
    """A suite of the package by name, or one of the user's by the path of its file.

    Raises:
        UsageError: there is none, or its content is not what was frozen.
    """
    suite = read_suite(name)
    if not suite.hash or not all(entry.starts for entry in suite.entries):
        raise UsageError(f"suite={name!r}: is not frozen; run llm-envs suites --freeze {name}.")
    if suite.hash != suite.content_hash:
        raise UsageError(
            f"suite={name!r}: was changed after it was frozen (hash {suite.content_hash[:12]}, not {suite.hash[:12]}). "
            "Take the original; a suite of your own gets a name of its own, and llm-envs suites --freeze."
        )
    return suite


def read_suite(name: str) -> Suite:
    """A suite as it stands in its file, frozen or not; `UsageError` for what is none."""
    if name.endswith(SUFFIX):
        path = Path(name)
    elif name in suite_names():
        path = Path(str(files(__package__).joinpath(name + SUFFIX)))
    else:
        raise unknown_choice("suite", name, [*suite_names(), "FILE" + SUFFIX])
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("format") != FORMAT:
            raise UsageError(f"suite={name!r}: format={data.get('format')!r}: this version reads format {FORMAT}.")
        entries = tuple(map(SuiteEntry.from_dict, data["entries"]))
        return Suite(data["name"], data["about"], entries, data.get("hash", ""))
    except OSError as error:
        raise UsageError(f"suite={name!r}: can't be read: {error}.") from error
    except (json.JSONDecodeError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(
            f"suite={name!r}: must be a suite as JSON ({error}); see llm_envs_bench.suites.suite."
        ) from error


def plan_suite(
    suite: Suite,
    everyone: str | None,
    by_role: Mapping[str, str],
    *,
    samples: int | None = None,
    instances: int | None = None,
    **rest: Any,
) -> RunPlan:
    """What a run of a suite is.

    Args:
        suite: what to play.
        everyone: agent of each role that `by_role` does not name.
        by_role: role -> agent, wherever an environment has that role.
        samples: episodes of each instance (default: the suite's).
        instances: at most so many of each entry, the first ones (default: all).
        rest: further fields of every `RunSpec`.

    Raises:
        UsageError: an agent or checkpoint that does not exist, a role that no environment has or that nobody plays.
    """
    roles = {entry.name: roles_of(entry.env, entry.options) for entry in suite.entries}
    known = {role for found in roles.values() for role in found}
    for role in by_role:
        if role not in known:
            raise unknown_choice("role", role, known)
    specs = (
        plan_run(
            entry.env,
            everyone,
            {role: agent for role, agent in by_role.items() if role in roles[entry.name]},
            options=entry.options,
            entry=entry.name,
            split=entry.split,
            first=entry.first,
            instances=entry.instances,
            samples=entry.samples if samples is None else samples,
            reply_tokens=entry.reply_tokens,
            starts=entry.starts,
            **rest,
        )
        for entry in (_first_of(whole, instances) for whole in suite.entries)
    )
    return RunPlan(tuple(specs), suite.name, suite.hash)


def _first_of(entry: SuiteEntry, instances: int | None) -> SuiteEntry:
    if instances is None or instances >= entry.instances:
        return entry
    return replace(entry, instances=instances, starts=entry.starts[:instances])


def _entry_text(entry: SuiteEntry) -> str:
    fields = ",\n".join(f'      "{key}": {_compact(value)}' for key, value in asdict(entry).items())
    return f"    {{\n{fields}\n    }}"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
