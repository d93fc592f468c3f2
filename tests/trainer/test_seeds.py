"""Seeds and instances of a run."""

from at_grpo.seeds import derive_seed, instance_indices


def test_seeds_differ_by_every_part_and_repeat() -> None:
    parts = [(0, 1, "a"), (0, 1, "b"), (0, 2, "a"), (1, 1, "a"), (0, "1a"), ("01", "a")]
    seeds = [derive_seed(*part) for part in parts]
    assert len(set(seeds)) == len(parts)
    assert seeds == [derive_seed(*part) for part in parts]
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_no_instance_is_met_twice_in_a_run() -> None:
    """UC-124."""
    indices = [index for step in range(1000) for index in instance_indices(0, step, 8)]
    assert len(set(indices)) == len(indices)
    assert min(indices) >= 0


def test_runs_with_other_seeds_meet_other_instances() -> None:
    """UC-011: run seed 1 does not replay run seed 0's tasks shifted by one."""
    runs = [{index for step in range(1000) for index in instance_indices(seed, step, 8)} for seed in range(3)]
    assert not runs[0] & runs[1]
    assert not runs[1] & runs[2]
    assert not runs[0] & runs[2]
