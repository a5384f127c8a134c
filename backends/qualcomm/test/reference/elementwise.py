# SPDX-License-Identifier: BSD-3-Clause
"""Operators of one element, or of elements at one place."""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import functional as F

from executorch.backends.qualcomm.test.reference.row import (
    ANY,
    BOOL,
    FLOAT,
    NUMBER,
    Row,
    enum,
    f32,
    flag,
)

# In the order of the numbers of ElementWiseUnary's and ElementWiseBinary's operations.
_UNARY = {
    "Abs": torch.abs,
    "Asin": torch.asin,
    "Atan": torch.atan,
    "Ceil": torch.ceil,
    "Cos": torch.cos,
    "Exp": torch.exp,
    "Floor": torch.floor,
    "Log": torch.log,
    "Neg": torch.neg,
    "Not": torch.logical_not,
    "Reciprocal": torch.reciprocal,
    "Round": torch.round,
    "Rsqrt": torch.rsqrt,
    "Sign": torch.sign,
    "Sin": torch.sin,
    "SquareRoot": torch.sqrt,
}


def _divide(x, y):
    return torch.div(x, y, rounding_mode=None if x.is_floating_point() else "trunc")


_BINARY = {
    "Add": torch.add,
    "And": torch.logical_and,
    "Divide": _divide,
    "Equal": torch.eq,
    "FloorDiv": torch.floor_divide,
    "Fmod": torch.fmod,
    "Greater": torch.gt,
    "GreaterEqual": torch.ge,
    "Less": torch.lt,
    "LessEqual": torch.le,
    "Maximum": torch.maximum,
    "Minimum": torch.minimum,
    "Mod": torch.remainder,
    "Multiply": torch.mul,
    "NotEqual": torch.ne,
    "Or": torch.logical_or,
    "Power": torch.pow,
    "SquaredDifference": lambda x, y: (x - y) ** 2,
    "Subtract": torch.sub,
    "Xor": torch.logical_xor,
}


def _numbered(functions, *inputs, operation):
    return list(functions.values())[operation](*inputs)


def _elu(x, *, alpha):
    return F.elu(x, alpha)


def _hard_sigmoid(x, *, alpha, beta):
    return (x * alpha + beta).clamp(0, 1)


def _relu_min_max(x, *, min_value, max_value):
    return x.clamp(min_value, max_value)


def _softplus(x, *, beta, threshold):
    return F.softplus(x, beta, threshold)


# In the order of the numbers of ElementWiseNeuron's operations; each with the parameters that it reads.
_NEURONS = (
    (_elu, "alpha"),
    (F.gelu,),
    (_hard_sigmoid, "alpha", "beta"),
    (F.hardswish,),
    (F.relu,),
    (_relu_min_max, "min_value", "max_value"),
    (torch.sigmoid,),
    (_softplus, "beta", "threshold"),
    (torch.tanh,),
)


def _neuron(x, *, operation, **parameters):
    function, *names = _NEURONS[operation]
    return function(x, **{name: parameters[name] for name in names})


def _prelu(x, coefficient):
    if torch.broadcast_shapes(x.shape, coefficient.shape) != x.shape:
        raise ValueError(f"coefficients of {tuple(coefficient.shape)} for {tuple(x.shape)}")
    return torch.where(x < 0, x * coefficient, x)


def _select(condition, x, y):
    return torch.where(condition, x, y)


def _is_inf(x, *, detect_negative, detect_positive):
    return torch.isneginf(x) & detect_negative | torch.isposinf(x) & detect_positive


# Of those that are not of floats (one input), or of numbers (two).
_KINDS = {
    "Abs": (NUMBER,),
    "Neg": (NUMBER,),
    **dict.fromkeys(("Not", "And", "Or", "Xor"), (BOOL,)),
}

ROWS = {
    **{
        f"ElementWise{name}": Row(each, takes=_KINDS.get(name, (FLOAT,)))
        for name, each in _UNARY.items()
        if name != "Reciprocal"
    },
    **{
        f"ElementWise{name}": Row(each, (2, 2), takes=_KINDS.get(name, (NUMBER,)))
        for name, each in _BINARY.items()
    },
    "ElementWiseUnary": Row(
        partial(_numbered, _UNARY), parameters={"operation": enum(len(_UNARY))}, takes=(ANY,)
    ),
    "ElementWiseBinary": Row(
        partial(_numbered, _BINARY), (2, 2), {"operation": enum(len(_BINARY))}, takes=(NUMBER,)
    ),
    "ElementWiseNeuron": Row(
        _neuron,
        parameters={
            "operation": enum(len(_NEURONS)),
            "alpha": f32(1.0),
            "beta": f32(1.0),
            "min_value": f32(0.0),
            "max_value": f32(0.0),
            "threshold": f32(20.0),
        },
    ),
    "ElementWiseSelect": Row(_select, (3, 3), takes=(BOOL, ANY)),
    "Relu": Row(F.relu),
    "Sigmoid": Row(torch.sigmoid),
    "Tanh": Row(torch.tanh),
    "Gelu": Row(F.gelu),
    "HardSwish": Row(F.hardswish),
    "Elu": Row(_elu, parameters={"alpha": f32(1.0)}),
    "Prelu": Row(_prelu, (2, 2)),
    "ReluMinMax": Row(_relu_min_max, parameters={"min_value": f32(), "max_value": f32()}),
    "IsInf": Row(
        _is_inf, parameters={"detect_negative": flag(True), "detect_positive": flag(True)}
    ),
    "IsNan": Row(torch.isnan),
}
