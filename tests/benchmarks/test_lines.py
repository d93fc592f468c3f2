"""Files of lines survive being cut anywhere, and end up in order."""

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from llm_envs_bench.lines import append_line, cut_torn_line, read_lines, sort_lines

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
RECORDS = st.lists(TEXT, min_size=1, max_size=12)


def record(number: int, text: str) -> str:
    return json.dumps({"id": f"e/{number}/0", "text": text}, ensure_ascii=False)


def write(path: Path, lines: list[str]) -> None:
    for line in lines:
        append_line(path, line)


@given(RECORDS, st.randoms())
def test_a_file_that_was_cut_anywhere_holds_its_whole_lines_and_can_be_gone_on_with(
    texts: list[str], rng: random.Random
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "lines.jsonl")
        lines = [record(number, text) for number, text in enumerate(texts)]
        write(path, lines)
        whole = path.read_bytes()
        path.write_bytes(whole[: rng.randrange(len(whole) + 1)])
        kept = path.read_bytes().count(b"\n")
        assert list(read_lines(path)) == [line + "\n" for line in lines[:kept]]
        cut_torn_line(path)
        assert path.read_bytes() == whole[: len(path.read_bytes())]
        write(path, lines[kept:])
        assert path.read_bytes() == whole


@given(RECORDS, st.randoms())
def test_lines_are_put_in_order_once_each_whatever_order_they_came_in(texts: list[str], rng: random.Random) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "lines.jsonl")
        lines = [record(number, text) for number, text in enumerate(texts)]
        order = {f"e/{number}/0": number for number in range(len(lines))}
        write(path, rng.sample(lines, len(lines)) + rng.choices(lines, k=3))
        sort_lines(path, order)
        assert path.read_bytes() == "".join(line + "\n" for line in lines).encode()
        before = path.read_bytes()
        sort_lines(path, order)
        assert path.read_bytes() == before


def test_a_file_that_is_not_there_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "none"
    cut_torn_line(path)
    sort_lines(path, {})
    assert list(read_lines(path)) == []
    assert not path.exists()
