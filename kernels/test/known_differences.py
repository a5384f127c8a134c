# SPDX-License-Identifier: BSD-3-Clause
"""Where kernels differ from eager PyTorch and are to stay so: operator, dtypes, condition, and why."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from executorch.codegen.schema import Schema
from kernels.test.op_case import (
    BF16,
    BOOL,
    C64,
    C128,
    F16,
    F32,
    F64,
    FLOATS,
    I8,
    I16,
    I32,
    I64,
    INTS,
    U8,
)  # fmt: skip

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Known:
    """Calls of an operator that a kernel refuses or takes, or whose results differ, unlike eager's: those whose first
    tensor has one of the dtypes and whose arguments (by name) meet the condition."""

    ops: str  # without namespace, such as "add.out mul.out"
    kind: Literal["fails", "succeeds", "differs"]
    dtypes: tuple[torch.dtype, ...]
    when: Callable[[Arguments], bool]
    why: str

    def __str__(self) -> str:
        return f"{self.ops.split()[0]} {self.kind}: {self.why}"


@dataclass(frozen=True)
class NotFinite:
    """Operators whose results need only be infinite or NaN, too, where eager's are: which, is a matter of the order of
    a sum. `open`: they may even be finite, because what eager multiplies by zero is not looked at. `spread`: where an
    argument is not finite, results that are finite in eager may be NaN, because ours multiplies it by a zero."""

    ops: str
    dtypes: tuple[torch.dtype, ...]
    why: str
    open: bool = False
    spread: bool = False

    def __str__(self) -> str:
        return f"{self.ops.split()[0]} not finite: {self.why}"


def _tensors(arguments: Arguments) -> list[Tensor]:
    return [v for v in arguments.values() if isinstance(v, Tensor)]


def _in_other_order(arguments: Arguments) -> bool:
    return any(not t.is_contiguous() for t in _tensors(arguments))


def _is_empty(arguments: Arguments) -> bool:
    return any(t.numel() == 0 for t in _tensors(arguments))


def _computes_nothing(arguments: Arguments) -> bool:
    """No elements, or no pairs of rows."""
    return _is_empty(arguments) or _tensors(arguments)[0].shape[:1].numel() < 2


def _is_not_finite(arguments: Arguments) -> bool:
    return any(not bool(t.isfinite().all()) for t in _tensors(arguments))


def _does_not_fit(value: Any, dtype: torch.dtype) -> bool:
    if isinstance(value, bool):
        return False
    try:
        torch.full((2,), value, dtype=dtype)
    except RuntimeError:
        return True
    return False


def _always(arguments: Arguments) -> bool:
    return True


_16_BIT = (F16, BF16)
_FLOATS = tuple(FLOATS)
_WHOLE = (BOOL, *INTS)
_ALL = (*_FLOATS, *_WHOLE, C64, C128)

KNOWN = [
    Known("add.Scalar_out", "fails", (U8, I8, I16, *_16_BIT),
          lambda a: _does_not_fit(a["other"], torch.result_type(a["self"], a["other"])),
          "a number that the result's dtype cannot hold; eager wraps it around, or makes it infinite"),
    Known("clamp.out", "fails", (U8,),
          lambda a: any(isinstance(b, int) and b < 0 for b in (a["min"], a["max"])),
          "a bound below zero, which eager wraps around to a large one; upstream's kernels refuse it"),
    Known("copy.out copy_", "fails", _ALL, lambda a: a["non_blocking"], "a copy that is not waited for"),
    Known("index_put.out index_put_", "succeeds", (U8, I8, I32, I64, F16, F32, F64),
          lambda a: a["values"].numel() == 1 and any(i is not None and i.dtype == U8 for i in a["indices"]),
          "a mask of Byte for one value: eager has another code for this, which takes Bool alone"),
    Known("expand_copy.out", "fails", _ALL, lambda a: a["implicit"], "an implicit expansion, which no program has"),
    Known("constant_pad_nd.out", "fails", (I32, F16),
          lambda a: not any(a["pad"]) and _does_not_fit(a["value"], a["self"].dtype),
          "a value that does not fit, and is not needed"),
    Known("scatter.value_out", "fails", (I16,),
          lambda a: a["index"].numel() == 0 and _does_not_fit(a["value"], a["self"].dtype),
          "a value that does not fit, and is not needed"),
    Known("_upsample_bilinear2d_aa.out", "fails", (BOOL, I32, I64),
          lambda a: list(a["self"].shape[2:]) == a["output_size"],
          "no kernel for the dtype: eager does not look at it where sizes stay"),
    Known("addmm.out", "differs", (F32,), lambda a: a["alpha"] == 0, "eager does not multiply at all"),
    Known("embedding_dense_backward.out", "fails", _WHOLE, _always, "gradients are floats"),
    Known("convolution_backward.out avg_pool2d_backward.grad_input", "fails", (I64,), _always, "gradients are floats"),
    Known("_adaptive_avg_pool2d.out adaptive_avg_pool1d.out native_layer_norm_backward.out _pdist_forward.out"
          " scaled_dot_product_attention.out", "fails", _WHOLE, _computes_nothing,
          "no kernel for the dtype: eager does not look at it where nothing is computed"),
    Known("col2im.out", "fails", (BOOL,), _always, "sums of Bool, which eager takes for or"),
    Known("addmm.out", "succeeds", (BOOL,), _always, "Bool as numbers; eager has no kernel"),
    Known("_pdist_forward.out", "fails", _FLOATS, lambda a: a["self"].dim() != 2,
          "tensors that are not of rank 2, which pdist refuses"),
    Known("scaled_dot_product_attention.out", "differs", _FLOATS, _is_not_finite,
          "infinity and NaN that are masked out, or meet a weight of zero"),
    Known("_cdist_forward.out", "differs", (F32, F64),
          lambda a: a["p"] == math.inf and bool(a["x1"].isnan().any() or a["x2"].isnan().any()),
          "the largest difference where one is NaN: eager takes the others"),
    Known("_upsample_bilinear2d_aa.out", "differs", (F32, F64), lambda a: a["output_size"][1] == 1,
          "one column: eager gives every row the values of the first"),
    Known("scaled_dot_product_attention.out", "fails", _FLOATS,
          lambda a: a["dropout_p"] > 0 or _is_empty(a) or a["query"].shape[:-2] != a["value"].shape[:-2]
          or a["query"].shape[:-2] != a["key"].shape[:-2],
          "no dropout, no broadcasting of leading dims; eager does not check empty inputs"),
    Known("native_layer_norm.out native_layer_norm_backward.out native_group_norm.out native_group_norm_backward.out"
          " linear.out _embedding_bag.out embedding_dense_backward.out", "fails", (*_FLOATS, *INTS, C64),
          _in_other_order, "rows that are not contiguous"),
    Known("_embedding_bag.out", "differs", (F16,), _always,
          "the positions of bags, which only gradients need: eager fills them for Half alone"),
    Known("prod.out", "differs", (F16, I8),
          lambda a: a["dtype"] in _16_BIT or a["self"].dtype in _16_BIT,
          "products of 16-bit floats, which are wider here than in eager: they overflow later"),
]  # fmt: skip
NOT_FINITE = [
    NotFinite("gelu.out", (BF16,), "eager's vectors make infinity NaN"),
    NotFinite("sub.Scalar_out mean.out", (F16, C64), "complex infinity"),
    NotFinite("_fft_r2c.out", (F32, F64), "sums"),
    NotFinite("convolution.out convolution_backward.out", _FLOATS, "products with zeros of the padding",
              open=True, spread=True),
    NotFinite("_native_batch_norm_legit.out native_layer_norm.out native_group_norm.out native_layer_norm_backward.out"
              " native_group_norm_backward.out", _FLOATS, "scale and shift are one"),
    NotFinite("var_mean.correction_out", _FLOATS, "eager's running means give NaN for infinity"),
    NotFinite("upsample_bilinear2d.vec_out", (BF16,), "rows are mixed before columns"),
]  # fmt: skip


def first_dtype(arguments: Arguments) -> torch.dtype | None:
    """Of the first tensor, by which rows go."""
    return next((t.dtype for t in _tensors(arguments)), None)


def _has(row: Known | NotFinite, schema: Schema, arguments: Arguments) -> bool:
    name = schema.qualified_name.split("::")[1]
    return name in row.ops.split() and first_dtype(arguments) in row.dtypes


def arguments_of(schema: Schema, values: list[Any]) -> Arguments:
    return {a.name: v for a, v in zip(schema.arguments, values, strict=False)}


def known(schema: Schema, values: list[Any], problem: str) -> Known | None:
    """The row that explains a problem."""
    arguments = arguments_of(schema, values)
    for row in KNOWN:
        if _has(row, schema, arguments) and problem.startswith(row.kind) and row.when(arguments):
            return row
    return None


def open_elements(
    schema: Schema, values: list[Any], found: Tensor, wanted: Tensor
) -> list[tuple[NotFinite, Tensor]]:
    """Where a result need not equal eager's, by the row that says so."""
    arguments = arguments_of(schema, values)
    spreads = not all(bool(t.isfinite().all()) for t in _tensors(arguments))
    return [
        (row, _open_places(row, found, wanted, spreads and row.spread))
        for row in NOT_FINITE
        if _has(row, schema, arguments)
    ]


def _open_places(row: NotFinite, found: Tensor, wanted: Tensor, spreads: bool) -> Tensor:
    lost = ~wanted.isfinite() & (~found.isfinite() | row.open)
    return lost | wanted.isfinite() & found.isnan() if spreads else lost
