"""Judging with and without math-verify."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from llm_envs.math.judging import close_workers, third_tier


@pytest.fixture
def math_verify() -> Iterator[None]:
    """Worker processes can be had, and none is left behind."""
    if find_spec("math_verify") is None:
        pytest.skip("math-verify is not installed: pip install 'llm-envs[math]'")
    yield
    close_workers()


@pytest.fixture
def no_math_verify(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without the extra `math`: the first two tiers judge alone."""
    monkeypatch.setattr(third_tier, "find_spec", lambda name: None)
