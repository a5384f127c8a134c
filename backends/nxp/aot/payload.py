# SPDX-License-Identifier: BSD-3-Clause
"""The payload of NeutronBackend: a header, then microcode, weights and kernels, each from a multiple of 16 bytes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from executorch.backends.nxp.aot.converted import NeutronNodeArtifacts, artifacts_in
from executorch.backends.nxp.backend.data_format import DataFormat

MAGIC = 0x64434D6E  # the microcode's first word
_WORDS = {0: 13, 1: 15}  # of the microcode that say sizes and counts, by the payload's version
_MICROCODE, _WEIGHTS = 6, 7  # words with the sizes of both
_MAX_PORTS = 255
Formats = Mapping[str, Mapping[str, DataFormat]]


class PayloadComposer:
    ALIGNMENT = 16

    def get_binary_payload(self, io_formats: Formats, neutron_model: bytes) -> bytes:
        """`neutron_model`: what the converter gave; `io_formats`: by "inputs" and "outputs", of each name, in the order
        of the delegate's arguments."""
        artifacts = artifacts_in(bytes(neutron_model))
        header = self._create_payload_header(io_formats, artifacts)
        return self._pack_with_alignment(header, artifacts)

    def _create_payload_header(
        self, io_formats: Formats, artifacts: NeutronNodeArtifacts
    ) -> np.ndarray:
        names = {"inputs": artifacts.input_names, "outputs": artifacts.output_names}
        for what, each in names.items():
            assert len(each) <= _MAX_PORTS, (
                f"expected at most {_MAX_PORTS} {what}, found {len(each)}"
            )
        flags = [
            int(io_formats[what][name].is_channels_last()) for what in names for name in names[what]
        ]
        places = {what: list(io_formats[what]) for what in names}
        maps = [places[what].index(name) for what in names for name in names[what]]
        counts = [len(names["inputs"]), len(names["outputs"]), len(places["inputs"])]
        return np.array([*counts, *flags, *maps, artifacts.payload_version], dtype=np.uint8)

    def _pack_with_alignment(self, header: np.ndarray, artifacts: NeutronNodeArtifacts) -> bytes:
        parts = (header.tobytes(), artifacts.microcode, artifacts.weights, artifacts.kernels)
        return b"".join(self._padded(each) for each in parts)

    def _padded(self, data: bytes) -> bytes:
        return data + bytes(-len(data) % self.ALIGNMENT)


@dataclass(frozen=True)
class Payload:
    """What a payload says. Flags: 1 for what the runtime transposes to and from channels last."""

    input_flags: tuple[int, ...]
    output_flags: tuple[int, ...]
    num_arguments: int
    input_map: tuple[int, ...]
    output_map: tuple[int, ...]
    version: int
    microcode: bytes
    weights: bytes
    kernels: bytes


def read(payload: bytes) -> Payload:
    """ValueError for bytes that are none."""
    if len(payload) < 3:
        raise ValueError(f"expected a header, found {len(payload)} bytes")
    inputs, outputs, arguments = payload[:3]
    size = 4 + 2 * (inputs + outputs)
    start = size + -size % PayloadComposer.ALIGNMENT
    if len(payload) < start + 4 * max(_WORDS.values()):
        raise ValueError(
            f"expected a header of {size} bytes and microcode, found {len(payload)} bytes"
        )
    rest = iter(payload[3:size])
    take = lambda count: tuple(next(rest) for _ in range(count))  # noqa: E731
    fields = (take(inputs), take(outputs), arguments, take(inputs), take(outputs))
    version = next(rest)
    if version not in _WORDS:
        raise ValueError(f"expected version 0 or 1, found {version}")
    words = struct.unpack_from(f"<{_WORDS[version]}I", payload, start)
    if words[0] != MAGIC:
        raise ValueError(f"expected microcode that begins with {MAGIC:#x}, found {words[0]:#x}")
    if words[-2:] != (inputs, outputs):
        raise ValueError(
            f"expected {inputs} inputs and {outputs} outputs, found {words[-2:]} in the microcode"
        )
    weights = start + _aligned(words[_MICROCODE])
    kernels = weights + _aligned(words[_WEIGHTS])
    if kernels > len(payload):
        raise ValueError(f"expected {kernels} bytes and kernels, found {len(payload)}")
    microcode = payload[start : start + words[_MICROCODE]]
    data = payload[weights : weights + words[_WEIGHTS]]
    return Payload(*fields, version, microcode, data, payload[kernels:])


def _aligned(size: int) -> int:
    return size + -size % PayloadComposer.ALIGNMENT
