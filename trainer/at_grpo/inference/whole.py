"""Publication of a policy whose weights are all trained: its servers are started again on the new ones.

A start takes half a minute or more, so this is for models that no adapter suits; `AdapterPublisher` takes a fraction of
a second. What it shares with that one: a version has a name of its own, which every answer echoes, and the files are
whole before a server reads them. A server that started anew has no cache of older weights.
"""

import shutil
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path

from at_grpo.inference.base import PolicyWeights
from at_grpo.inference.plan import served_name
from at_grpo.inference.server import Server


class WholePublisher:
    """Writes a model to files and has servers that the run has started serve it.

    Attributes:
        published: the version that is served now, None before the first.
        run: part of the names.
    """

    def __init__(
        self,
        weights: PolicyWeights,
        servers: Sequence[Server],
        folder: Path,
        versions: MutableMapping[str, int],
        run: str = "",
    ) -> None:
        """Publish nothing yet.

        Args:
            weights: one policy.
            servers: every server that samples for it; they serve its version 0, the base model.
            folder: for the files.
            versions: policy -> version that requests go to; changed when all servers have the new one. Policies that
                others publish may be in it, too.
            run: part of the names, see `plan.served_name`.
        """
        (self._policy,) = weights.policies
        self._weights, self._servers, self._folder, self._versions = weights, tuple(servers), folder, versions
        self._serving = served_name(self._policy, 0, run)
        self.run = run
        self.published: int | None = None
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier process
        folder.mkdir(parents=True)

    @property
    def policies(self) -> tuple[str, ...]:
        """The policy that is published."""
        return (self._policy,)

    def name(self, policy: str) -> str:
        """What servers call the policy's present version."""
        return served_name(policy, self._versions[policy], self.run)

    def publish(self, version: int) -> Mapping[str, float]:
        """See `Publication`. Requests that come meanwhile wait; there must be none on their way."""
        name = served_name(self._policy, version, self.run)
        if name != self._serving:
            self._weights.save(self._policy, self._folder / name)
            for server in self._servers:
                server.replace(replace(server.plan, model=str(self._folder / name), name=name))
            for server in self._servers:
                server.wait_replaced()
            self._serving = name
            self._discard(keep=name)
        self._versions[self._policy] = version
        self.published = version
        return {}

    def retire(self) -> None:
        """The servers end with the run."""

    def _discard(self, keep: str) -> None:
        """Older versions: a server that dies is started on the present one."""
        for path in self._folder.iterdir():
            if path.name != keep:
                shutil.rmtree(path)
