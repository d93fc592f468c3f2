"""Which weights sampled what a run was trained on: its journals' log-probabilities beside its checkpoints' own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from peft import PeftModel

from at_grpo.inference.base_model import load_base
from at_grpo.journal_lines import from_json
from at_grpo.samples import Sample
from tests.trainer.end_to_end.settings import ROLES
from tests.trainer.end_to_end.watched import KEPT
from tests.trainer.inference.vllm_fixtures import gap, scores


def rows(run: Path, steps: int) -> Iterator[tuple[int, Sample]]:
    """Each row of a watched run's journals as they were committed, and the iteration that it was trained in."""
    for step in range(steps):
        for line in (run / KEPT / f"v{step}.jsonl").read_text().splitlines()[1:]:
            yield from ((step, row) for group in from_json(line).groups for row in group.samples)


class Checkpoints:
    """The policies of every version of a run that has saved each step."""

    def __init__(self, base: Path, run: Path) -> None:
        self._base, self._run = base, run
        self._models: dict[int, PeftModel] = {}

    def gap(self, row: Sample, version: int) -> float:
        """Largest difference in nat between the sampler's log-probabilities and those of a version."""
        return gap(row.logprobs, scores(self._model(version), row.policy, row.prompt_ids, row.completion_ids))

    def _model(self, version: int) -> PeftModel:
        if version not in self._models:
            first, *others = ROLES
            checkpoint = self._run / f"checkpoint-{version}"
            model: Any = load_base(str(self._base), "float32")[0]
            model = PeftModel.from_pretrained(model, checkpoint / first, adapter_name=first)
            for role in others:
                model.load_adapter(checkpoint / role, adapter_name=role)
            self._models[version] = model
        return self._models[version]


def check(base: Path, run: Path, steps: int, staleness: int, noise: float) -> None:
    """Every row is of the version that it carries, at most so old; and some are of an older one than they are trained
    at, whose log-probabilities the present one's do not fit (the negative control).
    """
    checkpoints, lags, misfits = Checkpoints(base, run), set(), []
    for step, row in rows(run, steps):
        lags.add(step - row.version)
        assert checkpoints.gap(row, row.version) < noise, f"step {step}, version {row.version}"
        if row.version < step:
            misfits.append(checkpoints.gap(row, step))
    assert lags <= set(range(staleness + 1))
    assert max(lags) > 0
    assert max(misfits) > 10 * noise
