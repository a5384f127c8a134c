# SPDX-License-Identifier: BSD-3-Clause
"""What the source needs of a program file: tensors with their places, calls with their arguments, bytes of weights."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..model_operators import ModelError, as_json, kernel_key, operator_name, scalar_types

# Bytes of an element; the dtypes that planned tensors have here.
ELEMENT_BYTES = {
    **dict.fromkeys(("BYTE", "CHAR", "BOOL"), 1),
    **dict.fromkeys(("SHORT", "HALF", "BFLOAT16", "UINT16"), 2),
    **dict.fromkeys(("INT", "FLOAT", "UINT32"), 4),
    **dict.fromkeys(("LONG", "DOUBLE", "UINT64"), 8),
}
VIEW = "executorch_prim::et_view.default"
# How a program comes to call kernels that are here.
FOR_KERNELS = "--backend none, or in int8 --backend cortex_m --quantize int8"


class CannotWrite(ValueError):
    """The program has what the source cannot: the message lists it, and says what to do."""


@dataclass(frozen=True)
class Tensor:
    """One tensor value. `arena` is 0 for weights (bytes at `offset` of `weights`) and for memory of its own."""

    dtype: str
    number: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    arena: int
    offset: int
    weights: bytes | None
    start: bytes | None

    @property
    def nbytes(self) -> int:
        return math.prod(self.sizes) * ELEMENT_BYTES[self.dtype]

    @property
    def strides(self) -> tuple[int, ...]:
        strides, step = [0] * len(self.sizes), 1
        for dim in reversed(self.dim_order):
            strides[dim] = step
            step *= max(self.sizes[dim], 1)
        return tuple(strides)


@dataclass(frozen=True)
class Call:
    """One kernel call: the operator, its kernel key, and indices of the values it is given."""

    operator: str
    key: str
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """A method of a program."""

    method: str
    values: list[dict[str, Any]]
    tensors: dict[int, Tensor]
    calls: list[Call]
    inputs: list[int]
    outputs: list[int]
    arenas: list[int]  # bytes by memory id; the first is not used


def read_plan(path: Path, method: str) -> Plan:
    """The method of the program at `path`. Raises ModelError for a file that is none, CannotWrite for what the source
    cannot have."""
    program = as_json(path)
    plans = {plan["name"]: plan for plan in program["execution_plan"]}
    if method not in plans:
        raise ModelError(f"{path}: expected a method {method}, found {', '.join(plans)}")
    plan = plans[method]
    _refuse(path, plan)
    file = _Segments(path, program)
    types = scalar_types()
    values = plan["values"]
    tensors = {
        index: _tensor(value["val"], types, file)
        for index, value in enumerate(values)
        if value.get("val_type") == "Tensor"
    }
    names = [operator_name(operator) for operator in plan.get("operators", [])]
    calls = []
    for instruction in plan["chains"][0].get("instructions", []):
        call = instruction["instr_args"]
        key = kernel_key([values[i] for i in call["args"]], types)
        calls.append(Call(names[call["op_index"]], key, tuple(call["args"])))
    sizes = [int(size) for size in plan.get("non_const_buffer_sizes", [])]
    return Plan(method, values, tensors, calls, plan["inputs"], plan["outputs"], sizes)


def _refuse(path: Path, plan: dict[str, Any]) -> None:
    """All that stands in the way, in one error."""
    found = [
        f"a delegate of {delegate['id']}: `executorch export` it with {FOR_KERNELS}"
        for delegate in plan.get("delegates", [])
    ]
    chains = plan.get("chains", [])
    if len(chains) != 1:
        found.append(f"{len(chains)} chains of instructions, expected 1")
    instructions = [i for chain in chains for i in chain.get("instructions", [])]
    others = {i["instr_args_type"] for i in instructions} - {
        "KernelCall",
        "DelegateCall",
        "FreeCall",
    }
    if others:
        found.append(f"control flow ({', '.join(sorted(others))}): export the branches as methods")
    values = plan["values"]
    for index in {*plan["inputs"], *plan["outputs"]}:
        if (kind := values[index].get("val_type")) != "Tensor":
            found.append(f"an input or output that is a {kind}, expected tensors alone")
    for value in values:
        tensor = value["val"] if value.get("val_type") == "Tensor" else {}
        if tensor.get("shape_dynamism", "STATIC") != "STATIC":
            found.append(
                f"a tensor of dynamic size, at most {tensor.get('sizes')}: export with fixed sizes"
            )
        if (extra := tensor.get("extra_tensor_info")) and extra.get("location") == "EXTERNAL":
            name = extra.get("fully_qualified_name")
            found.append(f"weights in a data file ({name}): export without external_constants")
        dtype = tensor.get("scalar_type", "FLOAT")
        if dtype not in ELEMENT_BYTES:
            found.append(f"a tensor of dtype {dtype}")
    if found:
        listed = "".join(f"\n  {line}" for line in dict.fromkeys(found))
        raise CannotWrite(
            f"{path}: method {plan['name']} cannot be written as source; it has{listed}"
        )


def _tensor(tensor: dict[str, Any], types: dict[str, int], file: _Segments) -> Tensor:
    dtype = tensor["scalar_type"]
    sizes = tuple(tensor.get("sizes", []))
    index = tensor.get("data_buffer_idx", 0)
    nbytes = math.prod(sizes) * ELEMENT_BYTES[dtype]
    place = tensor.get("allocation_info")
    arena, offset, weights, start = 0, 0, None, None
    if place is not None:
        arena = place["memory_id"]
        offset = place["memory_offset_low"] | place["memory_offset_high"] << 32
        start = file.start_value(index, nbytes) if index else None
    elif index:
        weights = file.constant(index, nbytes)
    order = tuple(tensor.get("dim_order", []))
    return Tensor(dtype, types[dtype], sizes, order, arena, offset, weights, start)


class _Segments:
    """Bytes behind the program data."""

    def __init__(self, path: Path, program: dict[str, Any]) -> None:
        self._path = path
        self._program = program
        with path.open("rb") as file:
            head = file.read(32)
        self._base = struct.unpack_from("<Q", head, 24)[0] if head[8:12] == b"eh00" else 0

    def constant(self, index: int, nbytes: int) -> bytes:
        return self._read(self._program["constant_segment"], index, nbytes)

    def start_value(self, index: int, nbytes: int) -> bytes:
        return self._read(self._program["mutable_data_segments"][0], index, nbytes)

    def _read(self, part: dict[str, Any], index: int, nbytes: int) -> bytes:
        segment = self._program["segments"][part["segment_index"]]
        with self._path.open("rb") as file:
            file.seek(self._base + int(segment["offset"]) + int(part["offsets"][index]))
            found = file.read(nbytes)
        if len(found) != nbytes:
            raise ModelError(
                f"{self._path}: expected {nbytes} bytes of weights, found {len(found)}: the file is cut"
            )
        return found
