# SPDX-License-Identifier: BSD-3-Clause
"""Operators that change types and encodings, and those that make values."""

from __future__ import annotations

import torch

from executorch.backends.qualcomm.test.reference.quantized_values import kind
from executorch.backends.qualcomm.test.reference.row import ANY, Call, Declared, Row, f32, flag


def _between(given: str, wanted: str):
    """Numbers stay; storing them makes the type or encoding. `given`, `wanted`: what the tensors have to be."""
    is_kind = {
        "quantized": lambda dtype: dtype.is_quantized,
        "float": lambda dtype: dtype.name.startswith("FLOAT"),
        "either": lambda dtype: kind(dtype) == "float",
    }

    def converted(call: Call, x, **_):
        for name, tensor in ((given, call.inputs[0]), (wanted, call.outputs[0])):
            if not is_kind[name](tensor.dtype):
                raise TypeError(f"{tensor.name} is {name}, found {tensor.dtype.name}")
        return x

    return converted


def _cast(call: Call, x):
    """Towards 0; the type is that of the output."""
    wanted = {"bool": torch.bool, "integer": torch.int64, "float": torch.float64}
    return x.to(wanted[kind(call.outputs[0].dtype)])


def _uniform(call: Call, shape, *, low, high, seed):
    made = torch.rand(call.outputs[0].dims, generator=_generator(seed))
    return made * (high - low) + low


def _normal(call: Call, shape, *, mean, scale, seed):
    return torch.randn(call.outputs[0].dims, generator=_generator(seed)) * scale + mean


def _generator(seed) -> torch.Generator:
    return torch.Generator().manual_seed(int(seed or 0))


_DYNAMIC = {"dynamic_input_data": flag(False), "dynamic_output_data": flag(False)}
_SEED = Declared(None, None)

ROWS = {
    "Quantize": Row(_between("float", "quantized"), takes_call=True, takes=(ANY,), converts=True),
    "Dequantize": Row(_between("quantized", "float"), takes_call=True, takes=(ANY,), converts=True),
    "Convert": Row(
        _between("either", "either"),
        parameters=_DYNAMIC,
        takes_call=True,
        takes=(ANY,),
        converts=True,
    ),
    "Cast": Row(_cast, takes_call=True, takes=(ANY,), converts=True),
    "RandomUniformLike": Row(
        _uniform,
        parameters={"low": f32(0.0), "high": f32(1.0), "seed": _SEED},
        takes_call=True,
        takes=(ANY,),
        converts=True,
    ),
    "RandomNormalLike": Row(
        _normal,
        parameters={"mean": f32(0.0), "scale": f32(1.0), "seed": _SEED},
        takes_call=True,
        takes=(ANY,),
        converts=True,
    ),
}
