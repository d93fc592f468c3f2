"""Suites: frozen lists of what is played, so that numbers of different agents and days mean the same."""

from llm_envs_bench.suites.suite import Suite, SuiteEntry, load_suite, plan_suite, suite_names

__all__ = ["Suite", "SuiteEntry", "load_suite", "plan_suite", "suite_names"]
