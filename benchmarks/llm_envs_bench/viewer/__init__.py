"""One self-contained HTML page that replays episodes turn by turn."""

from llm_envs_bench.viewer.page import EPISODES, build_page, write_page

__all__ = ["EPISODES", "build_page", "write_page"]
