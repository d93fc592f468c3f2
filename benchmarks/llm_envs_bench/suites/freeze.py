"""Freezing a suite: the digest of every instance's start, and the hash of it all."""

from dataclasses import replace
from pathlib import Path

import llm_envs
from llm_envs.registry import normalise_id
from llm_envs_bench.spec import start_digest
from llm_envs_bench.suites.suite import Suite, SuiteEntry, read_suite


def freeze(path: Path) -> Suite:
    """Rewrite a suite's file with the digests of what its environments make now.

    Raises:
        UsageError: the file holds no suite, or an environment or option that does not exist.
    """
    suite = frozen(read_suite(str(path)))
    path.write_text(suite.to_json(), encoding="utf-8")
    return suite


def frozen(suite: Suite) -> Suite:
    """The suite with the digests of what its environments make now."""
    entries = tuple(replace(entry, env=normalise_id(entry.env), starts=starts(entry)) for entry in suite.entries)
    unsealed = replace(suite, entries=entries, hash="")
    return replace(unsealed, hash=unsealed.content_hash)


def starts(entry: SuiteEntry) -> tuple[str, ...]:
    """The digest of each instance's first state."""
    env = llm_envs.make(entry.env, **entry.options)
    found = []
    for index in range(entry.first, entry.first + entry.instances):
        env.reset(options={"split": entry.split, "index": index})
        found.append(start_digest(str(env.state())))
    env.close()
    return tuple(found)
