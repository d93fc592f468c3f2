"""The library versions that the trainer is tested with.

It overrides methods of TRL's and transformers' trainers, which change between minor versions.
"""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from packaging.specifiers import SpecifierSet

from llm_envs.core.errors import UsageError

TESTED = {
    "torch": ">=2.13,<2.14",
    "transformers": ">=5.17,<5.18",
    "trl": ">=1.16,<1.17",
    "peft": ">=0.21,<0.22",
    "accelerate": ">=1.15,<1.16",
    "datasets": ">=5.2,<6",
}
FIX = "pip install 'llm-envs[train]' installs versions that work together"


def check_versions() -> None:
    """Raise `UsageError`, with one line for each library, where one is missing or outside the tested range."""
    problems = [found for name, tested in TESTED.items() if (found := problem(name, tested))]
    if problems:
        raise UsageError("\n".join([*problems, f"{FIX}."]))


def problem(name: str, tested: str) -> str | None:
    """What is wrong with the installed version of a library; None if nothing."""
    try:
        installed = version(name)
    except PackageNotFoundError:
        return f"{name}: is not installed; the trainer needs {name}{tested}."
    if SpecifierSet(tested).contains(installed, prereleases=True):
        return None
    return f"{name}={installed}: must be {tested}, the versions that the trainer is tested with."


def check_trackers(names: Iterable[str]) -> None:
    """Raise `UsageError` for a tracker of `run.report_to` whose library is not there."""
    from transformers.integrations.integration_utils import get_available_reporting_integrations

    absent = sorted(set(names) - set(get_available_reporting_integrations()))
    if absent:
        raise UsageError(f"run.report_to={absent}: not installed; install the tracker's library, or leave it out.")
