"""The weights of policies that are trained in this process; those of others are behind `updates.remote`."""

import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import PreTrainedModel

from at_grpo.inference.publishing import save_adapter
from at_grpo.policies import policies_of


class LocalWeights:
    """`PolicyWeights` on a model of this process."""

    def __init__(self, model: PeftModel | PreTrainedModel, names: Iterable[str] = ()) -> None:
        """Args:
        model: holds the policies (`policies.build_policies`); left as it was found.
        names: of the policy, where the model is one whose weights are all trained.
        """
        self._model: Any = model
        self._policies = policies_of(model, names)

    @property
    def policies(self) -> tuple[str, ...]:
        """See `PolicyWeights`."""
        return self._policies.names

    def save(self, policy: str, folder: Path) -> None:
        """See `PolicyWeights`."""
        if isinstance(self._model, PeftModel):
            save_adapter(self._model, policy, folder)
        else:
            save_model(self._model, folder)

    def scores(self, policy: str | None, prompt_ids: Sequence[int], token_ids: Sequence[int]) -> list[float]:
        """See `PolicyWeights`."""
        ids = torch.tensor([[*prompt_ids, *token_ids]], device=self._model.device)
        with ExitStack() as stack:
            stack.enter_context(self._policies.generating(policy or self.policies[0]))
            if policy is None:
                stack.enter_context(self._policies.start())
            logits_1_T_V = self._model(input_ids=ids).logits
        logps_T_V = torch.log_softmax(logits_1_T_V[0, len(prompt_ids) - 1 : -1].float(), dim=-1)
        targets_T_1 = torch.tensor(token_ids, device=logps_T_V.device)[:, None]
        scores: list[float] = logps_T_V.gather(1, targets_T_1)[:, 0].tolist()
        return scores


def save_model(model: PreTrainedModel, folder: Path) -> None:
    """All weights of a model as transformers and vLLM load them; the folder is there when it is whole."""
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    model.save_pretrained(partial)
    partial.rename(folder)
