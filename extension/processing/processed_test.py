# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the steps beside arithmetic written out here, in PyTorch and from a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.export import ExportRecipe, QuantizationRecipe, export
from executorch.extension.processing import Processed, Processing
from executorch.extension.processing.before import Before
from executorch.extension.processing.carried import carried_by, labels_of
from executorch.extension.processing.modules import Nms, middle
from executorch.runtime import Runtime

IMAGENET = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])


def picture(height: int, width: int, seed: int = 0) -> torch.Tensor:
    drawn = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    return torch.from_numpy(drawn)


class Net(torch.nn.Module):
    """The mean of each channel, in three classes."""

    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(3, 3)
        self.head.weight.data = torch.tensor([[1.0, 2, -3], [0, 4, 1], [-2, 1, 5]])
        self.head.bias.data = torch.tensor([0.5, -1, 0])

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(image.mean((2, 3)))


IMAGE = torch.zeros(1, 3, 8, 8)


@pytest.mark.parametrize("spare", range(9))
def test_the_middle_is_torchvisions(spare: int) -> None:
    assert middle(spare) == int(round(spare / 2.0))


@pytest.mark.parametrize(("height", "width"), [(12, 17), (17, 12), (9, 9)])
def test_the_middle_is_cropped(height: int, width: int) -> None:
    given = picture(height, width)
    top, left = int(round((height - 8) / 2.0)), int(round((width - 8) / 2.0))
    wanted = given.numpy()[top : top + 8, left : left + 8].transpose(2, 0, 1) / 255.0
    found = Before(Processing("crop 8"))(given)
    np.testing.assert_allclose(found[0].numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize(("sizes", "wanted"), [((30, 41), (8, 10)), ((41, 30), (10, 8))])
def test_the_short_side_is_resized(
    sizes: tuple[int, int], wanted: tuple[int, int], antialias: bool
) -> None:
    """int(8 * 41 / 30) = 10, as torchvision's Resize has it."""
    given = picture(*sizes)
    floats = given.float().permute(2, 0, 1)[None]
    expected = functional.interpolate(floats, wanted, mode="bilinear", antialias=antialias) / 255
    found = Before(Processing("resize 8" + " antialias" * antialias))(given)
    torch.testing.assert_close(found, expected)
    assert antialias == (not torch.equal(found, Before(Processing("resize 8"))(given)))


def test_height_and_width_are_resized() -> None:
    assert Before(Processing("resize 5x9"))(picture(20, 20)).shape == (1, 3, 5, 9)


def test_channels_are_normalized_each_by_its_own() -> None:
    given = picture(4, 4)
    mean, deviation = IMAGENET
    wanted = ((given.numpy() / 255.0 - mean) / deviation).transpose(2, 0, 1)
    found = Before(Processing("normalize imagenet"))(given)[0].numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    one = Before(Processing("normalize 127/255 128/255"))(given)[0].numpy()
    np.testing.assert_allclose(
        one, (given.numpy().transpose(2, 0, 1) - 127.0) / 128, rtol=1e-5, atol=1e-6
    )


def test_blue_first_becomes_red_first() -> None:
    given = picture(4, 4)
    swapped = torch.from_numpy(given.numpy()[..., ::-1].copy())
    rgb, bgr = (
        Before(Processing("normalize imagenet")),
        Before(Processing("bgr, normalize imagenet")),
    )
    assert torch.equal(bgr(swapped), rgb(given)) and not torch.equal(bgr(given), rgb(given))


def test_a_model_of_halves_gets_halves() -> None:
    assert Before(Processing("crop 2"), torch.float16)(picture(4, 4)).dtype == torch.float16


# ---- Programs ----


def program(
    processing: Processing, model: torch.nn.Module, *inputs: torch.Tensor, **how: Any
) -> Any:
    return export(model, [inputs], processing=processing, **how)


def method(session: Any) -> Any:
    return Runtime.get().load_program(session.get_pte_buffer()).load_method("forward")


@pytest.mark.parametrize("strict", [False, True])
def test_a_program_takes_pictures_of_many_sizes(strict: bool) -> None:
    """And of the limits, beside the steps written out."""
    net = Net()
    steps = Processing(
        "picture 8..40, resize 10 antialias, crop 8, normalize imagenet", "softmax, top 2", "abc"
    )
    session = program(steps, net, IMAGE, export_recipe=ExportRecipe(strict=strict))
    forward = method(session)
    mean, deviation = torch.from_numpy(IMAGENET).float().view(2, 1, 3, 1, 1)
    for height, width in ((8, 8), (40, 40), (8, 40), (21, 13), (13, 21), (39, 40)):
        given = picture(height, width)
        short = min(height, width)
        sizes = (10 * height // short, 10 * width // short)
        floats = given.float().permute(2, 0, 1)[None]
        resized = functional.interpolate(floats, sizes, mode="bilinear", antialias=True)
        top, left = (int(round((size - 8) / 2.0)) for size in sizes)
        image = (resized[..., top : top + 8, left : left + 8] / 255 - mean) / deviation
        scores, classes = net(image).softmax(-1).sort(descending=True)
        found = forward.execute([given])
        torch.testing.assert_close(found.scores, scores[:, :2], rtol=1e-4, atol=1e-5)
        assert found.classes.tolist() == classes[:, :2].tolist()
    metadata = session.get_executorch_program().user_metadata
    assert labels_of(metadata) == ("a", "b", "c")
    carried = carried_by(metadata, "forward")
    assert (carried.channels, carried.classes) == ("RGB", 3)
    assert (carried.preprocess, carried.postprocess) == (steps.preprocess, steps.postprocess)


@pytest.mark.parametrize("strict", [False, True])
def test_pictures_of_many_sizes_are_cropped_alone(strict: bool) -> None:
    session = program(
        Processing("picture 8..40, crop 8"), Net(), IMAGE, export_recipe=ExportRecipe(strict=strict)
    )
    forward = method(session)
    for height, width in ((8, 9), (40, 39), (21, 22)):
        given = picture(height, width)
        top, left = int(round((height - 8) / 2.0)), int(round((width - 8) / 2.0))
        middle = given[top : top + 8, left : left + 8].permute(2, 0, 1)[None] / 255
        torch.testing.assert_close(forward.execute([given])[0], Net()(middle))


def test_limits_may_be_close() -> None:
    forward = method(program(Processing("picture 8..9, crop 8"), Net(), IMAGE))
    for height, width in ((8, 8), (9, 9), (9, 8)):
        assert forward.execute([picture(height, width)])[0].shape == (1, 3)


def test_without_steps_of_sizes_a_picture_is_the_models() -> None:
    made = Processed.of(Processing("normalize 0.5 0.5"), Net(), (IMAGE,))
    assert made.limits == ((8, 8), (8, 8)) and made.dynamic_shapes is None
    assert Processed.of(Processing("crop 8"), Net(), (IMAGE,)).limits == ((8, 1024), (8, 1024))


def test_a_model_whose_input_goes_by_keyword() -> None:
    made = Processed.of(Processing("crop 8"), Net(), (), {"image": IMAGE})
    assert torch.equal(made.module(*made.inputs), Net()(made.before(*made.inputs)))


@pytest.mark.parametrize("strict", [False, True])
def test_postprocessing_alone_leaves_the_inputs(strict: bool) -> None:
    image = torch.randn(2, 3, 8, 8)
    recipe = ExportRecipe(strict=strict)
    shapes = {"image": {0: torch.export.Dim("batch", min=1, max=4)}}
    steps = Processing("", "sigmoid")
    session = program(steps, Net(), image, export_recipe=recipe, dynamic_shapes=shapes)
    for batch in (image, image[:1], torch.cat([image, image])):
        (found,) = session.run_method("forward", (batch,))
        torch.testing.assert_close(found, Net()(batch).sigmoid())
    (plan,) = session.get_executorch_program().execution_plan
    assert (plan.input_names, plan.output_names) == (["image"], ["scores"])


def test_quantization_sees_the_model_alone() -> None:
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    recipe = ExportRecipe(quantization_recipe=QuantizationRecipe([quantizer]))
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 3)
    )
    steps = Processing("resize 8x8, normalize imagenet", "softmax")
    session = program(steps, model.eval(), torch.randn(1, 3, 8, 8), export_recipe=recipe)
    graph = session.get_exported_program().graph
    names = [str(node.target) for node in graph.nodes if node.op == "call_function"]
    rounded = [place for place, name in enumerate(names) if "quantize_per_tensor" in name]
    (first,) = (p for p, name in enumerate(names) if "upsample" in name or "interpolate" in name)
    (last,) = (p for p, name in enumerate(names) if "softmax" in name)
    assert first < names.index("aten.div.Tensor") < min(rounded) and max(rounded) < last
    (found,) = session.run_method()
    assert float(found.sum()) == pytest.approx(1, abs=1e-6)


REFUSED = {
    "a side that stays": (("resize 8", ""), [IMAGE], r"\[1, 3, 8, 8\], .* found \[1, 3, 8, 1024\] of a"),
    "sizes that are not the model's": (("crop 7", ""), [IMAGE], r"expected \[1, 3, 8, 8\], .* found \[1, 3, 7, 7\]"),
    "a picture too small": (("picture 6..9, crop 8", ""), [IMAGE], "expected 8x8 pixels or more to crop, found 6x6"),
    "no end of memory": (("picture 4..8000, resize 8, crop 8", ""), [IMAGE], "at most .*, found 16000x16000 of"),
    "no picture's input": (("crop 2", ""), [torch.zeros(2, 4)], r"expected a model of one input, .* float32\[2, 4\]"),
    "two inputs": (("crop 8", ""), [IMAGE, IMAGE], "expected a model of one input"),
    "too many classes": (("", "top 4"), [IMAGE], "top 4: expected 3 at most"),
    "no boxes": (("", "nms 0.5 3"), [IMAGE], "expected a model with the outputs boxes and scores, found one"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_model_that_the_steps_do_not_fit(name: str) -> None:
    texts, inputs, expected = REFUSED[name]
    with pytest.raises(ValueError, match=expected):
        Processed.of(Processing(*texts), Net(), tuple(inputs))


def test_labels_are_as_many_as_classes() -> None:
    with pytest.raises(ValueError, match="--labels: expected 3, as the model has classes, found 2"):
        Processed.of(Processing("", "softmax", ("a", "b")), Net(), (IMAGE,))


def test_an_exported_program_is_no_module() -> None:
    captured = torch.export.export(Net(), (IMAGE,))
    with pytest.raises(ValueError, match=r"of an ExportedProgram give program.module\(\)"):
        export(captured, processing=Processing("crop 8"))


def test_several_methods_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a model of one method, found a, b"):
        export(
            {"a": Net(), "b": Net()},
            {"a": [(IMAGE,)], "b": [(IMAGE,)]},
            processing=Processing("crop 8"),
        )


# ---- Boxes ----


def greedy(boxes: np.ndarray, scores: np.ndarray, iou: float, count: int) -> list[int]:
    """torchvision.ops.nms as it is defined, box by box."""
    order = sorted(range(len(boxes)), key=lambda i: (-scores[i], i))
    kept: list[int] = []
    for i in order:
        if all(overlap(boxes[i], boxes[j]) <= iou for j in kept):
            kept.append(i)
    return kept[:count]


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    wide = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    high = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = [(each[2] - each[0]) * (each[3] - each[1]) for each in (a, b)]
    return wide * high / (sum(areas) - wide * high)


def drawn(number: int, seed: int, classes: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Whole numbers, so that IoUs are exact, and scores of which many are equal."""
    generator = np.random.default_rng(seed)
    corners = generator.integers(0, 20, (1, number, 2))
    boxes = np.concatenate([corners, corners + generator.integers(1, 12, (1, number, 2))], -1)
    scores = generator.integers(0, 9, (1, number, classes)) / 8
    return torch.from_numpy(boxes).float(), torch.from_numpy(scores).float()


class Boxes(torch.nn.Module):
    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"scores": scores * 1, "boxes": boxes * 1}


@pytest.fixture(scope="module")
def nms() -> Any:
    session = program(Processing("", "nms 0.5 12"), Boxes(), *drawn(40, 0))
    return method(session)


@pytest.mark.parametrize("seed", range(8))
def test_boxes_are_those_of_the_definition(nms: Any, seed: int) -> None:
    boxes, scores = drawn(40, seed)
    wanted = greedy(boxes[0].numpy(), scores[0, :, 0].numpy(), 0.5, 12)
    found = nms.execute([boxes, scores])
    count = len(wanted)
    assert found.boxes[0, :count].tolist() == boxes[0, wanted].tolist()
    assert found.scores[0, :count].tolist() == scores[0, wanted, 0].tolist()
    assert found.classes[0].tolist() == [0] * count + [-1] * (12 - count)
    assert not found.boxes[0, count:].any() and not found.scores[0, count:].any()


def test_an_iou_of_the_limit_is_kept(nms: Any) -> None:
    """2 of 4 is 0.5; and of 39 equal boxes the first alone."""
    boxes = torch.tensor([[0.0, 0, 4, 1], [0, 0, 2, 1], *[[9, 9, 10, 10]] * 38])[None]
    scores = torch.tensor([0.75, 0.5, *[0.25] * 38])[None, :, None]
    found = nms.execute([boxes, scores])
    assert found.boxes[0, :3].tolist() == [[0, 0, 4, 1], [0, 0, 2, 1], [9, 9, 10, 10]]
    assert found.classes[0].tolist() == [0] * 3 + [-1] * 9


def test_classes_do_not_hide_each_other() -> None:
    boxes, scores = drawn(40, 3, classes=3)
    best, classes = scores[0].numpy().max(1), scores[0].numpy().argmax(1)
    rows = []
    for number in range(3):
        places = np.flatnonzero((classes == number) & (best > 0.375))
        kept = greedy(boxes[0].numpy()[places], best[places], 0.25, 40)
        rows += [(-best[places[k]], int(places[k]), number) for k in kept]
    wanted = sorted(rows)[:12]
    found = Nms(0.25, 12, 0.375)({"boxes": boxes, "scores": scores})
    assert found["classes"][0].tolist() == [number for *_, number in wanted]
    assert found["boxes"][0].tolist() == boxes[0, [place for _, place, _ in wanted]].tolist()
    assert found["scores"][0].tolist() == [-score for score, *_ in wanted]
