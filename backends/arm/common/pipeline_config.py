# SPDX-License-Identifier: BSD-3-Clause
"""How some operators are written: part of a compile spec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class SoftmaxDecompositionConfig(Enum):
    MASKED = 1
    STABLE = 2


class LeakyReLULoweringConfig(Enum):
    TABLE = 1
    DECOMPOSE = 2


@dataclass
class QuantizeInfConfig:
    """What stands for infinities where values are quantized."""

    neg_inf: float = -256.0
    pos_inf: float = 255.0


@dataclass
class ArmPassPipelineConfig:
    softmax: SoftmaxDecompositionConfig = SoftmaxDecompositionConfig.MASKED
    leaky_relu: LeakyReLULoweringConfig = LeakyReLULoweringConfig.DECOMPOSE
    quantize_inf: QuantizeInfConfig = field(default_factory=QuantizeInfConfig)

    def is_default(self) -> bool:
        return self == ArmPassPipelineConfig()

    def to_dict(self) -> dict[str, Any]:
        return {
            "softmax": self.softmax.name,
            "leaky_relu": self.leaky_relu.name,
            "quantize_inf": {
                "neg_inf": self.quantize_inf.neg_inf,
                "pos_inf": self.quantize_inf.pos_inf,
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ArmPassPipelineConfig:
        made = cls()
        softmax, leaky_relu, infinities = map(data.get, ("softmax", "leaky_relu", "quantize_inf"))
        if softmax is not None:
            made.softmax = SoftmaxDecompositionConfig[softmax]
        if leaky_relu is not None:
            made.leaky_relu = LeakyReLULoweringConfig[leaky_relu]
        if infinities is not None:
            made.quantize_inf = QuantizeInfConfig(**infinities)
        return made

    def serialize(self) -> bytes:
        return json.dumps(self.to_dict()).encode()
