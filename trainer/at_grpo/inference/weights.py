"""The weights of policies that are trained in this process; those of others are behind `updates.remote`."""

from collections.abc import Sequence
from pathlib import Path

import torch
from peft import PeftModel

from at_grpo.inference.publishing import save_adapter
from at_grpo.policies import generating


class LocalWeights:
    """`PolicyWeights` on a PEFT model."""

    def __init__(self, model: PeftModel) -> None:
        """Args:
        model: one adapter a policy; left as it was found.
        """
        self._model = model

    @property
    def policies(self) -> tuple[str, ...]:
        """See `PolicyWeights`."""
        return tuple(self._model.peft_config)

    def save(self, policy: str, folder: Path) -> None:
        """See `PolicyWeights`."""
        save_adapter(self._model, policy, folder)

    def scores(self, policy: str | None, prompt_ids: Sequence[int], token_ids: Sequence[int]) -> list[float]:
        """See `PolicyWeights`."""
        ids = torch.tensor([[*prompt_ids, *token_ids]], device=self._model.device)
        with generating(self._model, policy or self.policies[0]):
            if policy is None:
                with self._model.disable_adapter():
                    logits_1_T_V = self._model(input_ids=ids).logits
            else:
                logits_1_T_V = self._model(input_ids=ids).logits
        logps_T_V = torch.log_softmax(logits_1_T_V[0, len(prompt_ids) - 1 : -1].float(), dim=-1)
        targets_T_1 = torch.tensor(token_ids, device=logps_T_V.device)[:, None]
        scores: list[float] = logps_T_V.gather(1, targets_T_1)[:, 0].tolist()
        return scores
