# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions, sums and activations between what dequantizes and what quantizes, on the stored bytes."""

from __future__ import annotations

from typing import Any

from executorch.backends.vulkan.aot.fused_linear import (
    DEQUANTIZE,
    GIVES_INT8,
    QUANTIZE,
    READS_INT8,
    RELU,
    STORED,
    WEIGHT,
    is_int8,
    padded_bias,
)
from executorch.backends.vulkan.aot.packing import (
    depthwise_taps,
    padded_to,
    rows_of_filters,
    rows_of_transposed,
    sums_of_rows,
)
from executorch.backends.vulkan.aot.row import VulkanRow, argument, arguments_of
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.backend.lowering.quantized import quantization_of, weight_of
from executorch.exir.backend.lowering.steps import Step

_CONVOLUTION = Call("aten.convolution.default", STORED, WEIGHT, name="convolution")
CONVOLUTION = Call(QUANTIZE, Call(RELU, _CONVOLUTION, name="relu", optional=True))
_SUM = Call(
    "aten.add.Tensor",
    Call(DEQUANTIZE, name="a", shared=True),
    Call(DEQUANTIZE, name="b", shared=True),
    name="add",
)
SUM = Call(QUANTIZE, Call(RELU, _SUM, name="relu", optional=True))
ACTIVATION = Call(QUANTIZE, Call(RELU, STORED))
_ARGUMENTS = "input weight bias stride padding dilation transposed output_padding groups".split()
_LEAST = -128


# ---- Convolutions ----


def _named(step: Step) -> dict[str, Any]:
    return dict(zip(_ARGUMENTS, arguments_of(step.named["convolution"]), strict=True))


def _is_depthwise(step: Step) -> bool:
    given = _named(step)
    channels = given["input"].meta["val"].shape[1]
    return given["groups"] == channels == step.named["convolution"].meta["val"].shape[1]


def _has_filters(step: Step, constants: Constants) -> bool:
    qparams = weight_of(step.named["weight"], constants)
    axis = 1 if _named(step)["transposed"] else 0
    is_one_scale = qparams is not None and (qparams.axis in (axis, None))
    if not is_one_scale or qparams.group_size or qparams.source.dim() != 4:
        return False
    bias = _named(step)["bias"]
    return bias is None or bias in constants


def _has_kernel(step: Step, constants: Constants) -> bool:
    given, channels = _named(step), step.named["convolution"].meta["val"].shape[1]
    if _is_depthwise(step) and not given["transposed"]:
        return channels % 4 == 0
    fits = given["groups"] == 1 or (channels // given["groups"]) % 4 == 0
    return fits and (not given["transposed"] or list(given["dilation"]) == [1, 1])


def write_convolution(writer: Any, step: Step) -> None:
    given, weight = _named(step), step.named["weight"]
    qparams, stored = weight_of(weight, writer.constants), quantization_of(step.named["input"])
    out, channels = quantization_of(step.result), step.named["convolution"].meta["val"].shape[1]
    kind, data, by_channel = _packed(step, qparams.source)
    # One for all, for each result, or for those of each group of a transposed one alike.
    scales = padded_to(qparams.scale.reshape(-1).repeat(channels // qparams.scale.numel()), 4)
    args = [
        writer.read(stored.source), writer.scalar(stored.scale), writer.scalar(stored.zero_point),
        writer.packed(weight, kind, data), writer.packed(weight, "sums", sums_of_rows(by_channel)),
        writer.packed(weight, "padded scales", scales),
        writer.scalar(out.scale), writer.scalar(out.zero_point), padded_bias(writer, given["bias"]),
        writer.argument(list(qparams.source.shape[2:])),
    ]  # fmt: skip
    names = ["stride", "padding", *(["output_padding"] if given["transposed"] else []), "dilation"]
    args += [writer.argument(_of_two(given[name])) for name in names]
    args += [
        writer.scalar(given["groups"]),
        writer.argument("relu" if "relu" in step.named else "none"),
    ]
    writer.call(f"et_vk.{kind}.default", args, step.result)


def _of_two(values: Any) -> list[int]:
    return list(values) * 2 if len(values) == 1 else list(values)


def _packed(step: Step, source: Any) -> tuple[str, Any, Any]:
    """The operator, its weights, and rows of which the sums are."""
    given = _named(step)
    if given["transposed"]:
        rows = rows_of_transposed(source, given["groups"])
        return "q8ta_conv2d_transposed", rows, rows
    if _is_depthwise(step):
        return "q8ta_conv2d_dw", depthwise_taps(source).contiguous(), source
    plain = {"stride": {1}, "dilation": {1}, "padding": {0}}
    is_pointwise = set(source.shape[2:]) == {1} and given["groups"] == 1
    is_pointwise &= all(set(given[name]) == only for name, only in plain.items())
    return "q8ta_conv2d_pw" if is_pointwise else "q8ta_conv2d", rows_of_filters(source), source


# ---- Sums and activations ----


def _adds_int8(step: Step, constants: Constants) -> bool:
    return all(is_int8(quantization_of(step.named[each])) for each in "ab")


def _has_one_shape(step: Step, constants: Constants) -> bool:
    one, other = (step.named[each].meta["val"].shape for each in "ab")
    return list(one) == list(other)


def _limits_below(step: Step, constants: Constants) -> bool:
    """What is quantized has no values below 0."""
    return "relu" not in step.named or quantization_of(step.result).zero_point == _LEAST


def write_sum(writer: Any, step: Step) -> None:
    a, b, out = (quantization_of(each) for each in (step.named["a"], step.named["b"], step.result))
    args = [writer.read(a.source), writer.read(b.source)]
    for qparams in (a, b, out):
        args += [writer.scalar(qparams.scale), writer.scalar(qparams.zero_point)]
    args.append(writer.scalar(argument(step.named["add"], "alpha")))
    writer.call("et_vk.q8ta_add.default", args, step.result)


def write_activation(writer: Any, step: Step) -> None:
    qparams, out = quantization_of(step.named["input"]), quantization_of(step.result)
    numbers = (qparams.scale, qparams.zero_point, out.scale, out.zero_point)
    args = [writer.read(qparams.source), *map(writer.scalar, numbers)]
    writer.call("et_vk.q8ta_relu.default", args, step.result)


def int8_patterns() -> dict[Call, VulkanRow]:
    filters = Condition(
        _has_filters, "filters of int8, symmetric, one scale for each, are expected"
    )
    kernel = Condition(
        _has_kernel,
        "groups of a multiple of 4 channels, and no dilation of a transposed one, are expected",
    )
    adds = Condition(_adds_int8, "operands of the whole range of int8 are expected")
    shapes = Condition(_has_one_shape, "operands of one shape are expected")
    below = Condition(_limits_below, "a zero point of -128 behind relu is expected")
    return {
        CONVOLUTION: VulkanRow(write_convolution, (filters, kernel, READS_INT8, GIVES_INT8)),
        SUM: VulkanRow(write_sum, (adds, shapes, below, GIVES_INT8)),
        ACTIVATION: VulkanRow(write_activation, (READS_INT8, GIVES_INT8)),
    }
