# SPDX-License-Identifier: BSD-3-Clause
"""What belongs to a compile spec."""

from __future__ import annotations

from typing import Any

from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.quantizer import EthosUQuantizer, TOSAQuantizer, VgfQuantizer
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.backends.arm.vgf import VgfCompileSpec, VgfPartitioner
from executorch.exir.backend.compile_spec_schema import CompileSpec

_KINDS: dict[type[ArmCompileSpec], tuple[type, type]] = {
    EthosUCompileSpec: (EthosUPartitioner, EthosUQuantizer),
    VgfCompileSpec: (VgfPartitioner, VgfQuantizer),
    TosaCompileSpec: (TOSAPartitioner, TOSAQuantizer),
}


def create_partitioner(compile_spec: ArmCompileSpec, additional_checks: Any = None) -> Any:
    return _KINDS[type(compile_spec)][0](compile_spec, additional_checks)


def create_quantizer(compile_spec: ArmCompileSpec) -> Any:
    return _KINDS[type(compile_spec)][1](compile_spec)


def parse_compile_spec(compile_specs: list[CompileSpec]) -> ArmCompileSpec:
    """By what it says is written."""
    formats = [bytes(each.value).decode() for each in compile_specs if each.key == "output_format"]
    for kind in _KINDS:
        if [kind.get_output_format()] == formats:
            return kind._from_list(compile_specs)
    known = ", ".join(kind.get_output_format() for kind in _KINDS)
    raise ValueError(f"expected one output_format of {known}, found {formats}")
