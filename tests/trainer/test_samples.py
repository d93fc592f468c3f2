"""What becomes of samples on their way to the loss: which tokens count, and which are padding."""

from hypothesis import given
from hypothesis import strategies as st

from at_grpo.samples import MicroBatch
from tests.trainer.samples import sample

STOP = 3
BODIES = st.lists(st.integers(4, 30), max_size=6)
PROMPTS = st.lists(st.integers(0, 30), min_size=1, max_size=6)


def batch(rows: list[tuple[list[int], list[int]]]) -> MicroBatch:
    """A row for each (prompt, reply without its stop token)."""
    samples = [
        sample(
            0.0,
            number,
            prompt_ids=tuple(prompt),
            completion_ids=(*body, STOP),
            logprobs=(-0.5,) * (len(body) + 1),
            advantage=1.0,
        )
        for number, (prompt, body) in enumerate(rows)
    ]
    return MicroBatch("planner", "planner", tuple(samples))


@given(st.lists(st.tuples(PROMPTS, BODIES), min_size=1, max_size=4))
def test_the_stop_token_is_trained_on_also_where_it_is_the_padding_id(rows: list[tuple[list[int], list[int]]]) -> None:
    """UC-131: with pad == eos what counts is where a token stands and not which one it is."""
    micro_batch = batch(rows)
    alike, apart = micro_batch.tensors(pad_id=STOP), micro_batch.tensors(pad_id=0)
    for name in ("prompt_mask", "completion_mask", "advantages", "sampling_per_token_logps"):
        assert alike[name].equal(apart[name])
    assert alike["completion_mask"].sum() == micro_batch.tokens == sum(len(body) + 1 for _, body in rows)
    assert (alike["completion_ids"] != STOP).sum() < micro_batch.tokens, "negative control: a mask made from the ids"
    assert (alike["sampling_per_token_logps"] == -0.5).sum() == micro_batch.tokens
