# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose inputs and outputs have names, from export to run."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch.export import Dim, export

from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.runtime import Method, Program, Runtime


@dataclass
class Detected:
    scores: torch.Tensor
    boxes: torch.Tensor


torch.export.register_dataclass(Detected)


class Detector(torch.nn.Module):
    def forward(
        self, image: torch.Tensor, state: dict[str, torch.Tensor], *, mask: torch.Tensor
    ) -> Detected:
        return Detected(scores=image * mask + state["bias"], boxes=image.sum(1))


class Classifier(torch.nn.Module):
    def forward(self, image: torch.Tensor, scale: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"logits": image.flatten(1).sum(1) * scale, "image": image - scale}


IMAGE = torch.arange(24.0).reshape(2, 3, 2, 2)
SCALE = torch.tensor([3.0])


def loaded(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    **options: Any,
) -> Program:
    program = export(module, args, kwargs, dynamic_shapes=dynamic_shapes)
    lowered = to_edge(program, compile_config=EdgeCompileConfig(_skip_dim_order=False))
    return Runtime.get().load_program(
        lowered.to_executorch(ExecutorchBackendConfig(**options)).buffer
    )


@pytest.fixture(scope="module")
def classifier() -> Program:
    batch = Dim("batch", max=8)
    shapes = {"image": {0: batch}, "scale": None}
    user_metadata = {"labels": ["cat", "dog"], "licence": "BSD — Ü"}
    return loaded(Classifier(), (IMAGE, SCALE), None, shapes, user_metadata=user_metadata)


@pytest.fixture
def method(classifier: Program) -> Method:
    found = classifier.load_method("forward")
    assert found is not None
    return found


def test_text_says_names_and_ranges(classifier: Program, method: Method) -> None:
    text = (
        "forward(image: float32[<=8, 3, 2, 2], scale: float32[1]) -> "
        "(logits: float32[<=8], image: float32[<=8, 3, 2, 2])"
    )
    assert repr(method) == f"Method({text})"
    assert repr(classifier) == f"Program({text})"
    assert method.metadata.input_names() == ["image", "scale"]
    assert method.metadata.output_names() == ["logits", "image"]
    assert method.metadata.input_tensor_meta(0).size_ranges() == [(0, 8), (3, 3), (2, 2), (2, 2)]
    assert method.metadata.output_tensor_meta(0).size_ranges() == [(0, 8)]
    assert method.metadata.input_tensor_meta(0).sizes() == (8, 3, 2, 2)
    assert classifier.user_metadata == {"labels": ["cat", "dog"], "licence": "BSD — Ü"}


def test_every_way_to_give_the_same_inputs(method: Method) -> None:
    expected = Classifier()(IMAGE, SCALE)
    for outputs in (
        method(image=IMAGE, scale=SCALE),
        method(scale=SCALE, image=IMAGE),
        method({"image": IMAGE, "scale": SCALE}),
        method({"image": IMAGE}, scale=SCALE),
        method(IMAGE, scale=SCALE),
        method(IMAGE, SCALE),
        method.execute({"scale": SCALE, "image": IMAGE}),
        method.execute([IMAGE, SCALE]),
    ):
        assert isinstance(outputs, list) and len(outputs) == 2
        assert outputs.keys() == ["logits", "image"]
        torch.testing.assert_close(dict(outputs), expected)
        torch.testing.assert_close(outputs.logits, outputs[0])
        torch.testing.assert_close(outputs["image"], outputs[1])


def test_outputs_are_lists_that_travel(method: Method) -> None:
    outputs = method(IMAGE, SCALE)
    for other in (copy.copy(outputs), copy.deepcopy(outputs), pickle.loads(pickle.dumps(outputs))):
        assert other.keys() == outputs.keys()
        torch.testing.assert_close(other.logits, outputs.logits)
    doubled = torch.utils._pytree.tree_map(lambda value: value * 2, outputs)
    torch.testing.assert_close(doubled.logits, outputs.logits * 2)
    assert len(torch.utils._pytree.tree_leaves([outputs, 1])) == 3
    logits, _ = outputs
    assert logits is outputs.logits and outputs[-1] is outputs["image"]
    assert "logits" in dir(outputs)
    with pytest.raises(KeyError, match="expected an output of logits, image; found scores"):
        outputs["scores"]
    with pytest.raises(AttributeError, match="no output or attribute scores"):
        _ = outputs.scores


def test_nested_inputs_and_a_dataclass() -> None:
    one, bias = torch.ones(2, 2), torch.full((2, 2), 5.0)
    program = loaded(Detector(), (one, {"bias": bias}), {"mask": torch.ones(2, 2)})
    method = program.load_method("forward")
    assert method is not None
    assert repr(method) == (
        "Method(forward(image: float32[2, 2], state.bias: float32[2, 2], mask: float32[2, 2]) -> "
        "(scores: float32[2, 2], boxes: float32[2]))"
    )
    expected = Detector()(one, {"bias": bias}, mask=2 * one)
    for outputs in (
        method(image=one, state={"bias": bias}, mask=2 * one),
        method({"image": one, "state.bias": bias, "mask": 2 * one}),
    ):
        torch.testing.assert_close(outputs.scores, expected.scores)
        torch.testing.assert_close(outputs.boxes, expected.boxes)


WRONG = {
    "unknown": ({"img": IMAGE}, "Method forward: expected an input of image, scale; found img"),
    "missing": ({"image": IMAGE}, "input scale is missing"),
    "sizes": (
        {"image": torch.ones(2, 4, 2, 2), "scale": SCALE},
        "Input image of method forward, dimension 1: expected 3, found 4",
    ),
    "range": (
        {"image": torch.ones(9, 3, 2, 2), "scale": SCALE},
        "Input image of method forward, dimension 0: expected 0 to 8, found 9",
    ),
    "static": (
        {"image": IMAGE, "scale": torch.ones(2)},
        "Input scale of method forward, dimension 0: expected 1, found 2",
    ),
    "rank": ({"image": torch.ones(3), "scale": SCALE}, "input image: expected 4 dimensions"),
    "dtype": ({"image": IMAGE.long(), "scale": SCALE}, "input image: expected elements of type"),
    "kind": ({"image": 3, "scale": SCALE}, "input image: expected a value of kind Tensor"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_say_the_name(method: Method, name: str) -> None:
    inputs, text = WRONG[name]
    with pytest.raises(RuntimeError) as error:
        method(**inputs)
    assert text in str(error.value)


def test_an_input_is_given_once(method: Method) -> None:
    with pytest.raises(RuntimeError, match="input image is given twice"):
        method(IMAGE, image=IMAGE)
    with pytest.raises(RuntimeError, match="expected 2 inputs, got 3"):
        method(IMAGE, SCALE, SCALE)


def test_copies_of_arrays_in_another_order(method: Method) -> None:
    scale = SCALE.numpy()
    rows = np.ascontiguousarray(
        IMAGE.numpy().transpose(0, 2, 3, 1)
    )  # channels last, as cameras give
    image = rows.transpose(0, 3, 1, 2)
    with pytest.raises(RuntimeError, match=r"input image: expected strides.*copy=True"):
        method.execute([image, scale])
    for wrong_order in (
        image,
        image[:, ::-1][:, ::-1],
        IMAGE.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
    ):
        outputs = method.execute(
            [wrong_order, SCALE if torch.is_tensor(wrong_order) else scale], copy=True
        )
        assert type(outputs[0]) is type(wrong_order)
        np.testing.assert_array_equal(outputs["image"], IMAGE - SCALE)
    reversed_rows = IMAGE.numpy()[::-1]
    np.testing.assert_array_equal(
        method.execute({"image": reversed_rows, "scale": scale}, copy=True).image,
        reversed_rows - scale,
    )
    with pytest.raises(RuntimeError, match="expected 4 dimensions"):
        method.execute([np.ones(3, np.float32), scale], copy=True)


def test_copies_go_to_channels_last() -> None:
    image = IMAGE.contiguous(memory_format=torch.channels_last)
    program = loaded(Classifier(), (image, SCALE))
    method = program.load_method("forward")
    assert method is not None
    order = method.metadata.input_tensor_meta(0).dim_order()
    assert order == (0, 2, 3, 1)
    with pytest.raises(RuntimeError, match="input image: expected strides"):
        method(IMAGE, SCALE)
    outputs = method.execute([IMAGE, SCALE], copy=True)
    torch.testing.assert_close(outputs["image"], IMAGE - SCALE)
    outputs = method.execute([IMAGE.numpy(), SCALE.numpy()], copy=True)
    np.testing.assert_array_equal(outputs["image"], IMAGE - SCALE)


def test_programs_without_names() -> None:
    program = export(Classifier(), (IMAGE, SCALE))
    lowered = to_edge(program).to_executorch()
    (plan,) = lowered.executorch_program.execution_plan
    plan.input_name_lines = plan.output_name_lines = None
    method = Runtime.get().load_program(lowered.buffer).load_method("forward")
    assert method is not None
    assert repr(method) == (
        "Method(forward(float32[2, 3, 2, 2], float32[1]) -> (float32[2], float32[2, 3, 2, 2]))"
    )
    outputs = method(IMAGE, SCALE)
    assert outputs.keys() == []
    torch.testing.assert_close(outputs[0], Classifier()(IMAGE, SCALE)["logits"])
    with pytest.raises(RuntimeError, match="inputs in their order, without names; found image"):
        method(image=IMAGE)
    with pytest.raises(KeyError, match="the program has no names of its outputs"):
        outputs["logits"]


def test_corrupted_names_are_refused() -> None:
    buffer = to_edge(export(Classifier(), (IMAGE, SCALE))).to_executorch().buffer
    at = buffer.index(b"\x0b\0\0\0image\nscale\0")
    too_long = buffer[: at + 3] + b"\x7f" + buffer[at + 4 :]
    with pytest.raises(RuntimeError, match="InvalidProgram"):
        Runtime.get().load_program(too_long)
    no_text = buffer.replace(b"\nscale\0", b"\n\xff\xfe\xffle\0")
    with pytest.raises(RuntimeError, match="the name of an input.*UTF-8"):
        Runtime.get().load_program(no_text)
