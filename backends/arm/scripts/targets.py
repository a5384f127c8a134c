# SPDX-License-Identifier: BSD-3-Clause
"""Which targets the commands know, and what a program is quantized and lowered with for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from torch.export import ExportedProgram

from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.ethosu import EthosUCompileSpec
from executorch.backends.arm.quantizer import (
    get_symmetric_a16w8_quantization_config,
    get_symmetric_quantization_config,
)
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.util._factory import create_partitioner, create_quantizer
from executorch.backends.arm.vgf import VgfCompileSpec
from executorch.backends.discovery import all_backends
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower

_MACS = {"u55": (32, 64, 128, 256), "u65": (256, 512), "u85": (128, 256, 512, 1024, 2048)}
ETHOS_U = tuple(f"ethos-{name}-{macs}" for name, all_macs in _MACS.items() for macs in all_macs)
TOSA = ("TOSA-1.0+INT", "TOSA-1.0+FP", "TOSA-1.0+INT+int16")
CORTEX_M = tuple(
    f"cortex-m{name}" for name in ("0", "0plus", "3", "4", "7", "23", "33", "52", "55", "85")
)
TARGETS = (*ETHOS_U, "vgf", *TOSA, *CORTEX_M)


class Options(NamedTuple):
    """What Vela is told, beside the target's defaults."""

    system_config: str | None = None
    memory_mode: str | None = None
    config: str = "Arm/vela.ini"
    flags: Sequence[str] = ()


class Target(NamedTuple):
    """`lower`: what the target takes of a program; the second argument: whether with a record for the tools."""

    quantizer: Callable[[], Any]
    lower: Callable[[ExportedProgram, bool], EdgeProgramManager]
    spec: ArmCompileSpec | None = None


def target_of(name: str, is_quantized: bool, options: Options) -> Target:
    if name in CORTEX_M:
        return _kernels("cortex_m")
    spec = _spec(name, is_quantized, options)

    def lower(program: ExportedProgram, record: bool) -> EdgeProgramManager:
        partitioner = create_partitioner(spec)
        return to_edge_transform_and_lower(
            program, partitioner=[partitioner], generate_etrecord=record
        )

    return Target(lambda: _quantizer(name, spec), lower, spec)


def _spec(name: str, is_quantized: bool, options: Options) -> ArmCompileSpec:
    if name in ETHOS_U:
        return EthosUCompileSpec(
            name, options.system_config, options.memory_mode, list(options.flags), options.config
        )
    if name == "vgf":
        return VgfCompileSpec("TOSA-1.0+INT" if is_quantized else "TOSA-1.0+FP")
    return TosaCompileSpec(name)


def _quantizer(name: str, spec: ArmCompileSpec) -> Any:
    is_wide = "int16" in name
    config = (
        get_symmetric_a16w8_quantization_config if is_wide else get_symmetric_quantization_config
    )
    return create_quantizer(spec).set_global(config())


def _kernels(backend: str) -> Target:
    """A backend that is kernels, by its manifest."""
    manifest = all_backends()[backend]

    def lower(program: ExportedProgram, record: bool) -> EdgeProgramManager:
        config = manifest.load(manifest.edge_config)()
        edge = to_edge(program, compile_config=config, generate_etrecord=record)
        passes = manifest.load(manifest.passes)
        return edge.transform(passes("forward", edge.exported_program()))

    return Target(lambda: manifest.load(manifest.quantizer)(), lower)
