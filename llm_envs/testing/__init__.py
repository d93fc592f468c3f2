"""The conformance kit: what every text environment holds, checked, with failures that say what to mend.

from llm_envs.testing import check_env
from my_package import my_env_v0

def test_my_env() -> None:
    check_env(my_env_v0.env, options={"size": 6})
"""

from llm_envs.testing.kit import CHECKS, ConformanceError, check_env
from llm_envs.testing.subject import NoisyOracle, Subject

__all__ = ["CHECKS", "ConformanceError", "NoisyOracle", "Subject", "check_env"]
