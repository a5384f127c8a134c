# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of the payloads of Arm's backends: TOSA graphs, blocks for Ethos-U, VGF files."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from typing import Any

from executorch.exir.backend.lowering.payload.blocks import ETHOS_U_BLOCKS
from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = ("TOSABackend", "EthosUBackend", "VgfBackend")
_NO_WORK = ("CONST", "CONST_SHAPE")
_VGF_MAGIC, _VGF_TABLES = b"VGF1", ("modules", "model sequence", "model resources", "constants")
_VGF_HEADER = struct.Struct("<4sI4B4x8Q")

Facts = list[tuple[str, str]]


def ending(payload: bytes) -> str:
    """Of a file that has nothing but the payload."""
    return {"TOSA": ".tosa", "VGF": ".vgf"}.get(_kind(payload), ".bin")


def operators(payload: bytes) -> list[PayloadOperator]:
    """In the order in which they run, but for constants. ValueError for what is compiled, and for other bytes."""
    if _kind(payload) != "TOSA":
        raise ValueError("commands of an NPU and shaders have no operators to list")
    blocks = _blocks(payload)
    found = [each.op.name for block in blocks for each in block.operators]
    return [PayloadOperator(name, None) for name in found if name not in _NO_WORK]


def facts(payload: bytes) -> Facts:
    """What a payload says of itself. ValueError for bytes that are none."""
    return list({"TOSA": _of_tosa, "VGF": _of_vgf, "Ethos-U": _of_ethos_u}[_kind(payload)](payload))


def _kind(payload: bytes) -> str:
    if payload[4:8] == b"TOSA":
        return "TOSA"
    if payload[:4] == _VGF_MAGIC:
        return "VGF"
    if ETHOS_U_BLOCKS.has_magic(payload):
        return "Ethos-U"
    raise ValueError(f"expected a payload of Arm's backends, found {payload[:16]!r}")


def _blocks(payload: bytes) -> list[Any]:
    from executorch.backends.arm.aot.schema import SCHEMA

    return [block for region in SCHEMA.unpack(payload).regions for block in region.blocks]


def _of_tosa(payload: bytes) -> Iterator[tuple[str, str]]:
    for block in _blocks(payload):
        tensors = {each.name: each for each in block.tensors}
        for kind, names in (("input", block.inputs), ("output", block.outputs)):
            for place, name in enumerate(names):
                tensor = tensors[name]
                yield f"{kind} {place}", f"{tensor.type.name} {list(tensor.shape)}, {name}"
        counts = Counter(each.op.name for each in block.operators)
        shown = (f"{name} {count}" for name, count in sorted(counts.items()))
        yield f"operators of {block.name}", ", ".join(shown)


def _of_ethos_u(payload: bytes) -> Iterator[tuple[str, str]]:
    from executorch.backends.arm.ethosu.payload import read

    found = read(payload)
    yield "commands", f"{found.commands[:4].decode()}, {len(found.commands):,} bytes"
    yield "weights", f"{len(found.weights):,} bytes"
    yield "scratch", f"{found.scratch_size:,} bytes"
    for kind, all_ports in (("input", found.inputs), ("output", found.outputs)):
        for place, port in enumerate(all_ports):
            where = f"at {port.offset:,} of region {port.region}"
            yield f"{kind} {place}", f"{list(port.shape)} x {port.element_size} bytes, {where}"


def _of_vgf(payload: bytes) -> Iterator[tuple[str, str]]:
    if len(payload) < _VGF_HEADER.size:
        raise ValueError(f"a VGF file of {len(payload)} bytes has no header")
    _, _, major, minor, patch, _, *numbers = _VGF_HEADER.unpack_from(payload)
    yield "version", f"{major}.{minor}.{patch}"
    for name, offset, size in zip(_VGF_TABLES, numbers[::2], numbers[1::2], strict=True):
        if offset > len(payload) or size > len(payload) - offset:
            raise ValueError(f"{name}: {size} bytes at {offset} of a VGF file of {len(payload)}")
        yield name, f"{size:,} bytes at {offset:,}"
