# SPDX-License-Identifier: BSD-3-Clause
"""A model between the steps of a Processing, and what exporting it needs: an example picture, and sizes that it may
have."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim
from torch.utils import _pytree as pytree

from executorch.extension.processing import modules
from executorch.extension.processing.carried import Carried
from executorch.extension.processing.steps import (
    FLOATS,
    LARGEST,
    PICTURE,
    SCORES,
    TIMES,
    Processing,
    read,
)

Limits = tuple[int, int]
MAX_PIXELS = 1 << 27  # 1.5 GiB of floats: memory is planned for the largest picture


class Before(nn.Module):
    """A picture -> a model's input, of the model's dtype."""

    def __init__(self, processing: Processing, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype
        steps: list[nn.Module] = []
        kind = PICTURE
        for call in processing.calls("--preprocess"):
            if kind == PICTURE and call.step.gives:
                steps.append(modules.Pixels())
            kind = call.step.gives or kind
            if call.step.module:
                steps.append(getattr(modules, call.step.module)(*call.arguments))
        steps += [modules.Pixels()] if kind == PICTURE else []
        steps += [modules.Unit()] if kind != FLOATS else []
        self.steps = nn.ModuleList(steps)

    def forward(self, picture: Tensor) -> Tensor:
        value = picture
        for step in self.steps:
            value = step(value)
        return value.to(self.dtype)

    @property
    def has_sizes(self) -> bool:
        """Whether the steps say what size comes out."""
        return any(isinstance(each, modules.Resize | modules.Crop) for each in self.steps)

    def largest(self, limits: tuple[Limits, ...]) -> tuple[int, int]:
        """Of the pixels between steps, as memory is planned: each side by itself."""
        (low, high), (narrow, wide) = limits
        sizes = [(high, wide)]
        for step in self.steps:
            if isinstance(step, modules.Crop):
                break
            if isinstance(step, modules.Resize) and step.width is not None:
                low, high, narrow, wide = *[step.height] * 2, *[step.width] * 2
            elif isinstance(step, modules.Resize):
                high, wide = (step.height * side // min(low, narrow) for side in (high, wide))
                low = narrow = step.height
            sizes.append((high, wide))
        return max(sizes, key=math.prod)

    def sizes(self, height: int, width: int) -> list[int]:
        """What comes of a picture. ValueError for one that is too small to be cropped."""
        with FakeTensorMode(allow_non_fake_inputs=True):
            return self._sizes(torch.zeros(height, width, 3, dtype=torch.uint8))

    def _sizes(self, value: Tensor) -> list[int]:
        height, width = value.shape[:2]
        for step in self.steps:
            if isinstance(step, modules.Crop):
                found = tuple(value.shape[2:])
                if any(size < wanted for size, wanted in zip(found, step.sizes)):
                    raise ValueError(
                        f"--preprocess: expected {_text(step.sizes)} pixels or more to crop, found {_text(found)} of a "
                        f"picture of {_text((height, width))}: resize before, or larger sizes by picture"
                    )
            value = step(value)
        return list(value.shape)


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
            image = _image(inputs, keywords)
            before = Before(processing, image.dtype)
            limits = _limits(processing, before, image)
            _check(before, limits, image, dynamic_shapes)
            shapes, name = _shapes(limits), next(iter(keywords), "")
            made = cls(model, before, after, (_example(limits),), {}, shapes, limits, name)
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


def _image(inputs: tuple[Any, ...], keywords: Mapping[str, Any]) -> Tensor:
    leaves = [*inputs, *keywords.values()]
    image = leaves[0] if len(leaves) == 1 else None
    is_floats = isinstance(image, Tensor) and image.is_floating_point()
    if is_floats and image.dim() == 4 and image.shape[:2] == (1, 3):
        return image
    found = ", ".join(
        f"{each.dtype}{list(each.shape)}".removeprefix("torch.")
        if isinstance(each, Tensor)
        else repr(each)
        for each in leaves
    )
    raise ValueError(
        f"--preprocess: expected a model of one input, floats [1, 3, height, width], found {found or 'none'}"
    )


def _limits(processing: Processing, before: Before, image: Tensor) -> tuple[Limits, ...]:
    for call in processing.calls("--preprocess"):
        if call.step.name == "picture":
            return call.arguments
    height, width = image.shape[2:]
    if not before.has_sizes:
        return (height, height), (width, width)
    least, most = max(2, min(height, width)), max(LARGEST, TIMES * max(height, width))
    return (least, most), (least, most)


def _check(before: Before, limits: tuple[Limits, ...], image: Tensor, dynamic_shapes: Any) -> None:
    """Of the smallest pictures: all sizes that come out are those of the model's example, unless it takes others."""
    pixels = before.largest(limits)
    if math.prod(pixels) > MAX_PIXELS:
        raise ValueError(
            f"--preprocess: expected {MAX_PIXELS:,} pixels at most between steps, found {_text(pixels)} of the largest "
            "pictures: give closer limits by picture, or both sides of resize"
        )
    (low, high), (narrow, wide) = limits
    for height, width in sorted({(low, narrow), (low, wide), (high, narrow)}):
        found = before.sizes(height, width)
        if found != list(image.shape) and not _vary(dynamic_shapes):
            raise ValueError(
                f"--preprocess: expected {list(image.shape)}, as the model's example input is, found {found} of a "
                f"picture of {_text((height, width))}"
            )


def _vary(dynamic_shapes: Any) -> bool:
    static = (None, Dim.STATIC)
    leaves = pytree.tree_leaves(dynamic_shapes)
    return any(each not in static and not isinstance(each, int) for each in leaves)


def _example(limits: tuple[Limits, ...]) -> Tensor:
    """Sizes between the limits, no two the same, since a trace takes equal sizes for one."""
    sizes = [low + (high - low) // part for (low, high), part in zip(limits, (8, 5))]
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (*sizes, 3), dtype=torch.uint8, generator=generator)


def _shapes(limits: tuple[Limits, ...]) -> Any:
    dims = {
        place: Dim(name, min=low, max=high)
        for place, (name, (low, high)) in enumerate(zip(("height", "width"), limits))
        if low < high
    }
    return (dims,) if dims else None


def _text(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))
