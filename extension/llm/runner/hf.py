# SPDX-License-Identifier: BSD-3-Clause
"""Inputs as transformers' processors make them: ids with places for an image, and the image."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from executorch.extension.llm.runner._llm_runner import (
    GenerationConfig,
    MultimodalInput,
    MultimodalRunner,
    Stats,
    make_token_input,
)
from executorch.extension.llm.runner.inputs import make_image_input

if TYPE_CHECKING:
    from transformers.feature_extraction_utils import BatchFeature


def _ids(inputs: BatchFeature) -> list[int]:
    ids = inputs.get("input_ids")
    import torch  # late: who runs a program does not wait for it

    if not isinstance(ids, torch.Tensor) or ids.dim() not in (1, 2) or ids.shape[:-1].numel() != 1:
        found = tuple(ids.shape) if isinstance(ids, torch.Tensor) else type(ids).__name__
        raise RuntimeError(f"input_ids: expected a tensor (L,) or (1, L), found {found}")
    return ids.flatten().tolist()


def as_inputs(
    inputs: BatchFeature | list[MultimodalInput], image_token_id: int | None = None
) -> list[MultimodalInput]:
    """Tokens, image, tokens of a BatchFeature, where the image stands for one run of `image_token_id`."""
    if isinstance(inputs, list):
        if not all(isinstance(item, MultimodalInput) for item in inputs):
            raise RuntimeError("expected a BatchFeature or a list of MultimodalInput")
        return inputs
    if not hasattr(inputs, "get"):
        raise RuntimeError(
            f"expected a BatchFeature or a list of MultimodalInput, found {type(inputs).__name__}"
        )
    ids = _ids(inputs)
    pixels = inputs.get("pixel_values")
    if pixels is None:
        return [make_token_input(ids)]
    if image_token_id is None:
        raise RuntimeError("pixel_values are there: expected image_token_id, found None")
    count = ids.count(image_token_id)
    if count == 0:
        raise RuntimeError(f"expected the image's token {image_token_id} in input_ids, found none")
    start = ids.index(image_token_id)
    if ids[start : start + count] != [image_token_id] * count:
        raise RuntimeError(
            f"expected one run of the image's token {image_token_id} in input_ids, found several"
        )
    parts = [ids[:start], None, ids[start + count :]]
    return [
        make_image_input(pixels) if part is None else make_token_input(part)
        for part in parts
        if part is None or part
    ]


def generate_hf(
    runner: MultimodalRunner,
    inputs: BatchFeature | list[MultimodalInput],
    config: GenerationConfig,
    image_token_id: int | None = None,
    token_callback: Callable[[str], None] | None = None,
    stats_callback: Callable[[Stats], None] | None = None,
) -> None:
    """`runner.generate` of what a processor gives. RuntimeError for inputs that are neither ids alone nor ids with one
    image."""
    runner.generate(as_inputs(inputs, image_token_id), config, token_callback, stats_callback)


def generate_text_hf(
    runner: MultimodalRunner,
    inputs: BatchFeature | list[MultimodalInput],
    config: GenerationConfig,
    image_token_id: int | None = None,
) -> str:
    """As generate_hf(); the text."""
    return runner.generate_text(as_inputs(inputs, image_token_id), config)
