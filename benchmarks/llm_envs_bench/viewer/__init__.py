"""One self-contained HTML page that replays episodes turn by turn."""

from llm_envs_bench.viewer.page import build_page, write_page

__all__ = ["build_page", "write_page"]
