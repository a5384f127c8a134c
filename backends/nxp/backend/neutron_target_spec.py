# SPDX-License-Identifier: BSD-3-Clause
"""The NPUs that programs are compiled for: a table of our own, so that no SDK is asked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class NeutronHWVersion(IntEnum):
    N1 = 1
    N3 = 2


@dataclass(frozen=True)
class NeutronTarget:
    """Under the converter's names. `numMacs`: channels that are computed together."""

    name: str
    subsystem: bool
    numUnits: int
    numPipes: int
    numMacs: int
    hwVersion: NeutronHWVersion


TARGETS = {
    each.name: each for each in (NeutronTarget("imxrt700", False, 1, 8, 8, NeutronHWVersion.N3),)
}


class NeutronTargetSpec:
    """`converter_flavor`: of older SDKs, which had a converter for each; it is of no consequence."""

    def __init__(self, target: str, converter_flavor: str | None = None) -> None:
        if target not in TARGETS:
            raise ValueError(
                f"Target `{target}` is not a valid target. Must be one of `{list(TARGETS)}`."
            )
        self.neutron_target = TARGETS[target]
        if self.is_subsystem() or self.get_hw_version() != NeutronHWVersion.N3:
            raise ValueError(
                f"Target `{target}` is not supported: expected a Neutron-C NPU of version N3"
            )

    def get_name(self) -> str:
        return self.neutron_target.name

    def is_subsystem(self) -> bool:
        return self.neutron_target.subsystem

    def get_num_units(self) -> int:
        return self.neutron_target.numUnits

    def get_num_pipes(self) -> int:
        return self.neutron_target.numPipes

    def get_num_macs(self) -> int:
        return self.neutron_target.numMacs

    def get_hw_version(self) -> NeutronHWVersion:
        return NeutronHWVersion(self.neutron_target.hwVersion)
