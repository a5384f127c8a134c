# SPDX-License-Identifier: BSD-3-Clause
"""The evaluator of ML Programs beside coremltools' own constant folding, where that has a value: at edges, halves,
infinities and negatives. What has none is listed, and so is where coremltools folds otherwise than Core ML says."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

from executorch.backends.apple.coreml.test.mil_data_movement import DATA_MOVEMENT
from executorch.backends.apple.coreml.test.mil_operations import OPERATIONS

mil = pytest.importorskip("coremltools.converters.mil.mil")
ct = pytest.importorskip("coremltools")

inf = np.inf
X = np.array(
    [0, 0.25, -0.25, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.75, 1e4, -1e4, inf, -inf], np.float32
)
UNIT = np.array([-1, -0.5, 0, 0.25, 1], np.float32)
POSITIVE = np.array([1e-6, 0.25, 1, 7, 1e4, inf], np.float32)
A, B = np.meshgrid(
    X[:-2], X[1:-2]
)  # a divisor of 0 and what is infinite on both sides have tests of their own
N, M = np.meshgrid(np.arange(-7, 8), np.array([-3, -2, 1, 2, 5]))
N, M = N.astype(np.int32), M.astype(np.int32)
T, F = np.array([True, True, False, False]), np.array([True, False, True, False])
CUBE = np.arange(-12, 12, dtype=np.float32).reshape(2, 3, 4) / 4
_ROW = np.float32([3, 1, 3, -2])

Call = dict[str, Any]
_TWO: list[Call] = [{"x": A, "y": B}, {"x": N, "y": M}]
_AXES: list[Call] = [
    {"x": CUBE},
    {"x": CUBE, "axes": [1], "keep_dims": True},
    {"x": CUBE, "axes": [-1, 0]},
]
_ALPHA = {"x": X, "alpha": np.float32(0.3)}
_BOTH = {**_ALPHA, "beta": np.float32(0.7)}
_SLICE = {"x": CUBE, "begin": [0, -2, 3], "end": [2, 3, 0], "stride": [1, 1, -2]}
_AT = {"x": CUBE, "indices": np.int32([2, 0, -1]), "axis": 1}

CALLS: dict[str, list[Call]] = {
    **{
        name: [{"x": X}]
        for name in (
            "abs ceil floor round sign square relu relu6 softsign sigmoid tanh sin cos atan erf exp exp2 sinh "
            "cosh tan softplus identity"
        ).split()
    },
    **{name: [{"x": UNIT}] for name in ("acos", "asin", "atanh")},
    **{name: [{"x": POSITIVE}] for name in ("sqrt", "rsqrt", "log", "inverse")},
    **dict.fromkeys(("add", "sub", "mul", "maximum", "minimum", "floor_div", "mod"), _TWO),
    "real_div": _TWO[:1],
    "pow": [{"x": np.abs(A), "y": np.clip(B, -3, 3)}, {"x": np.abs(N), "y": np.abs(M)}],
    **dict.fromkeys("equal not_equal greater greater_equal less less_equal".split(), _TWO),
    **{name: [{"x": T, "y": F}] for name in ("logical_and", "logical_or", "logical_xor")},
    "logical_not": [{"x": T}],
    "cast": [{"x": X[:-4], "dtype": each} for each in ("int32", "bool", "fp16")] + [{"x": N, "dtype": "fp32"}],
    "gelu": [{"x": X[:-2], "mode": each} for each in ("EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION")],
    "clip": [_BOTH],
    **{name: [_ALPHA] for name in ("threshold", "leaky_relu", "elu", "thresholded_relu")},
    **{name: [_BOTH] for name in ("scaled_tanh", "sigmoid_hard", "clamped_relu", "linear_activation")},
    "prelu": [{"x": CUBE.reshape(1, 3, 2, 4), "alpha": np.float32([0.1, -0.5, 2])}],
    "softplus_parametric": [{"x": CUBE, "alpha": np.float32([1, 2, 3]), "beta": np.float32([1, 0.5, 2])}],
    "softmax": [{"x": CUBE}, {"x": CUBE, "axis": 1}],
    **{
        f"reduce_{name}": _AXES
        for name in "max min sum mean prod l1_norm l2_norm sum_square log_sum_exp".split()
    },
    "reduce_log_sum": [{"x": np.abs(CUBE) + 1, "axes": [1]}],
    **{
        f"reduce_arg{name}": [{"x": _ROW, "axis": 0}, {"x": CUBE, "axis": 1, "keep_dims": True}]
        for name in ("max", "min")
    },
    "cumsum": [{"x": CUBE, "axis": 1, "exclusive": e, "reverse": r} for e in (False, True) for r in (False, True)],
    "select": [{"cond": T, "a": _ROW, "b": -_ROW}],
    "linear": [{"x": CUBE, "weight": CUBE[0], "bias": np.float32([1, 2, 3])}],
    "matmul": [{"x": CUBE, "y": CUBE, "transpose_y": True}, {"x": CUBE, "y": CUBE, "transpose_x": True}],
    "einsum": [{"values": (CUBE[None], CUBE.reshape(1, 4, 3, 2)), "equation": "abcd,adce->abce"}],
    "reshape": [{"x": CUBE, "shape": [4, -1]}, {"x": CUBE, "shape": [0, 0, -1]}],
    "squeeze": [{"x": CUBE[:1, None], "axes": [0]}, {"x": CUBE[:1, None]}],
    "expand_dims": [{"x": CUBE, "axes": [0, -1]}],
    "transpose": [{"x": CUBE, "perm": [2, 0, -2]}],
    "concat": [{"values": (CUBE, CUBE), "axis": 1}, {"values": (CUBE, -CUBE), "axis": 1, "interleave": True}],
    "stack": [{"values": (CUBE, -CUBE), "axis": 1}],
    "split": [{"x": CUBE, "num_splits": 2, "axis": 2}, {"x": CUBE, "split_sizes": [1, 2], "axis": 1}],
    "tile": [{"x": CUBE, "reps": [1, 2, 3]}],
    "reverse": [{"x": CUBE, "axes": [0, -1]}, {"x": CUBE}],
    "pad": [
        {"x": CUBE, "pad": [1, 2, 0, 1], "constant_val": np.float32(7)},
        {"x": CUBE, "pad": [1, 1, 2, 1], "mode": "reflect"},
        {"x": CUBE, "pad": [0, 1, 2, 1], "mode": "replicate"},
    ],
    "band_part": [{"x": CUBE, "lower": low, "upper": up} for low, up in ((1, 0), (-1, 1), (0, -1))],
    "slice_by_index": [
        _SLICE,
        {**_SLICE, "end_mask": [False, True, True]},
        {**_SLICE, "squeeze_mask": [True, False, False], "begin_mask": [False, True, False]},
    ],
    "slice_by_size": [{"x": CUBE, "begin": [0, 1, 2], "size": [2, -1, 1]}],
    "slice_update": [{"x": CUBE, "update": np.zeros((2, 1, 4), np.float32), "begin": [0, 1, 0], "end": [2, 2, 4]}],
    "gather": [_AT, {"x": CUBE, "indices": np.int32([[1, 0], [0, 1]]), "axis": 0}],
    "gather_along_axis": [{"x": CUBE, "indices": np.int32([[[2, 1, 0, -1]], [[0, 0, 1, 2]]]), "axis": 1}],
    "scatter_along_axis": [
        {"data": _ROW, "indices": np.int32([1, 3]), "updates": _ROW[:2], "axis": 0, "mode": each}
        for each in ("add", "update", "mul", "max")
    ],
    "topk": [{"x": CUBE, "k": 2, "axis": 1}, {"x": CUBE, "k": 3, "axis": -1, "ascending": True}],
    "argsort": [{"x": np.float32([[3, 1, 2, 9]]), "axis": 1}, {"x": CUBE, "axis": -1, "ascending": True}],
    "non_zero": [{"x": CUBE}],
    "shape": [{"x": CUBE}],
    "range_1d": [{"start": 1, "end": 8, "step": 3}, {"start": 5, "end": 0, "step": -2}],
    "fill": [{"shape": [2, 3], "value": np.float32(1.5)}],
    "fill_like": [{"ref_tensor": CUBE, "value": np.float32(1.5)}],
    "layer_norm": [
        {"x": CUBE, "axes": [-1], "epsilon": np.float32(0.1), "gamma": _ROW, "beta": -_ROW},
        {"x": CUBE, "axes": [1, 2]},
    ],
    "scaled_dot_product_attention": [
        {"query": CUBE, "key": -CUBE, "value": CUBE},
        {"query": CUBE, "key": -CUBE, "value": CUBE, "attn_mask": np.tri(3, dtype=np.float32)},
        {"query": CUBE, "key": -CUBE, "value": CUBE, "attn_mask": np.tri(3) > 0},
    ],
    "l2_norm": [{"x": CUBE[None]}],
    "quantize": [{"input": X[:-2], "scale": np.float32(0.25), "zero_point": np.int8(3), "output_dtype": "int8"}],
}  # fmt: skip

# coremltools folds none of these; their definitions are all that there is.
WITHOUT_VALUE = set(
    """
    avg_pool batch_norm constexpr_affine_dequantize constexpr_blockwise_shift_scale constexpr_lut_to_dense conv
    conv_transpose crop dequantize gather_nd instance_norm local_response_norm max_pool one_hot pixel_shuffle
    pixel_unshuffle random_bernoulli random_normal random_uniform resample resize_bilinear resize_nearest_neighbor
    scatter scatter_nd silu upsample_bilinear upsample_nearest_neighbor
    """.split()
)
# Its folding is another one than that of its documentation, by which the evaluator goes; the place is that of CALLS.
OTHERWISE = {
    "concat 1": "folds as if interleave were not said",
    "cumsum 2": "folding a reversed sum is a TypeError",
    "cumsum 3": "folding a reversed sum is a TypeError",
    "scatter_along_axis 0": "folds every mode as update",
    "scatter_along_axis 2": "folds every mode as update",
}


def folded(name: str, call: Call) -> list[Any]:
    """By coremltools."""
    found: list[Any] = []

    def program() -> Any:
        result = getattr(mil.Builder, name)(**call)
        found.extend(result if isinstance(result, list | tuple) else [result])
        return result

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        mil.Builder.program(input_specs=[], opset_version=ct.target.iOS18)(program)
    return [each.val for each in found]


def evaluated(name: str, call: Call) -> list[Any]:
    def given(value: Any) -> Any:
        if isinstance(value, tuple):
            return [given(each) for each in value]
        if isinstance(value, str):
            return value
        tensor = torch.as_tensor(np.asarray(value))
        return tensor if tensor.dtype in (torch.bool, torch.float32) else tensor.long()

    found = {**OPERATIONS, **DATA_MOVEMENT}[name](
        **{key: given(each) for key, each in call.items()}
    )
    return list(found) if isinstance(found, list | tuple) else [found]


def differs(name: str, call: Call) -> bool:
    try:
        expected = folded(name, call)
    except TypeError:
        return True
    pairs = [
        (mine.numpy().astype(np.float64), np.asarray(wanted).astype(np.float64))
        for mine, wanted in zip(evaluated(name, call), expected, strict=True)
    ]
    return not all(
        mine.shape == wanted.shape and np.allclose(mine, wanted, 2e-6, 1e-6, equal_nan=True)
        for mine, wanted in pairs
    )


def test_the_evaluator_is_what_coremltools_folds() -> None:
    found = {
        f"{name} {place}"
        for name, calls in CALLS.items()
        for place, call in enumerate(calls)
        if differs(name, call)
    }
    assert found == set(OTHERWISE)


def test_each_operation_that_coremltools_folds_is_asked() -> None:
    registry = pytest.importorskip("coremltools.converters.mil.mil.ops.registry").SSAOpRegistry
    without = set()
    for name in {**OPERATIONS, **DATA_MOVEMENT}:
        newest = max(registry.core_ops[name].items(), key=lambda each: each[0].value)[1]
        if newest.value_inference is mil.Operation.value_inference:
            without.add(name)
    assert without == WITHOUT_VALUE
    assert {*OPERATIONS, *DATA_MOVEMENT} - without == CALLS.keys()
