# SPDX-License-Identifier: BSD-3-Clause
"""The draws of limits_test.py in int8: what XNNPACKQuantizer annotates and the partitioner claims is loaded, and is
within two steps of what the converted model gives in eager."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvTransposeNd
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.test.draws import DRAWS, Draw, draw
from executorch.backends.xnnpack.test.limits_test import Calls
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.lowering.annotation import Kind
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

NAMES = [name for name in DRAWS if name in TABLE and TABLE[name].annotation.kind is not Kind.NONE]
_STEPS = 2.01  # of the result: a sum is rounded to another side, and so is what comes of it
_CONFIGS = {
    "by channel": get_symmetric_quantization_config(is_per_channel=True),
    "of all": get_symmetric_quantization_config(),
    "dynamic": get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True),
}


def captured(draws: list[Draw]) -> GraphModule:
    """With sums instead of negations: these are computed in int8."""
    inputs = tuple(x for _, each in draws for x in each)
    module = torch.export.export(Calls(draws).eval(), inputs).module()
    for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.neg.default):
        node.target, node.args = torch.ops.aten.add.Tensor, (node.args[0], node.args[0])
    module.recompile()
    return module


def steps_of(converted: GraphModule) -> list[float]:
    """By output; 0 of one that is computed on floats."""
    outputs = converted.graph.output_node().args[0]
    return [_step(output) for output in outputs]


def _step(output: Node) -> float:
    is_stored = "dequantize_per_tensor.default" in str(output.target)
    return float(output.args[1]) if is_stored else 0.0


def is_prepared(drawn: Draw) -> bool:
    """By torchao: it observes no emptiness or infinity, and folds no norm into transposed convolutions of groups."""
    module, inputs = drawn
    parts = list(module.modules())
    groups = any(isinstance(each, _ConvTransposeNd) and each.groups > 1 for each in parts)
    norms = any(isinstance(each, _BatchNorm) for each in parts)
    if groups and norms or not all(x.numel() for x in inputs):
        return False
    return bool(module(*inputs).isfinite().all())


def check(draws: list[Draw], config: str) -> None:
    draws = list(filter(is_prepared, draws))
    inputs: tuple[Tensor, ...] = tuple(x for _, each in draws for x in each)
    quantizer = XNNPACKQuantizer().set_global(_CONFIGS[config])
    prepared = prepare_pt2e(captured(draws), quantizer)
    prepared(*inputs)
    converted = convert_pt2e(prepared)
    manager = to_edge_transform_and_lower(
        torch.export.export(converted, inputs),
        partitioner=[XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)],
    )
    outputs = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)
    for output, right, step in zip(outputs, converted(*inputs), steps_of(converted), strict=True):
        largest = max(1.0, float(right.abs().max())) if right.numel() else 1.0
        bound = _STEPS * step if step else largest * (0.02 if config == "dynamic" else 1e-4)
        torch.testing.assert_close(output, right, rtol=1e-4, atol=bound)


def check_each(name: str, seeds: range, config: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ranges near 0
        draws = [draw(name, seed) for seed in seeds]
        try:
            check(draws, config)
        except Exception:
            for seed, one in zip(seeds, draws, strict=True):
                try:
                    check([one], config)
                except Exception as reason:
                    text = f"draw({name!r}, {seed}) {config}: {reason}"
                    raise AssertionError(text) from reason
            raise


@needs_runtime
@pytest.mark.parametrize("name", NAMES)
def test_what_is_quantized_is_loaded_and_computed(name: str) -> None:
    check_each(name, range(6), "by channel")


@needs_runtime
@pytest.mark.parametrize("name", ["aten.convolution.default", "aten.linear.default"])
def test_what_is_quantized_while_running(name: str) -> None:
    check_each(name, range(6), "dynamic")


@needs_runtime
@pytest.mark.full
@pytest.mark.parametrize("config", _CONFIGS)
@pytest.mark.parametrize("name", NAMES)
def test_many_more_of_them(name: str, config: str) -> None:
    if config == "dynamic" and TABLE[name].annotation.kind is not Kind.GEMM:
        pytest.skip("only operators with weights are quantized while running")
    for first in range(100, 116, 16):
        check_each(name, range(first, first + 16), config)
