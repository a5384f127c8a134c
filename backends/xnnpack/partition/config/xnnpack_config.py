# SPDX-License-Identifier: BSD-3-Clause
"""What `XnnpackPartitioner(configs=..., config_precisions=...)` is told: rows of the table of ops, as classes."""

from __future__ import annotations

from enum import Enum

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.ops import KEPT_WHOLE, TABLE, Quantized, why_not
from executorch.backends.xnnpack.aot.quantized_steps import mode_of
from executorch.backends.xnnpack.aot.steps import Mode, op_name


class ConfigPrecisionType(Enum):
    """FP32: on floats. STATIC_QUANT: on 8-bit values. DYNAMIC_QUANT: inputs are quantized while running."""

    FP32 = 1
    STATIC_QUANT = 2
    DYNAMIC_QUANT = 3

    @property
    def mode(self) -> Mode:
        return Mode(self.value - 1)


_OF_ROW = {
    Quantized.NO: [ConfigPrecisionType.FP32],
    Quantized.WEIGHTED: list(ConfigPrecisionType),
    Quantized.ARITHMETIC: [ConfigPrecisionType.FP32, ConfigPrecisionType.STATIC_QUANT],
    Quantized.SAME: [ConfigPrecisionType.FP32, ConfigPrecisionType.STATIC_QUANT],
    Quantized.LOOKUP: [ConfigPrecisionType.FP32, ConfigPrecisionType.STATIC_QUANT],
}
_CONVERSIONS = "quantized_decomposed."


class XNNPartitionerConfig:
    """One operator, by `op`, its name in the table; `target_name` is that without its namespace."""

    op: str

    def __init__(self) -> None:
        self.enabled_precision_types = self.supported_precision_types()

    @property
    def target_name(self) -> str:
        return self.op.split(".", 1)[1]

    def supported_precision_types(self) -> list[ConfigPrecisionType]:
        if self.op.startswith(_CONVERSIONS):
            return [ConfigPrecisionType.STATIC_QUANT]
        return list(_OF_ROW[TABLE[self.op].quantized])

    def set_enabled_precision_types(
        self, precision_types: list[ConfigPrecisionType] | None
    ) -> None:
        """Those given that the operator supports; None: all that it supports."""
        supported = self.supported_precision_types()
        wanted = supported if precision_types is None else precision_types
        self.enabled_precision_types = [each for each in supported if each in wanted]

    def get_original_aten(self) -> torch._ops.OpOverload | None:
        """The operator that must reach the partitioner whole; None when an edge program has it anyway."""
        return next((op for op in KEPT_WHOLE if str(op) == self.op), None)

    def check_constraints(self, node: Node, ep: ExportedProgram) -> bool:
        """Whether XNNPACK takes this call of the operator."""
        constants = Constants(ep)
        if op_name(node) != self.op or why_not(node, constants):
            return False
        mode = mode_of(node, constants)
        return any(each.mode is mode for each in self.enabled_precision_types)


def config_of(name: str, op: str) -> type[XNNPartitionerConfig]:
    """The class called `name` of a row."""
    assert op in TABLE, op
    return type(name, (XNNPartitionerConfig,), {"op": op, "__module__": __name__})
