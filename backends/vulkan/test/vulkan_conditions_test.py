# SPDX-License-Identifier: BSD-3-Clause
"""The table's rows: each condition has a call that stays outside for that reason alone, and is exact there; none
accepts what the runtime lacks (VK-002)."""

from __future__ import annotations

import re

import pytest
import torch
from torch.nn.functional import conv_transpose1d, grid_sample

from executorch.backends.test.conformance.conditions import (
    Outside,
    check_outside,
    outside,
    unwalked,
)
from executorch.backends.test.corpus.row import numbers
from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.aot.row import VulkanRow, write_call
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.test.repository.sources import ROOT

FLOATS, NUMBERS = "float16, float32", "float16, float32, int32, int64"
MOVED, INTS = f"bool, {NUMBERS}", "int32, int64"
X, IMAGE = numbers(4, 5, 6), numbers(2, 3, 8, 8)
WHOLE, MASK, BYTES = X.round().int(), X > 0, X.round().to(torch.uint8)
SAMPLED = "bilinear sampling with aligned corners and repeated borders is expected"
GRID = numbers(2, 4, 5, 2).tanh()
q = torch.ops.quantized_decomposed

CASES = [
    # Of each tensor.
    outside("exp.default", "dtype bool, float16, float32, float64, int32, int64, int8, uint8 is expected, "
            "found bfloat16 [4, 5, 6]", torch.exp, X.bfloat16()),
    outside("add.Tensor", "int64 that says which elements are meant is expected, found int64 [4, 5, 6]",
            lambda i, j: i + j, WHOLE.long(), WHOLE.long()),
    outside("exp.default",
            "at most 8 dimensions, with elements, are expected, found float32 [1, 1, 1, 1, 1, 1, 4, 5, 6]",
            torch.exp, X.reshape(1, 1, 1, 1, 1, 1, 4, 5, 6)),
    outside("exp.default", "at most 8 dimensions, with elements, are expected, found float32 [0, 5, 6]",
            torch.exp, X[:0]),
    # Of operands.
    outside("cos.default", f"operands of dtype {FLOATS} are expected", torch.cos, WHOLE),
    outside("eq.Tensor", f"operands of dtype {NUMBERS} are expected", lambda a, b: a == b, BYTES, BYTES),
    outside("logical_and.default", "operands of dtype bool are expected", torch.logical_and, X, X),
    outside("where.self", f"operands of dtype bool; {FLOATS} are expected", torch.where, MASK, WHOLE, -WHOLE,
            is_alone=False),
    outside("permute_copy.default", f"operands of dtype {MOVED} are expected",
            lambda a: torch.ops.aten.permute_copy.default(a, [2, 0, 1]), BYTES, is_alone=False),
    outside("embedding.default", f"operands of dtype {FLOATS}; {INTS} are expected",
            lambda i, table: torch.ops.aten.embedding.default(table, i),
            torch.tensor([1, 0]), WHOLE[0], is_alone=False),
    outside("index.Tensor", f"operands of dtype {NUMBERS}; {INTS} are expected", lambda m, i: m[i],
            MASK, torch.tensor([1, 0]), is_alone=False),
    outside("quantized_decomposed.dequantize_per_tensor.default", "operands of dtype int8 are expected",
            lambda a: q.dequantize_per_tensor.default(a, 0.1, 3, 0, 255, torch.uint8), BYTES, is_alone=False),
    outside("gather.default", f"operands of dtype {MOVED}; {MOVED}; {INTS} are expected",
            lambda a, i: a.gather(1, i), BYTES[0], torch.tensor([[1, 0]]), is_alone=False),
    # Of results.
    outside("quantized_decomposed.quantize_per_tensor.default", "a result of dtype int8 is expected",
            lambda x: q.quantize_per_tensor.default(x, 0.1, 3, 0, 255, torch.uint8), X, is_alone=False),
    outside("dim_order_ops._to_dim_order_copy.default", f"a result of dtype {MOVED} is expected",
            lambda x: x.to(torch.uint8), X.abs()),
    # Of what calls say.
    outside("quantized_decomposed.quantize_per_tensor.default", "the whole range of int8 is expected",
            lambda x: q.quantize_per_tensor.default(x, 0.1, 3, -127, 127, torch.int8), X),
    outside("dim_order_ops._to_dim_order_copy.default", "numbers, or booleans as they are, are expected",
            lambda x: x.to(torch.bool), X),
    outside("sum.dim_IntList", "the dtype of the operand is expected",
            lambda x: x.sum(1, dtype=torch.float32), X.half()),
    outside("grid_sampler_2d.default", SAMPLED, lambda x, g: grid_sample(x, g, align_corners=True), IMAGE, GRID),
    outside("grid_sampler_2d.default", SAMPLED,
            lambda x, g: grid_sample(x, g, padding_mode="border", align_corners=False), IMAGE, GRID),
    outside("grid_sampler_2d.default", SAMPLED,
            lambda x, g: grid_sample(x, g, "nearest", "border", align_corners=True), IMAGE, GRID),
    outside("convolution.default", "batches of images, or of rows and not transposed, are expected",
            lambda x, w: conv_transpose1d(x, w), X, numbers(5, 2, 3)),
    outside("convolution.default", "batches of images, or of rows and not transposed, are expected",
            torch.nn.Conv3d(2, 3, 2), numbers(1, 2, 4, 4, 4)),
    outside("index.Tensor", "one tensor of indices, of one dimension or into one, is expected",
            lambda x, i: x[i, i], X, torch.tensor([1, 0])),
    outside("index.Tensor", "one tensor of indices, of one dimension or into one, is expected",
            lambda x, i: x[i], X, torch.tensor([[1], [0]])),
]  # fmt: skip
# Those of attention and positions are walked in vulkan_attention_test.py. Of the others no program has calls today:
# what gives another dtype reads one, PyTorch takes no other windows and modes, and those of et_vk are called by name.
ALL = "bool, float16, float32, float64, int32, int64, int8, uint8"
UNSEEN = {
    "a batch of one is expected",
    "an element of an input is expected",
    "causal attention without mask, scale and dropout is expected",
    f"operands of dtype {INTS} are expected",
    "two caches that are written for this call alone are expected",
    "a batch of channels is expected",
    "an image, or a batch of images, is expected",
    "no rounding, or trunc or floor, is expected",
    f"operands of dtype {FLOATS}; int8; {FLOATS} are expected",
    "operands of dtype int8, uint8 are expected",
    f"operands of dtype {ALL} are expected",
    *(
        f"a result of dtype {each} is expected"
        for each in ("bool", ALL, FLOATS, NUMBERS, f"{FLOATS}; {INTS}", INTS, "int8, uint8")
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_call_stays_outside_and_is_exact(case: Outside) -> None:
    check_outside(case, VulkanPartitioner())


def test_every_condition_has_a_case() -> None:
    missing, gone = unwalked(TABLE, CASES)
    assert missing == UNSEEN
    assert all(any(reason.startswith(each.reason) for each in TABLE.of_tensors) for reason in gone)


# ---- Names ----

OPERATORS = ROOT / "backends" / "vulkan" / "runtime" / "graph" / "ops"
# Written by rows of several calls, under these names.
OF_PATTERNS = {
    "et_vk.prepack.default",
    "et_vk.select_as_symint.default",
    "sdpa_with_kv_cache.default",
    "torchao.choose_qparams_affine.default",
}


def _name(call: str, row: VulkanRow) -> str:
    short = "sym_size.int" if call == "aten.sym_size.int" else call.removeprefix("operator.")
    return row.name or short


def test_every_name_is_the_runtimes() -> None:
    text = "".join(file.read_text() for file in sorted(OPERATORS.glob("*.cpp")))
    known = set(re.findall(r'"([\w.]+)"', text))
    plain = {_name(call, row) for call, row in TABLE.items() if row.lower is write_call}
    missing = (plain | OF_PATTERNS) - known
    assert not missing, missing


# What other makers' files name, and no row of ours writes.
OF_OTHERS = {
    *(f"aten.{name}" for name in (
        "hardsigmoid.default", "log.default", "maximum.default", "ne.Tensor", "relu6.default",
        "repeat_interleave.self_int", "select.int", "slice.Tensor", "tan.default", "var.dim")),
    *(f"et_vk.{name}.default" for name in (
        "apply_rotary_emb_hf", "linear_q8csw", "q4gsw_linear", "q8ta_conv2d_general", "q8ta_conv2d_im2col")),
    *(f"{name}.default" for name in (
        "conv_with_clamp", "custom_sdpa", "update_cache", "llama.sdpa_with_kv_cache", "llama.update_cache")),
    *(f"quantized_decomposed.{name}" for name in (
        "choose_qparams.tensor", "choose_qparams_per_token_asymmetric.default", "dequantize_per_channel.default",
        "dequantize_per_tensor.tensor", "dequantize_per_token.default", "quantize_per_channel.default",
        "quantize_per_tensor.tensor", "quantize_per_token.default")),
    "torchao.dequantize_affine.default", "torchao.quantize_affine.default",
}  # fmt: skip


def test_every_operator_of_the_runtime_has_a_row() -> None:
    text = "".join(file.read_text() for file in sorted(OPERATORS.glob("*.cpp")))
    known = {name for name in re.findall(r'"([\w.]+)"', text) if "." in name}
    rows = {_name(call, row) for call, row in TABLE.items()} | {"aten.sym_size.int"}
    assert known - rows - OF_PATTERNS == OF_OTHERS
