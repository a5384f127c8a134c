# SPDX-License-Identifier: BSD-3-Clause
"""`EthosUCompileSpec`: which Ethos-U, in which system, and what Vela is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.tosa.specification import TosaSpecification
from executorch.exir.backend.compile_spec_schema import CompileSpec


class Family(NamedTuple):
    """What stands for a target where users do not say it."""

    system_config: str
    memory_mode: str
    tosa_spec: str


FAMILIES = {
    "ethos-u55": Family(
        "Ethos_U55_High_End_Embedded", "Shared_Sram", "TOSA-1.0+INT+int16+int4+u55"
    ),
    "ethos-u65": Family(
        "Ethos_U65_High_End", "Dedicated_Sram_384KB", "TOSA-1.0+INT+int16+int4+u55"
    ),
    "ethos-u85": Family("Ethos_U85_SYS_DRAM_Mid", "Sram_Only", "TOSA-1.0+INT+int16+int4+cf"),
}


def family_of(target: str) -> Family:
    for name, found in FAMILIES.items():
        if name in target.lower():
            return found
    raise RuntimeError(
        f"Unknown ethos target: {target}, expected one of {', '.join(FAMILIES)} with the number of its multipliers, "
        "such as ethos-u55-128"
    )


class EthosUCompileSpec(ArmCompileSpec):
    """`target` is spelled as Vela's --accelerator-config."""

    target: str

    def __init__(
        self,
        target: str,
        system_config: str | None = None,
        memory_mode: str | None = None,
        extra_flags: list[str] | None = None,
        config_ini: str | None = "Arm/vela.ini",
    ) -> None:
        family = family_of(target)
        self.target = target
        flags = [
            *(extra_flags or ()),
            f"--accelerator-config={target}",
            f"--config={config_ini}",
            "--output-format=raw",
            f"--system-config={system_config or family.system_config}",
            f"--memory-mode={memory_mode or family.memory_mode}",
        ]
        self._set_compile_specs(TosaSpecification.create_from_string(family.tosa_spec), flags)

    @classmethod
    def _get_output_format(cls) -> str:
        return "vela"

    def _validate(self) -> None:
        if self.tosa_spec.support_float():
            raise ValueError(f"Ethos-U computes on integers, found {self.tosa_spec}")

    def _more(self) -> Iterator[CompileSpec]:
        yield CompileSpec("target", self.target)

    def _take(self, key: str, value: str) -> None:
        if key != "target":
            super()._take(key, value)
        self.target = value
