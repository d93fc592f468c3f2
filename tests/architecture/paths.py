"""The files that make up the project."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "llm_envs": ROOT / "llm_envs",
    "at_grpo": ROOT / "trainer" / "at_grpo",
    "llm_envs_bench": ROOT / "benchmarks" / "llm_envs_bench",
}
TEXT_SUFFIXES = {".py", ".md", ".toml", ".yaml", ".yml", ".cff", ".jinja", ".json", ".jsonl", ".html", ".txt", ""}


def python_files() -> Iterator[Path]:
    """Every Python file of the packages, the benchmarks and the tests."""
    for folder in ("llm_envs", "trainer", "benchmarks", "tests"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def text_files() -> Iterator[Path]:
    """Every text file of the project, those at the root and the hidden ones of its tools included."""
    for folder in ("llm_envs", "trainer", "benchmarks", "tests", "docs", ".ci"):
        yield from (p for p in sorted((ROOT / folder).rglob("*")) if p.is_file() and p.suffix in TEXT_SUFFIXES)
    yield from (p for p in sorted(ROOT.iterdir()) if p.is_file() and p.suffix in TEXT_SUFFIXES)


def game_shims() -> list[str]:
    """Names of the environment modules, e.g. `plan_path_v0`."""
    return sorted(path.stem for path in PACKAGES["llm_envs"].glob("*_v[0-9]*.py"))
