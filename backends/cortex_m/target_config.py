# SPDX-License-Identifier: BSD-3-Clause
"""For which processor a program is made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from executorch.backends.cortex_m.library import cmsis_nn

Backend = cmsis_nn.Backend


class CortexM(Enum):
    M0 = "M0"
    M0PLUS = "M0PLUS"
    M3 = "M3"
    M4 = "M4"
    M7 = "M7"
    M23 = "M23"
    M33 = "M33"
    M35P = "M35P"
    M55 = "M55"
    M85 = "M85"

    @property
    def target_string(self) -> str:
        return f"cortex-m{self.name[1:].lower()}"


@dataclass(frozen=True)
class CortexMTargetConfig:
    """`isa`: the instructions that kernels are chosen by; None, the best that `cpu` has."""

    cpu: CortexM
    isa: Backend | None = None

    def __post_init__(self) -> None:
        allowed = cmsis_nn.instruction_sets(self.cpu.name)
        if self.isa is not None and self.isa not in allowed:
            names = ", ".join(sorted(each.name for each in allowed))
            raise ValueError(
                f"{self.isa.name} is not supported by {self.target_string}, which has {names}"
            )

    @property
    def backend(self) -> Backend:
        own = getattr(cmsis_nn.CortexM, self.cpu.name)
        return self.isa if self.isa is not None else cmsis_nn.resolve_backend(own)

    @property
    def target_string(self) -> str:
        return self.cpu.target_string

    @classmethod
    def from_target_string(cls, target: str) -> CortexMTargetConfig:
        """Of a name such as cortex-m55."""
        for cpu in CortexM:
            if cpu.target_string == target:
                return cls(cpu)
        supported = ", ".join(cpu.target_string for cpu in CortexM)
        raise ValueError(f"expected one of {supported}, found {target!r}")
