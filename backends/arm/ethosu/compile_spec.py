# SPDX-License-Identifier: BSD-3-Clause
"""`EthosUCompileSpec`: which Ethos-U, in which system, and what Vela is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.tosa.specification import TosaSpecification
from executorch.exir.backend.compile_spec_schema import CompileSpec


class Family(NamedTuple):
    """What stands for a target where users do not say it. `processor`: beside it in Arm's reference systems."""

    system_config: str
    memory_mode: str
    tosa_spec: str
    processor: str


# One table of targets and memory modes; the build of firmware reads it, too.
_TABLE = json.loads(Path(__file__).with_name("targets.json").read_text())
FAMILIES = {name: Family(**row) for name, row in _TABLE["families"].items()}
_MODES: dict[str, dict[str, Any]] = _TABLE["memory_modes"]


def family_of(target: str) -> str:
    for name in FAMILIES:
        if name in target.lower():
            return name
    raise RuntimeError(
        f"Unknown ethos target: {target}, expected one of {', '.join(FAMILIES)} with the number of its multipliers, "
        "such as ethos-u55-128"
    )


def _check_mode(mode: str, family: str) -> None:
    """A mode that the table does not know is one of the user's own configuration file."""
    if mode in _MODES and family not in _MODES[mode]["families"]:
        fitting = ", ".join(name for name, row in _MODES.items() if family in row["families"])
        raise ValueError(f"memory_mode {mode} is none of {family}, which has {fitting}")


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
        name = family_of(target)
        family = FAMILIES[name]
        mode = memory_mode or family.memory_mode
        _check_mode(mode, name)
        self.target = target
        flags = [
            *(extra_flags or ()),
            f"--accelerator-config={target}",
            f"--config={config_ini}",
            "--output-format=raw",
            f"--system-config={system_config or family.system_config}",
            f"--memory-mode={mode}",
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
