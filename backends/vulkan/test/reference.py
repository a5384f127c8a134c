# SPDX-License-Identifier: BSD-3-Clause
"""Runs payloads in Python, of this compiler and of others: what each operator of the chain means, by PyTorch's own and
by the eager operators of et_vk. Tests of values use it where no GPU driver is."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import torch

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401  defines et_vk
from executorch.backends.test.conformance.backend import Run
from executorch.backends.vulkan.aot.schema import DATA_TYPES, SCHEMA
from executorch.exir.backend.lowering.payload.blocks import VULKAN_HEADER

_DTYPES = {kind: dtype for dtype, kind in DATA_TYPES.items()}
_SIZES = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "floordiv", "lt", "gt", "le", "ge", "eq")
}
_LONG = {"aten.gather.default": 2, "aten.index_select.default": 2, "aten.index.Tensor": 1}


def graph_of(payload: bytes) -> Any:
    return SCHEMA.unpack(VULKAN_HEADER.read(bytes(payload))["flatbuffer"])


class Machine:
    """One loaded payload; caches and buffers keep what runs left in them."""

    def __init__(self, payload: bytes, data: Mapping[str, bytes]) -> None:
        self.graph = graph_of(payload)
        self.values: list[Any] = [self._loaded(each.value, data) for each in self.graph.values]
        for call in self.graph.chain:
            if call.name == "et_vk.prepack.default":
                source, target = call.args
                self.values[target] = self.values[source].clone()

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        for place, given in zip(self.graph.input_ids, inputs, strict=True):
            kind = type(self.graph.values[place].value).__name__
            is_size = kind == "SymInt" and isinstance(given, torch.Tensor)
            given = given.contiguous() if isinstance(given, torch.Tensor) else given
            self.values[place] = int(given) if is_size else self._inside(place, given)
        for call in self.graph.chain:
            if call.name != "et_vk.prepack.default":
                self._call(call)
        return [self._outside(place) for place in self.graph.output_ids]

    def _loaded(self, value: Any, data: Mapping[str, bytes]) -> Any:
        kind = type(value).__name__
        if kind != "VkTensor":
            return None if kind in ("Null", "SymInt") else value
        if value.constant_id is None or value.constant_id < 0:
            return None
        entry = self.graph.constants[value.constant_id]
        dtype = _DTYPES[value.datatype]
        if not entry.length:
            return torch.empty(value.dims, dtype=dtype)
        raw = bytearray(data[entry.named_key])
        assert len(raw) == entry.length
        return torch.frombuffer(raw, dtype=dtype).reshape(value.dims)

    def _inside(self, place: int, given: Any) -> Any:
        if not isinstance(given, torch.Tensor):
            return given
        return given.to(_DTYPES[self.graph.values[place].value.datatype])

    def _outside(self, place: int) -> Any:
        found, declared = self.values[place], self.graph.values[place].value
        if not isinstance(found, torch.Tensor):
            return found
        return found.to(_DTYPES[declared.staging_datatype])

    def _argument(self, place: int) -> Any:
        declared, found = self.graph.values[place].value, self.values[place]
        match type(declared).__name__:
            case "VkTensor" | "SymInt" | "Null":
                return found
            case "ValueList":
                return [self._argument(each) for each in declared.items]
            case "IntList" | "DoubleList" | "BoolList":
                return list(declared.items)
            case _:
                return next(iter(vars(declared).values()))

    def _call(self, call: Any) -> None:
        *given, out = call.args
        args = [self._argument(each) for each in given]
        for place in [_LONG[call.name]] if call.name in _LONG else []:
            args[place] = torch.utils._pytree.tree_map(torch.Tensor.long, args[place])
        declared = self.graph.values[out].value
        outs = declared.items if type(declared).__name__ == "ValueList" else [out]
        found = self._compute(call.name, args, outs)
        for place, each in zip(
            outs, found if isinstance(found, list | tuple) else [found], strict=True
        ):
            self._store(place, each)

    def _store(self, place: int, found: Any) -> None:
        found = self._inside(place, found)
        held = self.values[place]
        if isinstance(held, torch.Tensor) and self._stays(place):
            held.copy_(found)
        else:
            self.values[place] = found

    def _stays(self, place: int) -> bool:
        """What a call of prepack fills: a buffer that another call writes."""
        return any(
            call.name == "et_vk.prepack.default" and call.args[1] == place
            for call in self.graph.chain
        )

    def _compute(self, name: str, args: list[Any], outs: Sequence[int]) -> Any:
        if name in _SPECIAL:
            return _SPECIAL[name](self, args, outs)
        if name in _SIZES:
            return int(_SIZES[name](*args))
        op = reduce(getattr, name.split("."), torch.ops)
        schema = op._schema.arguments
        named = {each.name: arg for each, arg in zip(schema, args, strict=True) if each.kwarg_only}
        return op(*args[: len(args) - len(named)], **named)

    def dtype(self, place: int) -> torch.dtype:
        return _DTYPES[self.graph.values[place].value.datatype]


def _converted(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    return args[0].to(machine.dtype(outs[0]), copy=True)


def _range(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    return torch.arange(*args[:3], dtype=machine.dtype(outs[0]))


def _full(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    return torch.full(args[0], args[1], dtype=machine.dtype(outs[0]))


def _full_like(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    return torch.full_like(args[0], args[1], dtype=machine.dtype(outs[0]))


def _of(number: int, like: bool) -> Callable[..., torch.Tensor]:
    def make(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
        sizes = args[0].shape if like else args[0]
        return torch.full(sizes, number, dtype=machine.dtype(outs[0]))

    return make


def _scalar(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    return torch.tensor(args[0], dtype=machine.dtype(outs[0]))


def _quantize(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    x, scale, point, low, high = args[:5]
    return torch.clamp(torch.round(x * (1 / scale)) + point, low, high).to(machine.dtype(outs[0]))


def _dequantize(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    q, scale, point = args[:3]
    return ((q.float() - point) * scale).to(machine.dtype(outs[0]))


def _int8_mm(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    x, weight, scales = args
    return torch.nn.functional.linear(x, weight.to(x.dtype) * scales.unsqueeze(1).to(x.dtype))


def _choose_affine(machine: Machine, args: list[Any], outs: Sequence[int]) -> Any:
    x, _, _, _, low, high, eps = args[:7]
    least, most = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
    scale = torch.clamp((most - least) / (high - low), min=eps if eps is not None else 1e-9)
    return scale, torch.clamp(low - torch.round(least / scale), low, high)


def _attention(machine: Machine, args: list[Any], outs: Sequence[int]) -> torch.Tensor:
    q, k, v, k_cache, v_cache, start = args[:6]
    rows = q.shape[1]
    k_cache[:, start : start + rows] = k
    v_cache[:, start : start + rows] = v
    heads = q.shape[2] // k.shape[2]
    keys, values = (
        each[:, : start + rows].transpose(1, 2).repeat_interleave(heads, 1)
        for each in (k_cache, v_cache)
    )
    mask = torch.arange(start + rows)[None] <= torch.arange(start, start + rows)[:, None]
    logits = (q.transpose(1, 2) @ keys.transpose(-2, -1)) * q.shape[-1] ** -0.5
    weights = torch.softmax(logits.masked_fill(~mask, -torch.inf), -1)
    return (weights @ values).transpose(1, 2)


def _element(machine: Machine, args: list[Any], outs: Sequence[int]) -> int:
    x, dim, index = args
    return int(x.select(dim, index))


def _size(machine: Machine, args: list[Any], outs: Sequence[int]) -> int:
    return int(args[0].shape[args[1]])


_SPECIAL: dict[str, Callable[[Machine, list[Any], Sequence[int]], Any]] = {
    "aten._to_copy.default": _converted,
    "dim_order_ops._to_dim_order_copy.default": _converted,
    "dim_order_ops._clone_dim_order.default": _converted,
    "aten.arange.start_step": _range,
    "aten.full.default": _full,
    "aten.full_like.default": _full_like,
    "aten.zeros.default": _of(0, like=False),
    "aten.ones.default": _of(1, like=False),
    "aten.zeros_like.default": _of(0, like=True),
    "aten.ones_like.default": _of(1, like=True),
    "aten.scalar_tensor.default": _scalar,
    "aten._weight_int8pack_mm.default": _int8_mm,
    "quantized_decomposed.quantize_per_tensor.default": _quantize,
    "quantized_decomposed.dequantize_per_tensor.default": _dequantize,
    "torchao.choose_qparams_affine.default": _choose_affine,
    "sdpa_with_kv_cache.default": _attention,
    "et_vk.select_as_symint.default": _element,
    "sym_size.int": _size,
}


def load(payload: bytes, data: Mapping[str, bytes]) -> Run:
    return Machine(payload, data).run
