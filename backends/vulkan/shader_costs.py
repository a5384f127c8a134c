# SPDX-License-Identifier: BSD-3-Clause
"""What the calls of a program's Vulkan delegates move and compute, and how long that takes a device at least.

usage: python -m executorch.backends.vulkan.shader_costs PROGRAM.pte --bandwidth GB/S --rate GIGAOPERATIONS/S [--json]

A call reads and writes its tensors once, at the sizes of the file, which are the largest; a multiply-add is two
operations, anything else one for each element. The forecast of a call is the longer of bytes / bandwidth and
operations / rate. Views move nothing."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

PREPACK = "et_vk.prepack.default"
_BYTES = {
    "FLOAT16": 2,
    "INT32": 4,
    "FLOAT32": 4,
    "INT64": 4,
    "FLOAT64": 4,
}  # on the device; others 1
_VIEWS = ("view_copy", "squeeze_copy", "unsqueeze_copy", "alias_copy", "sym_size", "as_symint")
_DATA_MOVEMENT = (
    "copy", "clone", "permute", "cat", "select", "slice", "split", "flip", "repeat", "pad", "embedding", "gather",
    "index", "full", "zeros", "ones", "arange", "expand", "pixel_shuffle", "prepack",
)  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """Of one call. `operations`: 0 for what only moves."""

    operator: str
    bytes: int
    operations: int

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.operations / self.bytes if self.bytes else 0.0

    def seconds(self, bandwidth: float, rate: float) -> float:
        """`bandwidth` in bytes, `rate` in operations a second."""
        return max(self.bytes / bandwidth, self.operations / rate)


class _Values:
    def __init__(self, graph: Any) -> None:
        self._values = graph.values

    def tensors(self, place: int) -> list[Any]:
        value = self._values[place].value
        kind = type(value).__name__
        if kind == "ValueList":
            return [found for each in value.items for found in self.tensors(each)]
        return [value] if kind == "VkTensor" else []

    def sizes(self, place: int) -> list[int]:
        return list(self.tensors(place)[0].dims)

    def is_set(self, place: int) -> bool:
        value = self._values[place].value
        return bool(getattr(value, "bool_val", False))


def _product(x: int) -> Callable[[_Values, Sequence[int]], int]:
    """Rows of argument `x`, its last dimension summed over."""
    return lambda values, args: 2 * _count(values.tensors(args[-1])) * values.sizes(args[x])[-1]


def _convolution(values: _Values, args: Sequence[int]) -> int:
    columns = prod(values.sizes(args[1])[1:])
    each = args[0] if values.is_set(args[6]) else args[-1]  # transposed: of every input
    return 2 * _count(values.tensors(each)) * columns


def _int8_convolution(values: _Values, args: Sequence[int]) -> int:
    return 2 * _count(values.tensors(args[-1])) * prod(values.sizes(args[3])[1:])


def _depthwise(values: _Values, args: Sequence[int]) -> int:
    return 2 * _count(values.tensors(args[-1])) * prod(values.sizes(args[3])[:2])


def _attention(cache: int) -> Callable[[_Values, Sequence[int]], int]:
    """Products with keys and with values, of argument `cache`."""

    def operations(values: _Values, args: Sequence[int]) -> int:
        rows = values.sizes(args[cache])[-3 if cache else -2]
        return 4 * _count(values.tensors(args[-1])) * rows

    return operations


_LINEAR = (
    "linear_qcs4w", "linear_q4gsw", "linear_dq8ca_q4gsw", "linear_q8ta_q8csw", "q8ta_linear",
    "q8ta_linear_gemv",
)  # fmt: skip
_OPERATIONS: dict[str, Callable[[_Values, Sequence[int]], int]] = {
    **dict.fromkeys(("aten.linear.default", "aten.mm.default", "aten.bmm.default"), _product(0)),
    "aten.addmm.default": _product(1),
    "aten._weight_int8pack_mm.default": _product(0),
    **dict.fromkeys(("aten.convolution.default", "et_vk.conv_with_clamp.default"), _convolution),
    "et_vk.q8ta_conv2d_dw.default": _depthwise,
    **dict.fromkeys((f"et_vk.q8ta_conv2d{end}.default" for end in ("", "_pw", "_transposed")), _int8_convolution),
    **dict.fromkeys((f"et_vk.{name}.default" for name in _LINEAR), _product(0)),
    "sdpa_with_kv_cache.default": _attention(3),
    "llama.custom_sdpa.default": _attention(1),
}  # fmt: skip


def _count(tensors: Sequence[Any]) -> int:
    return sum(prod(each.dims) for each in tensors)


def _bytes(tensors: Sequence[Any]) -> int:
    return sum(prod(each.dims) * _BYTES.get(each.datatype.name, 1) for each in tensors)


def _cost(values: _Values, name: str, args: Sequence[int]) -> Cost:
    base = name.split(".")[-2] if "." in name else name
    tensors = [each for place in args for each in values.tensors(place)]
    if any(map(base.count, _VIEWS)) or not tensors:
        return Cost(name, 0, 0)
    if name in _OPERATIONS:
        operations = _OPERATIONS[name](values, args)
    else:
        is_data_movement = any(map(base.count, _DATA_MOVEMENT))
        operations = 0 if is_data_movement else max(_count([each]) for each in tensors)
    return Cost(name, _bytes(tensors), operations)


def costs(graph: Any) -> Iterator[Cost]:
    """`graph`: of a payload, by its schema. What is copied once while loading is not among them."""
    values = _Values(graph)
    for call in graph.chain or ():
        if call.name != PREPACK:
            yield _cost(values, call.name, call.args)


def costs_of(file: bytes) -> list[Cost]:
    """Of all delegates of a program file."""
    from executorch.backends.vulkan.aot.schema import SCHEMA
    from executorch.exir._serialize._program import deserialize_pte_binary
    from executorch.exir.backend.lowering.payload.blocks import VULKAN_HEADER

    program = deserialize_pte_binary(file).program
    data = program.backend_delegate_data
    found: list[Cost] = []
    for plan in program.execution_plan:
        for each in plan.delegates:
            if each.id == "VulkanBackend":
                payload = bytes(data[each.processed.index].data)
                found += costs(SCHEMA.unpack(VULKAN_HEADER.read(payload)["flatbuffer"]))
    return found


_LINE = (
    "{operator:44} {bytes:12} bytes {operations:14} operations {intensity:8.2f} a byte "
    "{milliseconds:9.4f} ms"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("program", type=Path, help="a program file with Vulkan delegates")
    number: dict[str, Any] = {"type": float, "required": True}
    parser.add_argument("--bandwidth", **number, help="gigabytes a second that the device moves")
    parser.add_argument("--rate", **number, help="thousand million operations a second")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each call")
    given = parser.parse_args()
    bandwidth, rate = given.bandwidth * 1e9, given.rate * 1e9
    found = costs_of(given.program.read_bytes())
    for each in found:
        seconds = each.seconds(bandwidth, rate)
        row = {**asdict(each), "intensity": each.intensity, "milliseconds": 1000 * seconds}
        print(json.dumps(row) if given.json else _LINE.format(**row))
    if not given.json:
        total = 1000 * sum(each.seconds(bandwidth, rate) for each in found)
        print(
            f"{len(found)} calls: {total:.3f} ms at least, by {given.bandwidth:g} GB/s and {given.rate:g} Gop/s"
        )


if __name__ == "__main__":
    main()
