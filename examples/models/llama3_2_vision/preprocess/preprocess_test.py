# SPDX-License-Identifier: BSD-3-Clause
"""Images become tiles as torchtune makes them; one program does it for all sizes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from executorch.examples.models.llama3_2_vision.preprocess.model import (
    CLIPImageTransformModel,
    PreprocessConfig,
)
from executorch.exir import to_edge
from executorch.extension.llm.modules.image_tiles import best_canvas, canvases, size_within
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

MEAN, STD = [0.48, 0.46, 0.41], [0.27, 0.26, 0.28]


@pytest.mark.parametrize(
    "options",
    [{}, {"image_mean": MEAN, "image_std": STD}, {"antialias": True}, {"resample": "bicubic"}],
    ids=str,
)
def test_one_program_cuts_images_of_all_sizes(options: dict[str, Any]) -> None:
    example = CLIPImageTransformModel(PreprocessConfig(tile_size=16, **options))
    model = example.get_eager_model().eval()
    inputs = torch.rand(3, 80, 60), *example.sizes_for((80, 60))
    exported = torch.export.export(model, inputs, dynamic_shapes=example.get_dynamic_shapes())
    run = _load_for_executorch_from_buffer(to_edge(exported).to_executorch().buffer)
    for height, width in ((80, 60), (20, 90), (33, 33), (10, 12)):
        image = torch.rand(3, height, width)
        target, canvas = example.sizes_for((height, width))
        down, across = canvas.tolist()
        mode = options.get("resample", "bilinear")
        resized = functional.interpolate(
            image[None], target.tolist(), mode=mode, antialias=options.get("antialias", False)
        )[0]
        whole = torch.zeros(3, down, across)
        whole[:, : target[0], : target[1]] = resized
        if "image_mean" in options:
            whole = (whole - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None]
        tiles = [
            whole[:, y : y + 16, x : x + 16]
            for y in range(0, down, 16)
            for x in range(0, across, 16)
        ]
        for found in (model(image, target, canvas), run.forward((image, target, canvas))):
            torch.testing.assert_close(found[0], torch.stack(tiles), rtol=1e-4, atol=1e-5)
            assert found[1].tolist() == [down // 16, across // 16]


def test_the_examples_sizes_are_those_of_release_1_4_1() -> None:
    image, target, canvas = CLIPImageTransformModel(PreprocessConfig()).get_example_inputs()
    assert image.shape == (3, 800, 600)
    assert target.tolist() == [448, 336] and canvas.tolist() == [448, 448]


def test_an_image_gets_the_canvas_that_suits_it() -> None:
    choices = canvases(4, 224)
    assert len(choices) == 8 and (224, 896) in choices and (448, 448) in choices
    # enlarged least: 1.12 on one tile; shrunk least: to 0.56 on four
    assert best_canvas((200, 200), choices) == (224, 224)
    assert best_canvas((800, 600), choices) == (448, 448)
    assert best_canvas((100, 400), choices) == (224, 448)
    assert best_canvas((100, 400), choices, largest=True) == (224, 896)
    assert size_within((100, 400), (224, 448), 224) == (100, 400)  # not enlarged beyond a tile
    assert size_within((100, 400), (224, 896)) == (224, 896)
    assert size_within((800, 600), (448, 448)) == (448, 336)
    with pytest.raises(ValueError, match="bilinear or bicubic, found 'nearest'"):
        CLIPImageTransformModel(PreprocessConfig(resample="nearest")).get_eager_model()
