# SPDX-License-Identifier: BSD-3-Clause
"""Linear layers and tables whose weights are quantized, and what quantizes around them, as one call."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.vulkan.aot.packing import nibbles, padded_to, sums_of_groups, sums_of_rows
from executorch.backends.vulkan.aot.row import FLOATS, VulkanRow
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.backend.lowering.patterns import Call, Value
from executorch.exir.backend.lowering.quantized import Quantization, quantization_of, weight_of
from executorch.exir.backend.lowering.quantized_steps import Chain, chain_of
from executorch.exir.backend.lowering.steps import Step

_QD = "quantized_decomposed"
QUANTIZE = f"{_QD}.quantize_per_tensor.default"
DEQUANTIZE = f"{_QD}.dequantize_per_tensor.default"
OF_WEIGHT = (
    "torchao.dequantize_affine.default",
    f"{_QD}.dequantize_per_channel.default",
    f"{_QD}.dequantize_per_channel_group.default",
    DEQUANTIZE,
)
WHILE_RUNNING = (
    "torchao.dequantize_affine.default",
    f"{_QD}.dequantize_per_token.default",
    f"{_QD}.dequantize_per_tensor.tensor",
)
RELU = "aten.relu.default"
WEIGHT = Call(OF_WEIGHT, name="weight", shared=True)
STORED = Call(DEQUANTIZE, name="input", shared=True)
_LINEAR = "aten.linear.default"
WEIGHT_ONLY = Call(_LINEAR, Value("x"), WEIGHT, name="linear")
DYNAMIC = Call(
    _LINEAR, Call(WHILE_RUNNING, name="input", shared=True), WEIGHT, name="linear",
)  # fmt: skip
STATIC = Call(_LINEAR, STORED, WEIGHT, name="linear")
STATIC_TO_STORED = Call(QUANTIZE, Call(RELU, STATIC, name="relu", optional=True), name="quantize")
TABLE_ROWS = Call("aten.embedding.default", WEIGHT, Value("indices"), name="embedding")


# ---- What weights say ----


def weight_in(step: Step, constants: Constants) -> Quantization | None:
    return weight_of(step.named["weight"], constants)


def is_by_channel(qparams: Quantization) -> bool:
    return not qparams.group_size and qparams.axis in (0, None)


def fits_4_bits(qparams: Quantization) -> bool:
    return bool(qparams.source.min() >= -8 and qparams.source.max() <= 7)


def scales_of_rows(qparams: Quantization) -> Tensor:
    return qparams.scale.reshape(-1).expand(qparams.source.shape[0]).contiguous()


def group_of(qparams: Quantization) -> int:
    """Columns of a group: the whole row where there is one scale."""
    return qparams.group_size or qparams.source.shape[1]


def scales_of_groups(qparams: Quantization) -> Tensor:
    """[K/g, N], N padded to 4."""
    scales = qparams.scale if qparams.group_size else scales_of_rows(qparams).unsqueeze(1)
    return padded_to(scales.t().contiguous(), 4)


def is_int8(qparams: Quantization | None) -> bool:
    return (
        qparams is not None
        and qparams.is_static
        and (qparams.dtype, qparams.quant_min, qparams.quant_max) == (torch.int8, -128, 127)
    )


# ---- Conditions ----


def _has_weight(step: Step, constants: Constants) -> bool:
    qparams = weight_in(step, constants)
    return qparams is not None and qparams.source.dim() == 2 and qparams.axis in (0, None)


def _has_kernel(step: Step, constants: Constants) -> bool:
    qparams = weight_in(step, constants)
    if qparams.group_size:
        return fits_4_bits(qparams)
    return step.named["linear"].args[0].meta["val"].dim() in (2, 3)


def _is_float(step: Step, constants: Constants) -> bool:
    return step.named["linear"].meta["val"].dtype in FLOATS


def _has_known_bias(step: Step, constants: Constants) -> bool:
    bias = bias_of(step.named["linear"])
    return bias is None or bias in constants


def _is_by_channel(step: Step, constants: Constants) -> bool:
    qparams = weight_in(step, constants)
    return is_by_channel(qparams) and qparams.source.shape[1] % 4 == 0


def _has_chain(step: Step, constants: Constants) -> bool:
    chain = chain_of(step.named["input"])
    return chain is not None and chain.is_by_row


def _reads_int8(step: Step, constants: Constants) -> bool:
    return is_int8(quantization_of(step.named["input"]))


def _gives_int8(step: Step, constants: Constants) -> bool:
    return is_int8(quantization_of(step.result))


SYMMETRIC = Condition(_has_weight, "a symmetric weight of int8, which is data, is expected")
KERNEL = Condition(_has_kernel, "4 bits for weights in groups, else 2 or 3 dimensions, are expected")  # fmt: skip
FLOAT = Condition(_is_float, "float32 or float16 is expected")
BIAS = Condition(_has_known_bias, "a bias that is data is expected")
CHANNELS = Condition(_is_by_channel, "one scale for each row of a multiple of 4 columns is expected")  # fmt: skip
CHAIN = Condition(_has_chain, "an input that is quantized to int8 while running is expected")
READS_INT8 = Condition(_reads_int8, "an input of the whole range of int8 is expected")
GIVES_INT8 = Condition(_gives_int8, "a result of the whole range of int8 is expected")


# ---- What is written ----


def bias_of(linear: Node, place: int = 2) -> Node | None:
    return linear.args[place] if len(linear.args) > place else None


def padded_bias(writer: Any, node: Node | None) -> int:
    if node is None:
        return writer.null()
    return writer.packed(node, "padded", padded_to(writer.constants[node].detach(), 4))


def _write_float(writer: Any, step: Step, x: int, qparams: Quantization) -> None:
    """Of weights alone."""
    linear, weight = step.named["linear"], step.named["weight"]
    bias = bias_of(linear)
    if qparams.group_size or (
        bias is not None and fits_4_bits(qparams)
    ):  # the call that takes a bias
        args = [x, *_grouped(writer, weight, qparams), writer.scalar(group_of(qparams))]
        args.append(writer.null() if bias is None else writer.raw(bias))
        writer.call("et_vk.linear_q4gsw.default", args, step.result)
        return
    scales = writer.packed(weight, "scales", scales_of_rows(qparams))
    if fits_4_bits(qparams):
        data = writer.packed(weight, "qcs4w", nibbles(qparams.source, low_first=False, multiple=2))
        name = "et_vk.linear_qcs4w.default"
    else:
        data = writer.packed(weight, "int8", qparams.source)
        name = "aten._weight_int8pack_mm.default"
    if bias is None:
        writer.call(name, [x, data, scales], step.result)
        return
    between = writer.make_value(step.result, ())
    writer.call_on_ids(name, [x, data, scales, between])
    writer.call("aten.add.Tensor", [between, writer.read(bias), writer.scalar(1)], step.result)


def _grouped(writer: Any, weight: Node, qparams: Quantization) -> list[int]:
    data = nibbles(qparams.source, low_first=True, multiple=8)
    return [
        writer.packed(weight, "q4gsw", data),
        writer.packed(weight, "scales of groups", scales_of_groups(qparams)),
    ]


def write_weight_only(writer: Any, step: Step) -> None:
    x = writer.read(step.named["linear"].args[0])
    _write_float(writer, step, x, weight_in(step, writer.constants))


def write_dynamic(writer: Any, step: Step) -> None:
    """Rows that are quantized by themselves, with weights of 4 bits; else on floats: exact where quantizing rounds."""
    linear, weight = step.named["linear"], step.named["weight"]
    chain = chain_of(step.named["input"])
    qparams = weight_in(step, writer.constants)
    x = writer.read(chain.source)
    is_of_rows = chain.nodes[0].target.__name__ == "torchao.choose_qparams_affine.default"
    if not fits_4_bits(qparams) or not is_of_rows:
        _write_float(writer, step, x, qparams)
        return
    sums = sums_of_groups(qparams.source, group_of(qparams))
    data, scales = _grouped(writer, weight, qparams)
    bias = bias_of(linear)
    args = [
        x,
        *_parameters(writer, chain),
        data,
        writer.packed(weight, "sums of groups", sums),
        scales,
    ]
    args += [writer.scalar(group_of(qparams)), writer.null() if bias is None else writer.raw(bias)]
    writer.call("et_vk.linear_dq8ca_q4gsw.default", args, step.result)


def _parameters(writer: Any, chain: Chain) -> list[int]:
    """Scales and zero points of rows, once for all that read them."""
    from executorch.backends.vulkan.aot.row import arguments_of

    maker = chain.nodes[0]

    def make() -> int:
        args = [writer.argument(each) for each in arguments_of(maker)]
        made = writer.result_value(maker.meta["val"])
        writer.call_on_ids("torchao.choose_qparams_affine.default", [*args, made])
        return made

    made = writer.constant_once(("parameters", maker), make)
    return list(writer.values[made].value.items)


def _static_args(writer: Any, step: Step, qparams: Quantization) -> list[int]:
    stored, weight = quantization_of(step.named["input"]), step.named["weight"]
    return [
        writer.read(stored.source), writer.scalar(stored.scale), writer.scalar(stored.zero_point),
        writer.packed(weight, "int8", qparams.source),
        writer.packed(weight, "sums", sums_of_rows(qparams.source)),
        writer.packed(weight, "padded scales", padded_to(scales_of_rows(qparams), 4)),
    ]  # fmt: skip


def write_static(writer: Any, step: Step) -> None:
    args = _static_args(writer, step, weight_in(step, writer.constants))
    bias = padded_bias(writer, bias_of(step.named["linear"]))
    writer.call("et_vk.linear_q8ta_q8csw.default", [*args, bias], step.result)


def write_static_to_stored(writer: Any, step: Step) -> None:
    linear, out = step.named["linear"], quantization_of(step.result)
    args = _static_args(writer, step, weight_in(step, writer.constants))
    args += [writer.scalar(out.scale), writer.scalar(out.zero_point)]
    args.append(padded_bias(writer, bias_of(linear)))
    args.append(writer.argument("relu" if "relu" in step.named else "none"))
    sizes = linear.args[0].meta["val"].shape
    is_one_row = len(sizes) < 2 or sizes[-2] == 1
    kind = "q8ta_linear_gemv" if is_one_row else "q8ta_linear"
    writer.call(f"et_vk.{kind}.default", args, step.result)


# ---- Tables ----


def _is_packed_table(step: Step, constants: Constants) -> bool:
    qparams = weight_of(step.named["weight"], constants)
    is_by_row = qparams is not None and qparams.axis in (0, None)
    return is_by_row and fits_4_bits(qparams) and qparams.source.shape[1] % 32 == 0


def write_table_rows(writer: Any, step: Step) -> None:
    weight = step.named["weight"]
    qparams = weight_of(weight, writer.constants)
    scales = qparams.scale if qparams.group_size else scales_of_rows(qparams).unsqueeze(1)
    args = [
        writer.packed(weight, "table", nibbles(qparams.source, low_first=True, multiple=2)),
        writer.packed(weight, "scales of table", scales),
        writer.scalar(group_of(qparams)),
        writer.argument(step.named["indices"]),
        writer.scalar(True),
    ]
    writer.call("et_vk.embedding_q4gsw.default", args, step.result)


def linear_patterns() -> dict[Call, VulkanRow]:
    packed = Condition(_is_packed_table, "a weight of 4 bits with a multiple of 32 columns is expected")  # fmt: skip
    static = (SYMMETRIC, CHANNELS, READS_INT8, BIAS)
    return {
        STATIC_TO_STORED: VulkanRow(write_static_to_stored, (*static, GIVES_INT8)),
        STATIC: VulkanRow(write_static, static),
        DYNAMIC: VulkanRow(write_dynamic, (SYMMETRIC, KERNEL, FLOAT, CHAIN, BIAS)),
        WEIGHT_ONLY: VulkanRow(write_weight_only, (SYMMETRIC, KERNEL, FLOAT, BIAS)),
        TABLE_ROWS: VulkanRow(write_table_rows, (packed,)),
    }
