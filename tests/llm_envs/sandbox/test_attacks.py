"""Every cage holds what it says that it holds."""

from dataclasses import replace

import pytest

from llm_envs.sandbox import docker, locked, native, unsafe
from llm_envs.sandbox.base import Program, Sandbox, Status
from llm_envs.sandbox.locked import LockedSandbox
from tests.llm_envs.sandbox.attack import PRELUDE, Attack
from tests.llm_envs.sandbox.attacks import ATTACKS
from tests.llm_envs.sandbox.conftest import MARKS
from tests.llm_envs.sandbox.target import Target
from tests.scale import scaled

CLAIMS = {
    "docker": docker.GUARANTEES,
    "native": native.GUARANTEES,
    "locked": locked.GUARANTEES,
    "unsafe": unsafe.GUARANTEES,
}
CASES = [
    pytest.param(cage, attack, id=f"{cage}-{attack.name}", marks=MARKS.get(cage, ()))
    for cage, claimed in CLAIMS.items()
    for attack in ATTACKS
    if not attack.guarantee or attack.guarantee in claimed
]


@pytest.mark.parametrize(("cage", "attack"), CASES)
def test_a_cage_holds_its_guarantees_against_each_attack(
    cage: str, attack: Attack, aim: Target, request: pytest.FixtureRequest
) -> None:
    """UC-082, UC-095, UC-097, UC-101: what must be held follows from the cage's own list, not from its name."""
    sandbox: Sandbox = request.getfixturevalue(cage)
    (outcome,) = sandbox.run([attack.program(aim)])
    assert attack.held(outcome), outcome


@pytest.mark.needs("landlock")
@pytest.mark.parametrize("newest_abi", scaled(fast=[1], long=[1, 2, 3, 4, 5]))
def test_older_kernels_hold_the_same(newest_abi: int, aim: Target) -> None:
    """ABI 1: files only; before 6 nothing scopes signals. The system-call filter and the uid must make up for it."""
    with_uid = LockedSandbox(slots=2, newest_abi=newest_abi)
    try:
        for attack, outcome in zip(ATTACKS, with_uid.run([attack.program(aim) for attack in ATTACKS]), strict=True):
            assert attack.held(outcome), (attack.name, outcome)
    finally:
        with_uid.close()


def test_the_suite_sees_a_breach_where_there_is_no_cage(unsafe: Sandbox, aim: Target) -> None:
    """Negative control: the same programs get through where nothing holds them (the harmless ones)."""
    harmless = {
        "read a file of everybody's", "read the system's secrets", "list folders", "read the checkout",
        "connect to this machine", "send a datagram", "connect to a socket with a path",
        "point a connected pair elsewhere", "leave memory to the next program", "change a file without opening it",
    }  # fmt: skip
    attacks = [attack for attack in ATTACKS if attack.name in harmless]
    assert len(attacks) == len(harmless)
    for attack, outcome in zip(attacks, unsafe.run([attack.program(aim) for attack in attacks]), strict=True):
        assert not attack.held(outcome), (attack.name, outcome)


def test_an_attack_that_did_not_happen_proves_nothing(locked: Sandbox, aim: Target) -> None:
    """Negative control of `held`: a program that dies before its attempt is not a success of the cage."""
    (outcome,) = locked.run([Program(f"{PRELUDE}raise SystemExit(1)")])
    assert outcome.status is Status.ERROR
    assert not any(replace(attack, stopped=frozenset()).held(outcome) for attack in ATTACKS)
