"""Pairs with the verdict of a careful person and the judge's: gold answer, answer, person, judge, a tab between."""

from pathlib import Path
from typing import NamedTuple

from llm_envs.math.judging import Verdict


class Pair(NamedTuple):
    gold: str
    answer: str
    person: Verdict
    judge: Verdict


def pairs() -> list[Pair]:
    lines = Path(__file__).with_name("careful_pairs.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    return [Pair(gold, answer, Verdict(person), Verdict(verdict)) for gold, answer, person, verdict in rows]
