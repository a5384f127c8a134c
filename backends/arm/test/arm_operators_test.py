# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the table, their TOSA graphs evaluated: FP beside eager PyTorch, each step of INT beside float64, rounded
once. What stays outside is named, so that a row cannot go in silence."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.quantizer import (
    get_symmetric_a8w4_quantization_config,
    get_symmetric_a16w8_quantization_config,
)
from executorch.backends.arm.test.arm_cases import FAMILIES
from executorch.backends.arm.test.arm_reference import (
    delegates,
    lowered,
    quantized,
    through_reference_all,
)
from executorch.backends.arm.test.arm_steps import steps_of
from executorch.backends.test.corpus.row import Function
from executorch.exir import EdgeProgramManager
from executorch.exir.backend.lowering.quantized import quantization_of
from executorch.exir.graph_facts import op_name

pytestmark = pytest.mark.req("ARM-008")

NOT_IN_FLOATS = {"asin", "acos", "atan", "asinh", "acosh", "atanh", "erfinv"}
# Of 16 bits 513 points are no steps, and too few beside poles and edges within the range that is quantized: at least
# 8 to either side, by the least scale of the configuration, 2^-12.
STEPS = {"ceil", "floor", "round", "sign"}
STEEP = {"log", "log2", "log1p", "rsqrt", "reciprocal", "sqrt", "root"}
STEEP |= {"asin", "acos", "tan", "acosh"}
COMPOUNDS_OF_8_BITS = {"cosine", "norm", "normalize"}
OUTSIDE = {
    "TOSA-1.0+FP": {
        "unary": NOT_IN_FLOATS,
        "binary": {"remainder"},
        "data_movement": {
            "circular",
            "cat constant",
        },  # what `full` makes is an argument of the delegate
        "along_axes": {"max"},
        "compounds": {
            "adaptive max",
            "attention given a mask",  # of which `full` is an argument, too
            "cosine",
            "instance norm",
            "log sigmoid",
        },
    },
    "TOSA-1.0+INT": {},
    "TOSA-1.0+INT+int16": {
        "unary": {*STEPS, *STEEP},
        "binary": {"div", "div both signs", "div broadcast", "number div", "remainder"},
        "along_axes": {"std"},
        "compounds": COMPOUNDS_OF_8_BITS,
    },
}
FAST_PARTS = 3  # of a family in floats
EVERY = {
    "compounds": 15
}  # of a family in integers one of so many is in the fast tier; quantizing takes a second


@pytest.mark.parametrize("part", range(FAST_PARTS))
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_equal(family: str, part: int) -> None:
    torch.manual_seed(0)
    cases = list(FAMILIES[family]())[part::FAST_PARTS]
    programs = [
        (lowered(module.eval(), inputs, "TOSA-1.0+FP"), inputs) for _, module, inputs in cases
    ]
    found, wrong = through_reference_all(programs), []
    for (name, module, inputs), (edge, _), (result, *_) in zip(cases, programs, found, strict=True):
        expected = module(*inputs)
        assert is_fully_delegated(edge) == (
            name not in OUTSIDE["TOSA-1.0+FP"].get(family, set())
        ), name
        error = (result.float() - expected.float()).abs().max().item()
        most = 1e-5 * max(1, expected.float().abs().max().item())
        if result.shape != expected.shape or error > most:
            wrong.append((name, error, most))
    assert wrong == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_of_rows_rounds_once(family: str) -> None:
    check("TOSA-1.0+INT", family, EVERY.get(family, 9))


@pytest.mark.full
@pytest.mark.parametrize("spec", [each for each in OUTSIDE if "FP" not in each])
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_round_once(spec: str, family: str) -> None:
    check(spec, family)


def check(spec: str, family: str, every: int = 1) -> None:
    torch.manual_seed(0)
    config = get_symmetric_a16w8_quantization_config() if "int16" in spec else None
    outside, names, wrong = set(), set(), []
    for name, module, inputs in list(FAMILIES[family]())[every // 2 :: every]:
        edge = lowered(quantized(module.eval(), inputs, spec, config), inputs, spec)
        names.add(name)
        if is_fully_delegated(edge):
            steps = steps_of(edge, inputs)
            wrong += [f"{name}: {each.why_wrong}" for each in steps if each.why_wrong]
            wrong += [] if steps else [f"{name}: no step"]
        else:
            outside.add(name)
    assert outside == OUTSIDE[spec].get(family, set()) & names
    assert wrong == []


def is_fully_delegated(edge: EdgeProgramManager) -> bool:
    """Whether a delegate has all that computes."""
    nodes = edge.exported_program().graph.nodes
    return bool(delegates(edge)) and not any(op_name(node).startswith("aten") for node in nodes)


@pytest.mark.parametrize("spec", ["TOSA-1.0+FP", "TOSA-1.0+INT"])
def test_a_network_is_equal_in_the_reference_model(spec: str) -> None:
    """Quantized, within one quantum of softmax, 1 / 256."""
    torch.manual_seed(0)
    model, inputs = network().eval(), (torch.randn(1, 3, 16, 16),)
    module = model if "FP" in spec else quantized(model, inputs, spec)
    edge = lowered(module, inputs, spec)
    assert len(delegates(edge)) == 1
    (found,) = through_reference_all([(edge, inputs)])[0]
    most = 1e-5 if "FP" in spec else 1 / 256 + 1e-6
    torch.testing.assert_close(found, module(*inputs), rtol=0, atol=most)


@pytest.mark.full
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_norms_of_many_values(name: str) -> None:
    """A spread of one quantum beside one of all 256: its squares count. What would not fit in INT32 stays outside."""
    torch.manual_seed(0)
    size = 60000
    function = Function(lambda x: getattr(F, name)(x, x.shape[-1:]))
    inputs = (torch.stack([torch.randn(size) * 0.01, torch.linspace(-1, 1, size)]),)
    converted = quantized(function, inputs)
    edge = lowered(converted, inputs, "TOSA-1.0+INT")
    assert is_fully_delegated(edge)
    (output, *_) = edge.exported_program().graph.output_node().all_input_nodes
    (found,) = through_reference_all([(edge, inputs)])[0]
    most = 1.01 * quantization_of(output).scale
    torch.testing.assert_close(found, converted(*inputs), rtol=0, atol=most)
    larger = (torch.linspace(-1, 1, 2**17).reshape(1, -1),)
    assert not is_fully_delegated(lowered(quantized(function, larger), larger, "TOSA-1.0+INT"))


@pytest.mark.parametrize(
    ("form", "transposes"), [(torch.contiguous_format, 2), (torch.channels_last, 0)]
)
def test_images_are_turned_where_they_come_and_go(
    form: torch.memory_format, transposes: int
) -> None:
    """Between two convolutions and a pool none is."""
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 3)).eval()
    inputs = (torch.randn(1, 3, 12, 12).contiguous(memory_format=form),)
    (delegate,) = delegates(lowered(model.to(memory_format=form), inputs, "TOSA-1.0+FP"))
    (block,) = SCHEMA.unpack(bytes(delegate.processed_bytes)).regions[0].blocks
    assert [each.op.name for each in block.operators].count("TRANSPOSE") == transposes


def test_weights_of_4_bits() -> None:
    """Two in a byte; of all operators with weights."""
    torch.manual_seed(0)
    spec, inputs = "TOSA-1.0+INT+int4", (torch.randn(1, 3, 10, 10),)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3, groups=8), nn.ConvTranspose2d(8, 5, 2, 2), nn.Flatten(),
        nn.Linear(720, 7),
    )  # fmt: skip
    config = get_symmetric_a8w4_quantization_config(is_qat=False)
    converted = quantized(model, inputs, spec, config)
    edge = lowered(converted, inputs, spec)
    (delegate,) = delegates(edge)
    (block,) = SCHEMA.unpack(bytes(delegate.processed_bytes)).regions[0].blocks
    sizes = [
        len(each.data) for each in block.tensors if each.type.name == "INT4" and len(each.shape) > 1
    ]
    assert sizes == [8 * 3 * 9 // 2, 8 * 9 // 2, 8 * 5 * 4 // 2, 720 * 7 // 2]
    (found,) = through_reference_all([(edge, inputs)])[0]
    scale = quantization_of(edge.exported_program().graph.output_node().all_input_nodes[0]).scale
    torch.testing.assert_close(found, converted(*inputs), rtol=0, atol=1.01 * scale)


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(8, 10), nn.Softmax(-1),
    )  # fmt: skip
