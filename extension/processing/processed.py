# SPDX-License-Identifier: BSD-3-Clause
"""A model between the steps of a Processing, and a call of the whole."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from executorch.extension.processing import modules
from executorch.extension.processing.after import After
from executorch.extension.processing.before import (
    Before,
    Limits,
    check,
    example,
    image_of,
    limits_of,
    shapes_of,
)
from executorch.extension.processing.carried import Carried
from executorch.extension.processing.steps import Processing


class OfPicture(nn.Module):
    """`name`: of the model's input, where it goes by keyword."""

    def __init__(self, before: Before, model: nn.Module, after: After | None, name: str) -> None:
        super().__init__()
        self.before, self.model, self.after, self.name = before, model, after, name

    def forward(self, picture: Tensor) -> Any:
        outputs = self.raw(picture)
        return outputs if self.after is None else self.after(outputs)

    def raw(self, picture: Tensor) -> Any:
        """What the model itself gives."""
        image = self.before(picture)
        return self.model(**{self.name: image}) if self.name else self.model(image)


class OfInputs(nn.Module):
    def __init__(self, model: nn.Module, after: After) -> None:
        super().__init__()
        self.model, self.after = model, after

    def forward(self, *inputs: Any, **keywords: Any) -> modules.Outputs:
        return self.after(self.raw(*inputs, **keywords))

    def raw(self, *inputs: Any, **keywords: Any) -> Any:
        return self.model(*inputs, **keywords)

    @classmethod
    def named(cls, model: nn.Module, after: After) -> OfInputs:
        """With the model's names of its inputs, which torch.export reads from the class."""

        def forward(self: OfInputs, *inputs: Any, **keywords: Any) -> modules.Outputs:
            return cls.forward(self, *inputs, **keywords)

        forward.__signature__ = inspect.signature(type(model).forward)  # type: ignore[attr-defined]
        return type(cls.__name__, (cls,), {"forward": forward})(model, after)


@dataclass(frozen=True)
class Processed:
    """A model, its steps, and a call of the whole, as torch.export takes it. `limits`: of a picture's height and width;
    `name`: of the model's input, where it goes by keyword."""

    model: nn.Module
    before: Before | None
    after: After | None
    inputs: tuple[Any, ...]
    keywords: Mapping[str, Any]
    dynamic_shapes: Any
    limits: tuple[Limits, ...] = ()
    name: str = ""
    carried: Carried = Carried()

    @classmethod
    def of(
        cls,
        processing: Processing,
        model: nn.Module,
        inputs: tuple[Any, ...],
        keywords: Mapping[str, Any] | None = None,
        dynamic_shapes: Any = None,
    ) -> Processed:
        """`inputs` and what follows: of the model alone. ValueError for a model that the steps do not fit."""
        keywords = dict(keywords or {})
        after = After(processing) if processing.postprocess else None
        if processing.preprocess:
            image = image_of(inputs, keywords)
            before = Before(processing, image.dtype)
            limits = limits_of(processing, before, image)
            check(before, limits, image, dynamic_shapes)
            shapes, name = shapes_of(limits), next(iter(keywords), "")
            made = cls(model, before, after, (example(limits),), {}, shapes, limits, name)
        else:
            made = cls(model, None, after, inputs, keywords, dynamic_shapes)
        classes = made._checked_classes(processing.labels)
        texts = (processing.preprocess, processing.postprocess, processing.channels)
        return replace(made, carried=Carried(*texts, classes if made.has_top else 0))

    @property
    def module(self) -> nn.Module:
        return self.around(self.model)

    @property
    def has_top(self) -> bool:
        return self.after is not None and any(isinstance(e, modules.Top) for e in self.after.steps)

    def around(self, model: nn.Module) -> nn.Module:
        """Another form of the model between the same steps."""
        if self.before is not None:
            return OfPicture(self.before, model, self.after, self.name)
        return model if self.after is None else OfInputs.named(model, self.after)

    def compared(self, outputs: Mapping[str, Any]) -> tuple[list[Any], list[Any]] | None:
        """Of a program's outputs for the example by name: those that the model's can be held against, and these. None:
        all. Which of two equal scores comes first is no difference, so classes are compared by the model's scores."""
        if self.after is None or not self.after.chooses:
            return None
        with torch.no_grad():
            raw = self.module.raw(*self.inputs, **self.keywords)
            scores = self.after(raw)["scores"]
            if not self.has_top:
                return [outputs["scores"]], [scores]
            rows = self.after.scored(raw)["scores"]
            classes = outputs["classes"].clamp(0, rows.shape[-1] - 1)
            return [outputs["scores"]] * 2, [scores, rows.gather(-1, classes)]

    def _checked_classes(self, labels: tuple[str, ...]) -> int:
        if self.after is None:
            return 0
        with torch.no_grad():
            classes = self.after.checked(self.module.raw(*self.inputs, **self.keywords))
        if labels and len(labels) != classes:
            raise ValueError(
                f"--labels: expected {classes}, as the model has classes, found {len(labels)}"
            )
        return classes
