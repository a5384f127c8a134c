# SPDX-License-Identifier: BSD-3-Clause
"""Steps behind a model, on `scores`, or `boxes` and `scores`."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.utils import _pytree as pytree

from executorch.extension.processing import modules
from executorch.extension.processing.steps import SCORES, Processing, read


class After(nn.Module):
    """What a model gives -> `scores`, and what the steps make of them."""

    def __init__(self, processing: Processing) -> None:
        super().__init__()
        calls, self.kinds = read("--postprocess", processing.postprocess)
        self.steps = nn.ModuleList(
            getattr(modules, call.step.module)(*call.arguments) for call in calls
        )

    def forward(self, outputs: Any) -> modules.Outputs:
        found = self.scored(outputs)
        return self.steps[-1](found) if self.chooses else found

    @property
    def chooses(self) -> bool:
        """Whether the last step leaves classes or boxes out; nothing may follow one that does."""
        return isinstance(self.steps[-1], modules.Top | modules.Nms)

    def scored(self, outputs: Any) -> modules.Outputs:
        """Before that step."""
        found = self.named(outputs)
        for step in self.steps[: len(self.steps) - self.chooses]:
            found = step(found)
        return found

    def named(self, outputs: Any) -> modules.Outputs:
        if isinstance(outputs, dict) and "boxes" in outputs and "scores" in outputs:
            return {"boxes": outputs["boxes"], "scores": outputs["scores"]}
        leaves = pytree.tree_leaves(outputs)
        return dict(zip(("scores",) if len(leaves) == 1 else ("boxes", "scores"), leaves))

    def checked(self, outputs: Any) -> int:
        """How many classes there are. ValueError for outputs that the steps do not take."""
        count = len(pytree.tree_leaves(outputs))
        if count not in (1, 2) or not all(
            isinstance(e, Tensor) for e in pytree.tree_leaves(outputs)
        ):
            raise ValueError(
                f"--postprocess: expected a model with one output, or boxes and scores, found {count}"
            )
        if count == 1:
            if SCORES not in self.kinds:
                raise ValueError(
                    "--postprocess: nms: expected a model with the outputs boxes and scores, found one"
                )
            classes = self.named(outputs)["scores"].shape[-1]
            most = [step.count for step in self.steps if isinstance(step, modules.Top)]
            if most and most[0] > classes:
                raise ValueError(
                    f"--postprocess: top {most[0]}: expected {classes} at most, as the model has classes"
                )
            return classes
        if self.kinds == {SCORES}:
            raise ValueError(
                "--postprocess: expected a model with one output, found boxes and scores"
            )
        found = self.named(outputs)
        boxes, scores = found["boxes"], found["scores"]
        rows = boxes.numel() // 4
        if (
            boxes.shape[-1] != 4
            or boxes.shape[:-1].numel() != boxes.shape[-2]
            or scores.numel() % rows
        ):
            raise ValueError(
                f"--postprocess: expected boxes [1, n, 4] and scores [1, n, classes], found {list(boxes.shape)} and "
                f"{list(scores.shape)}"
            )
        return scores.numel() // rows
