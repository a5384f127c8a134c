# SPDX-License-Identifier: BSD-3-Clause
"""From a program to a payload by MediaTek's two modules: mtk_converter makes MLIR of it, mtk_neuron a model of that."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import (
    ExternalCompiler,
    ExternalPackage,
    Options,
    specs_of,
)

SKIP_COMPILE_SPEC_KEYS = {"ImportForever"}
EXTRACT_SHARED_BLOB_KEY = "ExtractSharedBlobKey"
HEADER_SIZE = 13
HEADER_VERSION = 1
REQUIRED_COMPILE_SPEC_KEYS = {"platform-config"}
SUPPORTED_PLATFORM_CONFIGS = {"mt6989", "mt6991", "mt6993"}
_HEADER = struct.Struct("<BIII")  # version, inputs, outputs, bytes of the model
_OPTIONS = "--relax-fp32 --opt=3"
_GET = (
    "pip install the wheel of MediaTek's NeuroPilot Express SDK, https://neuropilot.mediatek.com/resources/public/"
    "npexpress/en/docs/npexpress ({}, on Linux)"
)


class Payload(NamedTuple):
    num_inputs: int
    num_outputs: int
    model: bytes

    def pack(self) -> bytes:
        """Behind the header that the runtime reads."""
        counts = self.num_inputs, self.num_outputs
        return _HEADER.pack(HEADER_VERSION, *counts, len(self.model)) + self.model


def unpack(payload: bytes) -> Payload:
    """ValueError for bytes that are no payload."""
    start = bytes(payload[:HEADER_SIZE])
    if len(start) < HEADER_SIZE or start[0] != HEADER_VERSION:
        raise ValueError(
            f"NeuropilotBackend payload: expected a header of {HEADER_SIZE} bytes with version {HEADER_VERSION}, found "
            f"{len(payload)} bytes that begin with {start!r}"
        )
    _, num_inputs, num_outputs, size = _HEADER.unpack(start)
    if len(payload) != HEADER_SIZE + size:
        raise ValueError(
            f"NeuropilotBackend payload: expected a model of {size} bytes, found {len(payload) - HEADER_SIZE}"
        )
    return Payload(num_inputs, num_outputs, bytes(payload[HEADER_SIZE:]))


def check_specs(specs: Sequence[CompileSpec]) -> None:
    """RuntimeError for keys that stand twice or are missing, ValueError for another platform."""
    keys = [spec.key for spec in specs]
    if len(keys) != len(set(keys)):
        raise RuntimeError("Unsupported duplicated keys in the CompileSpec settings.")
    if not REQUIRED_COMPILE_SPEC_KEYS <= set(keys):
        raise RuntimeError(
            f"Following keys are required in the CompileSpec settings: {REQUIRED_COMPILE_SPEC_KEYS}."
        )
    (platform,) = (bytes(each.value).decode() for each in specs if each.key == "platform-config")
    if platform not in SUPPORTED_PLATFORM_CONFIGS:
        raise ValueError(
            f"Unsupported value of platform-config CompileSpec. Given {platform} but expected to be one of "
            f"{', '.join(sorted(SUPPORTED_PLATFORM_CONFIGS))}."
        )


def options_text(specs: Sequence[CompileSpec]) -> str:
    """What mtk_neuron is told."""
    words = [_OPTIONS]
    for spec in specs:
        value = bytes(spec.value).decode()
        if spec.key == EXTRACT_SHARED_BLOB_KEY:
            words.append("--dla-opt=0")
        elif spec.key not in SKIP_COMPILE_SPEC_KEYS:
            words.append(f"--{spec.key}={value}" if value else f"--{spec.key}")
    return " ".join(words)


def is_supported(node: Node) -> bool:
    """What the converter says of one call."""
    importer = import_module("mtk_converter.python.converters.pytorch.importer_v2")
    return bool(importer.is_fx_node_supported(node))


def _compile(program: ExportedProgram, options: Options, place: Path | None) -> bytes:
    graph, signature = program.graph, program.graph_signature
    inputs = [
        each for each in graph.find_nodes(op="placeholder") if each.name in signature.user_inputs
    ]
    outputs = list(graph.output_node().args[0])
    with redirect_stdout(io.StringIO()):
        mlir = _converted(program, _places_of_floats(inputs), _places_of_floats(outputs))
    if place and isinstance(mlir, bytes):
        (place / "program.mlir").write_bytes(mlir)
    model = import_module("mtk_neuron").compile(mlir, options_text(specs_of(options)))
    return Payload(len(inputs), len(outputs), bytes(model)).pack()


def _converted(program: ExportedProgram, inputs: list[int], outputs: list[int]) -> Any:
    """MLIR. Floats at these places are quantized on the way in, and dequantized on the way out."""
    converter = import_module("mtk_converter").PyTorchV2Converter.from_exported_program(program)
    converter.quantize = True
    converter.input_quantization_bitwidths = None
    converter.allow_missing_quantization_ranges = True
    converter.prepend_input_quantize_ops = True
    converter.prepend_input_quantize_ops_indices = inputs
    converter.append_output_dequantize_ops = True
    converter.append_output_dequantize_ops_indices = outputs
    return converter.convert_to_mlir()


def _places_of_floats(nodes: Sequence[Any]) -> list[int]:
    values = [each.meta.get("val") if isinstance(each, Node) else None for each in nodes]
    return [
        place for place, each in enumerate(values) if getattr(each, "dtype", None) == torch.float32
    ]


def extracted(models: list[bytes]) -> tuple[bytes, list[bytes]]:
    """What models have in common, and the rest of each."""
    blob, rest = import_module("mtk_neuron").extract_shared_data(models, options="-e union")
    return bytes(blob), [bytes(each) for each in rest]


CONVERTER = ExternalPackage(
    "MediaTek's converter",
    "mtk_converter",
    ">=8.13,<9",
    "",
    module="mtk_converter",
    get=_GET.format("for Python 3.10 and later"),
)
COMPILER = ExternalCompiler(
    "MediaTek's compiler",
    "mtk_neuron",
    ">=8.2,<9",
    "",
    _compile,
    module="mtk_neuron",
    get=_GET.format("for any Python 3"),
    needs=(CONVERTER,),
)
