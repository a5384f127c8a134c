# SPDX-License-Identifier: BSD-3-Clause
"""Runs payloads on any computer: what each kind of node means, by PyTorch. Tests of values use it, as MPS itself is on
Apple's devices alone. It is as the one runtime of the format is, ExecuTorch 1.4.1's: what that computes otherwise than
PyTorch is so here, and what it refuses or ends on is Fault. It is stricter than a device may be: operands of one node
have one dtype, and results the sizes and dtypes that the payload says. What it does not know is Unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import torch
import torch.nn.functional as F

from executorch.backends.apple.mps.aot.schema import DATA_TYPES, graph_of, value_ids
from executorch.backends.test.conformance.backend import Run, Unknown

_DTYPES = {kind: dtype for dtype, kind in DATA_TYPES.items()}
_NARROW = (torch.float16, torch.bfloat16)
_ONE_DTYPE = frozenset(
    """MPSAdd MPSSub MPSMul MPSDiv MPSFmod MPSRemainder MPSMinimum MPSPow MPSBitwiseAnd MPSBitwiseOr MPSBitwiseXor
    MPSMatMul MPSAddmm MPSCat MPSConv2D MPSDepthwiseConv2D MPSBatchNorm MPSLayerNorm MPSEq MPSNe MPSGe MPSGt MPSLe
    MPSLt MPSScatter""".split()
)


class Fault(ValueError):
    """What the runtime refuses, reads out of bounds for, or ends the process on."""


def load(payload: bytes, data: Mapping[str, bytes] | None = None) -> Run:
    """The reference of backends/test/conformance."""
    return Machine(payload).run


class Machine:
    """One loaded payload."""

    def __init__(self, payload: bytes) -> None:
        self.graph, segment = graph_of(payload)
        self.constants = {each: self._constant(each, segment) for each in self.graph.constant_ids}

    def run(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        self.values: dict[int, torch.Tensor] = dict(self.constants)
        for place, given in zip(self.graph.input_ids, inputs, strict=True):
            self.values[place] = self._checked(place, given.detach())
        for node in self.graph.mps_nodes:
            self._run(node)
        return [self._checked(each, self.values[each]).clone() for each in self.graph.output_ids]

    def _constant(self, place: int, segment: bytes) -> torch.Tensor:
        tensor = self.graph.mps_values[place]
        dtype, start = _DTYPES[tensor.datatype], tensor.segment_offset or 0
        sizes, num_bytes = list(tensor.dims or ()), tensor.constant_buffer_size
        assert num_bytes == prod(sizes) * dtype.itemsize and start + num_bytes <= len(segment)
        data = bytearray(segment[start : start + num_bytes])
        return torch.frombuffer(data, dtype=dtype).reshape(sizes)

    def _run(self, node: Any) -> None:
        kind = node.mpsnode_union
        name = type(kind).__name__
        read = [self.values[each] for each in value_ids(kind, are_results=False)]
        if name in _ONE_DTYPE and len({each.dtype for each in _of_numbers(name, read)}) > 1:
            raise ValueError(f"{name}: operands of several dtypes: {[each.dtype for each in read]}")
        if name not in KINDS:
            raise Unknown(name)
        fields = {
            key: held for key, held in vars(kind).items() if not key.endswith(("_id", "_ids"))
        }
        found = KINDS[name](Call(self, kind, fields, node.min_max))
        found = list(found) if isinstance(found, list | tuple) else [found]
        floats = next((each.dtype for each in read if each.dtype.is_floating_point), None)
        first = vars(kind).get("output_ids") or [
            vars(kind).get("output_id", vars(kind).get("output1_id"))
        ]
        for place, value in zip(first, found, strict=True):
            if value.is_floating_point() and "dtype" not in fields and floats is not None:
                value = value.to(floats)
            self.values[place] = value if name == "MPSCast" else self._sized(place, name, value)

    def _sized(self, place: int, what: str, value: torch.Tensor) -> torch.Tensor:
        described = self.graph.mps_values[place]
        sizes, dtype = list(described.dims or ()), _DTYPES[described.datatype]
        is_half = value.dtype == torch.float16 and dtype == torch.float32  # inside, with use_fp16
        if list(value.shape) != sizes or (value.dtype != dtype and not is_half):
            found = f"{value.dtype} {list(value.shape)}"
            raise ValueError(f"{what}: the payload says {dtype} {sizes}, found {found}")
        return value

    def _checked(self, place: int, value: torch.Tensor) -> torch.Tensor:
        described = self.graph.mps_values[place]
        assert value.dtype == _DTYPES[described.datatype] and list(value.shape) == list(
            described.dims or ()
        )
        return value


class Call:
    """A node that runs: `call.input1` is the value of input1_id, in float32 where it is of halves, None where it is
    absent; other names are fields, 0 or empty where the file leaves them out."""

    def __init__(self, machine: Machine, kind: Any, fields: dict[str, Any], limits: Any) -> None:
        self._machine, self._kind, self.fields, self.limits = machine, kind, fields, limits

    def __getattr__(self, name: str) -> Any:
        if name in self.fields:
            return self.fields[name] or 0
        ids = vars(self._kind)
        if f"{name}_ids" in ids or name == "indices":
            found = ids[f"{name}_ids" if f"{name}_ids" in ids else "indices_id"]
            return [self._value(each) for each in found or ()]
        if f"{name}_id" in ids:
            return self._value(ids[f"{name}_id"])
        raise AttributeError(name)

    def _value(self, place: int | None) -> torch.Tensor | None:
        if place == -1:
            return None
        found = self._machine.values[place or 0]
        return found.float() if found.dtype in _NARROW else found

    @property
    def is_narrow(self) -> bool:
        """Whether it computes on floats of 16 bits."""
        ids = value_ids(self._kind, are_results=False)
        return any(self._machine.values[each].dtype in _NARROW for each in ids)

    @property
    def made_dtype(self) -> torch.dtype:
        return _DTYPES[self.fields["dtype"]]


def _of_numbers(name: str, read: list[torch.Tensor]) -> list[torch.Tensor]:
    """Without the places of a scatter."""
    return [read[0], read[-1]] if name == "MPSScatter" else read


def _unary(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Call], torch.Tensor]:
    return lambda call: function(call.input1)


def _binary(function: Callable[..., torch.Tensor]) -> Callable[[Call], torch.Tensor]:
    return lambda call: function(call.input1, call.input2)


def _divided(call: Call) -> torch.Tensor:
    if call.rounding_mode == "trunc":
        _not_in_halves(call)
    quotient = call.input1 / call.input2
    rounded = {0: torch.clone, "floor": torch.floor, "trunc": torch.trunc}[call.rounding_mode]
    return rounded(quotient)


def _remainder_of_truncated(call: Call) -> torch.Tensor:
    _not_in_halves(call)
    return torch.fmod(call.input1, call.input2)


def _not_in_halves(call: Call) -> None:
    if call.is_narrow:
        raise Fault("rounding to zero in halves ends the process")


def _gelu(call: Call) -> torch.Tensor:
    x = call.input1
    return x * torch.tanh(x) if call.approximate == "tanh" else F.gelu(x)


def _conv(call: Call) -> torch.Tensor:
    """Over one dimension, that of the rows is added before."""
    x, weight = call.input1, call.input2
    is_row = weight.dim() == 3
    if is_row:
        x, weight = x.unsqueeze(2), weight.unsqueeze(2)
    padding = (call.padding_left, call.padding_right, call.padding_top, call.padding_bottom)
    found = F.conv2d(
        F.pad(x, padding), weight, call.input3, (call.stride_y, call.stride_x), 0,
        (call.dilation_y, call.dilation_x), call.groups,
    )  # fmt: skip
    return found.squeeze(2) if is_row else found


def _windows(call: Call, x: torch.Tensor, filler: float) -> torch.Tensor:
    """[images, channels, kernel's elements, rows, columns] of a padded image; ceil_mode adds a window for a rest."""
    sides = (call.padding_left, call.padding_right, call.padding_top, call.padding_bottom)
    x = F.pad(x, sides, value=filler)
    for dim, size, stride, apart in (
        (2, call.kernel_height, call.stride_height, call.dilation_height),
        (3, call.kernel_width, call.stride_width, call.dilation_width),
    ):
        reach = apart * (size - 1) + 1
        rest = (reach - x.shape[dim]) % stride if call.ceil_mode else 0
        x = F.pad(x, [0, 0] * (3 - dim) + [0, rest], value=filler)
        x = x.unfold(dim, reach, stride)[..., ::apart]
    return x.flatten(4).permute(0, 1, 4, 2, 3)


def _max_pool(call: Call) -> torch.Tensor:
    return _windows(call, call.input1, -torch.inf).amax(2)


def _avg_pool(call: Call) -> torch.Tensor:
    total = _windows(call, call.input1, 0.0).sum(2)
    if call.divisor_override:
        return total / call.divisor_override
    if call.count_include_pad:
        return total / (call.kernel_height * call.kernel_width)
    return total / _windows(call, torch.ones_like(call.input1), 0.0).sum(2)


def _has_factors(call: Call) -> None:
    if call.weight is None or call.bias is None:
        raise Fault("a norm reads element -1 for a weight or bias that is absent")


def _batch_norm(call: Call) -> torch.Tensor:
    _has_factors(call)
    return F.batch_norm(
        call.input, call.mean, call.var, call.weight, call.bias, False, call.momentum, call.epsilon
    )


def _layer_norm(call: Call) -> torch.Tensor:
    _has_factors(call)
    return F.layer_norm(call.input1, call.normalized_shape, call.weight, call.bias, call.eps)


def _clamped(call: Call) -> torch.Tensor:
    return torch.clamp(call.input1, call.limits.min_value or 0.0, call.limits.max_value or 0.0)


def _full(call: Call) -> torch.Tensor:
    return torch.full(call.shape or [], call.fill_value, dtype=call.made_dtype)


def _range(call: Call) -> torch.Tensor:
    return torch.arange(call.start, call.end, call.step, dtype=call.made_dtype)


def _rows(call: Call) -> torch.Tensor:
    """That of padding_idx is zeros."""
    places = call.input2.long()
    is_padding = (places == call.padding_idx).unsqueeze(-1)
    return call.input1[places].masked_fill(is_padding, 0.0)


def _expanded(call: Call) -> torch.Tensor:
    if call.input1.dim() != len(call.shape or []):
        raise Fault("an expand to more dimensions is refused")
    return call.input1.expand(call.shape or [])


def _chosen(call: Call) -> torch.Tensor:
    return torch.ops.aten.index.Tensor(call.input1, _one_index(call))


def _put(call: Call) -> torch.Tensor:
    assert not call.values_shape, "values that are broadcast"
    return torch.ops.aten.index_put.default(call.input1, _one_index(call), call.values)


def _one_index(call: Call) -> list[torch.Tensor | None]:
    if sum(each is not None for each in call.indices) != 1:
        raise Fault("several indices are refused, or read other elements")
    return [None if each is None else each.long() for each in call.indices]


def _sliced(call: Call) -> torch.Tensor:
    places = torch.arange(call.start, call.end, call.step)
    return call.input1.index_select(call.dim, places)


def _scattered(call: Call) -> torch.Tensor:
    return call.input1.scatter(call.dim, call.idx, call.src)


def _permuted(call: Call) -> torch.Tensor:
    return call.input1.permute(call.perm or [])


KINDS: dict[str, Callable[[Call], Any]] = {
    **{
        f"MPS{name}": _unary(function)
        for name, function in {
            "Exp": torch.exp,
            "Exp2": torch.exp2,
            "Reciprocal": torch.reciprocal,
            "Sqrt": torch.sqrt,
            "Neg": torch.neg,
            "Log": torch.log,
            "Log10": torch.log10,
            "Log2": torch.log2,
            "Erf": torch.erf,
            "Floor": torch.floor,
            "Ceil": torch.ceil,
            "Rsqrt": torch.rsqrt,
            "Sigmoid": torch.sigmoid,
            "Sin": torch.sin,
            "Sign": torch.sign,
            "Cos": torch.cos,
            "Tan": torch.tan,
            "Abs": torch.abs,
            "Asin": torch.asin,
            "Acos": torch.acos,
            "Atan": torch.atan,
            "Sinh": torch.sinh,
            "Cosh": torch.cosh,
            "Tanh": torch.tanh,
            "Asinh": torch.asinh,
            "Acosh": torch.acosh,
            "Atanh": torch.atanh,
            "BitwiseNot": torch.bitwise_not,
            "Isnan": torch.isnan,
            "Isinf": torch.isinf,
            "Round": torch.round,
            "LogicalNot": torch.logical_not,
            "ReLU": torch.relu,
        }.items()
    },
    **{
        f"MPS{name}": _binary(function)
        for name, function in {
            "Mul": torch.mul,
            "Remainder": torch.remainder,
            "Minimum": torch.minimum,
            "Pow": torch.pow,
            "BitwiseAnd": torch.bitwise_and,
            "BitwiseOr": torch.bitwise_or,
            "BitwiseXor": torch.bitwise_xor,
            "MatMul": torch.matmul,
            "Eq": torch.eq,
            "Ne": torch.ne,
            "Ge": torch.ge,
            "Gt": torch.gt,
            "Le": torch.le,
            "Lt": torch.lt,
        }.items()
    },
    "MPSFmod": _remainder_of_truncated,
    "MPSAdd": lambda call: torch.add(call.input1, call.input2 * _number(call, call.alpha)),
    "MPSSub": lambda call: torch.sub(call.input1, call.input2 * _number(call, call.alpha)),
    "MPSDiv": _divided,
    "MPSHardTanh": lambda call: torch.clamp(call.input1, call.min_value, call.max_value),
    "MPSLeakyReLU": lambda call: F.leaky_relu(call.input1, call.negative_slope),
    "MPSGELU": _gelu,
    "MPSSoftmax": lambda call: torch.softmax(call.input1, call.dim),
    "MPSLogSoftmax": lambda call: torch.log(torch.softmax(call.input1, call.dim)),
    "MPSClamp": _clamped,
    "MPSWhere": lambda call: torch.where(call.input1, call.input2, call.input3),
    "MPSAddmm": lambda call: call.beta * call.input1 + call.alpha * (call.input2 @ call.input3),
    "MPSConv2D": _conv,
    "MPSDepthwiseConv2D": _conv,
    "MPSMaxPool2DWithIndices": _max_pool,
    "MPSAvgPool2D": _avg_pool,
    "MPSBatchNorm": _batch_norm,
    "MPSLayerNorm": _layer_norm,
    "MPSMean": lambda call: call.input1.mean(call.dims, keepdim=bool(call.keep_dims)),
    "MPSFull": _full,
    "MPSFullLike": lambda call: torch.full_like(
        call.input1, call.fill_value, dtype=call.made_dtype
    ),
    "MPSArange": _range,
    "MPSCast": lambda call: call.input1.to(call.made_dtype),
    "MPSPermute": _permuted,
    "MPSView": lambda call: call.input1.reshape(call.shape or []),
    "MPSExpand": _expanded,
    "MPSCat": lambda call: torch.cat(call.input, call.dim),
    "MPSSqueeze": lambda call: call.input1.squeeze(call.dims),
    "MPSUnsqueeze": lambda call: call.input1.unsqueeze(call.dim),
    "MPSSelect": lambda call: call.input1.select(call.dim, call.index),
    "MPSSlice": _sliced,
    "MPSSplitWithSizes": lambda call: call.input1.split(call.split_sizes, call.dim),
    "MPSPixelShuffle": lambda call: F.pixel_shuffle(call.input1, call.upscale_factor),
    "MPSConstantPadND": lambda call: F.pad(call.input1, call.pad, value=call.value),
    "MPSIndexSelect": lambda call: call.input1.index_select(call.dim, call.index),
    "MPSIndexTensor": _chosen,
    "MPSIndexPut": _put,
    "MPSEmbedding": _rows,
    "MPSScatter": _scattered,
}


def _number(call: Call, number: float) -> float:
    """As integers where the node computes on them."""
    return number if call.input1.is_floating_point() else int(number)
