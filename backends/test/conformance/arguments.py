# SPDX-License-Identifier: BSD-3-Clause
"""Calls of operators, each with its arguments varied one at a time: what a row of a table must read, or have a
condition on. `samples()`: one call per operator; `variations()`: those that eager computes, with what it gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from executorch.backends.test.conformance.single_call import Call, Data, has_tensor
from executorch.backends.test.corpus.row import integers, numbers

# What says where and how a tensor lies, or what training does with it.
_BESIDE = frozenset(
    """device generator layout memory_format momentum non_blocking pin_memory scale_grad_by_freq sparse sparse_grad
    half_to_float implicit""".split()
)
_WORDS = {"none": ["tanh"], "floor": ["trunc"], "trunc": ["floor"]}


X, Y, POSITIVE = numbers(4, 6), numbers(4, 6) + 0.5, numbers(4, 6).abs() + 0.3
IMAGE, ROW, CUBE = numbers(2, 4, 6, 8), numbers(2, 4, 9), numbers(1, 4, 4, 6, 5)
LIKE, COLUMN = numbers(6, 6), Data(numbers(4))
MATRIX, BATCH = numbers(6, 5), numbers(2, 3, 4)
FOUR = [Data(numbers(4) + each) for each in (1.0, 0.0)]
STATISTICS = [Data(numbers(4)), Data(numbers(4).abs() + 0.5)]
WEIGHT, TURNED = Data(numbers(4, 2, 3, 3)), Data(numbers(4, 3, 3, 3))
SIX = Data(numbers(6) + 1)
TWO = [2, 2]

SAMPLES: dict[str, tuple[Any, ...]] = {
    "_adaptive_avg_pool2d.default": (IMAGE, [2, 4]),
    "_log_softmax.default": (IMAGE, 1, False),
    "_native_batch_norm_legit_no_training.default": (IMAGE, *FOUR, *STATISTICS, 0.1, 1e-5),
    "_softmax.default": (IMAGE, 1, False),
    "add.Scalar": (X, 0.5, 1),
    "add.Tensor": (X, Y),
    "addcmul.default": (X, X, Y),
    "addmm.default": (Data(numbers(5)), X, MATRIX),
    "amax.default": (IMAGE, [1, 2]),
    "amin.default": (IMAGE, [-1], True),
    "argmax.default": (IMAGE, 1),
    "argmin.default": (IMAGE, 1),
    "avg_pool1d.default": (ROW, [3], [2], [1]),
    "avg_pool2d.default": (IMAGE, [3, 3], [2, 2], [1, 1]),
    "avg_pool3d.default": (CUBE, [2, 2, 2], [1, 1, 1], [1, 1, 1]),
    "baddbmm.default": (numbers(2, 3, 5), BATCH, numbers(2, 4, 5)),
    "bmm.default": (BATCH, numbers(2, 4, 5)),
    "cat.default": ([LIKE, LIKE.flip(0)],),
    "celu.default": (X, 0.7),
    "clamp.default": (X, -0.5, 0.7),
    "clamp_max.default": (X, 0.3),
    "clamp_min.default": (X, 0.3),
    "constant_pad_nd.default": (IMAGE, [1, 2, 0, 1], 0.5),
    "convolution.default": (IMAGE, WEIGHT, COLUMN, TWO, [1, 1], [1, 1], False, [0, 0], 2),
    "cosine_similarity.default": (X, Y),
    "cumsum.default": (X, 1),
    "div.Scalar": (X, 0.5),
    "div.Scalar_mode": (X, 0.4),
    "div.Tensor_mode": (X, Y),
    "elu.default": (X, 0.5, 1.5, 2.0),
    "embedding.default": (Data(MATRIX), integers(6, 2, 3)),
    "eq.Scalar": (integers(4, 3, 5).float(), 1.0),
    "expand_copy.default": (X[:1], [3, 6]),
    "fill.Scalar": (X, 0.5),
    "flip.default": (IMAGE, [1]),
    "floor_divide.default": (X, 0.4),
    "fmod.Scalar": (X, 0.4),
    "full_like.default": (X, 0.5),
    "gather.default": (LIKE, 1, integers(6, 6, 6)),
    "ge.Scalar": (X, 0.25),
    "gelu.default": (X,),
    "glu.default": (LIKE,),
    "gt.Scalar": (X, 0.25),
    "hardshrink.default": (X, 0.3),
    "hardtanh.default": (X, -0.5, 0.7),
    "index_select.default": (LIKE, 0, Data(torch.tensor([2, 0, 5]))),
    "instance_norm.default": (IMAGE, *FOUR, None, None, True, 0.1, 1e-5, False),
    "le.Scalar": (X, 0.25),
    "leaky_relu.default": (X, 0.2),
    "lerp.Scalar": (X, Y, 0.3),
    "linalg_vector_norm.default": (X, 2, [1]),
    "linear.default": (X, Data(numbers(5, 6)), Data(numbers(5))),
    "logit.default": (X.sigmoid(), 0.3),
    "lt.Scalar": (X, 0.25),
    "max.dim": (IMAGE, 1),
    "max_pool2d.default": (IMAGE, [3, 3], [2, 2], [1, 1]),
    "max_pool2d_with_indices.default": (IMAGE, [3, 3], [2, 2], [1, 1]),
    "max_pool3d_with_indices.default": (CUBE, [2, 2, 2], [1, 1, 1]),
    "mean.default": (X,),
    "mean.dim": (IMAGE, [2, 3]),
    "min.dim": (IMAGE, 1),
    "mul.Scalar": (X, 0.5),
    "nan_to_num.default": ((X / 0).where(X.abs() > 0.5, X.log()), 0.1, 2.0, -3.0),
    "native_group_norm.default": (IMAGE, *FOUR, 2, 4, 48, 2, 1e-2),
    "native_layer_norm.default": (X, [6], SIX, Data(numbers(6)), 1e-2),
    "ne.Scalar": (integers(4, 3, 5).float(), 1.0),
    "permute_copy.default": (IMAGE, [0, 2, 3, 1]),
    "pixel_shuffle.default": (IMAGE, 2),
    "pow.Scalar": (2.5, X),
    "pow.Tensor_Scalar": (POSITIVE, 3.0),
    "prod.dim_int": (X, 1),
    "remainder.Scalar": (X, 0.4),
    "repeat.default": (X, [1, 2]),
    "rms_norm.default": (X, [6], SIX, 0.3),
    "roll.default": (LIKE, [1], [1]),
    "round.decimals": (X,),
    "rsub.Scalar": (X, 0.5),
    "rsub.Tensor": (X, Y),
    "select_copy.int": (LIKE, 1, 2),
    "select_scatter.default": (LIKE, numbers(6), 0, 1),
    "slice_copy.Tensor": (LIKE, 1, 1, 5, 2),
    "slice_scatter.default": (LIKE, numbers(6, 2), 1, 1, 5, 2),
    "softplus.default": (X, 2.0, 0.5),
    "softshrink.default": (X, 0.3),
    "split_with_sizes_copy.default": (LIKE, [2, 4], 1),
    "stack.default": ([LIKE, LIKE.flip(0)],),
    "sub.Scalar": (X, 0.5, 1),
    "sub.Tensor": (X, Y),
    "sum.dim_IntList": (IMAGE, [2, 3]),
    "threshold.default": (X, 0.2, 0.7),
    "topk.default": (LIKE, 2),
    "transpose_copy.int": (LIKE[:, :6].reshape(6, 2, 3), 0, 1),
    "tril.default": (LIKE,),
    "triu.default": (LIKE,),
    "upsample_bilinear2d.vec": (IMAGE, [9, 12], False, None),
    "upsample_nearest2d.vec": (IMAGE, [12, 16], None),
    "var.correction": (IMAGE, [1, 2]),
    "var.dim": (IMAGE, [1, 2]),
    "view_copy.default": (X, [6, 4]),
}
# Again, in another way that the same row takes.
_MORE: dict[str, tuple[Any, ...]] = {
    "convolution.default": (IMAGE, TURNED, None, TWO, [1, 1], [1, 1], True, [1, 1], 1),
}
_KEYWORDS: dict[str, dict[str, Any]] = {
    "div.Scalar_mode": {"rounding_mode": "trunc"},
    "div.Tensor_mode": {"rounding_mode": "floor"},
    "round.decimals": {"decimals": 1},
    "var.correction": {"correction": 1},
}


def samples() -> Iterator[Call]:
    for name, args in SAMPLES.items():
        for each in filter(None, (args, _MORE.get(name))):
            yield Call(f"aten.{name}", each, _KEYWORDS.get(name, {}))


def variations(sample: Call, most: int = 3) -> Iterator[tuple[Call, list[Any]]]:
    """The sample first; then, of each argument that is no tensor, up to `most` values that change what eager gives."""
    base = sample.eager()
    yield sample, base
    for place, argument in enumerate(sample.op._schema.arguments):
        if argument.name in _BESIDE:
            continue
        found = 0
        for value in _others(sample, place, argument):
            call = _with(sample, place, argument, value)
            try:
                made = call.eager()
            except (IndexError, RuntimeError, TypeError, ValueError):
                continue
            if found < most and differ(base, made):
                found += 1
                yield call, made


def differ(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two calls give what no rounding explains."""
    pairs = list(zip(one, other, strict=False))
    return len(one) != len(other) or any(_differ(*pair) for pair in pairs)


def _differ(one: Any, other: Any) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return one != other
    if one.shape != other.shape:
        return True
    # of another dtype a runtime may give the same values, rounded at the end
    near = 1e-6 if one.dtype == other.dtype else 1e-2
    return not torch.allclose(one.double(), other.double(), rtol=near, atol=near, equal_nan=True)


def _others(sample: Call, place: int, argument: Any) -> list[Any]:
    """Values that an argument may have instead; of a bias that it may lack, None."""
    given = sample.kwargs.get(argument.name, argument.default_value)
    given = sample.args[place] if place < len(sample.args) else given
    text = str(argument.type)
    if isinstance(given, Data | Tensor) or has_tensor(given):
        return [None] if text.startswith("Optional") else []
    if argument.name.endswith("dtype"):
        return [torch.float16, torch.float64]
    match given:
        case bool():
            return [not given]
        case int():
            return [given + 1, given - 1, given + 0.5, 2, 0, -1]
        case float():
            return [given + 0.5, given * 2, given - 0.6, given + 1]
        case str():
            return _WORDS.get(given, [])
        case list():
            each = [[v + 1 for v in given], [v - 1 for v in given], given[::-1], given[:-1]]
            return [*each, [*given[:-1], given[-1] + 1], [0] * len(given), [1] * len(given)]
        case None if "List[float]" in text:
            return [[2.0, 2.0], [1.5, 1.5]]
        case None if "List" in text:
            return [[1], [0, 1]]
        case None if "bool" in text:
            return [True, False]
        case None:
            return [1, 2, 0.3, 0.9]
    return []


def _with(sample: Call, place: int, argument: Any, value: Any) -> Call:
    if argument.kwarg_only:
        kwargs = {**sample.kwargs, argument.name: value}
        return replace(sample, kwargs=kwargs, varied=argument.name)
    between = sample.op._schema.arguments[len(sample.args) : place]
    args = [*sample.args, *(each.default_value for each in between)]
    return replace(sample, args=(*args[:place], value, *args[place + 1 :]), varied=argument.name)
