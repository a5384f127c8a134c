# SPDX-License-Identifier: BSD-3-Clause
"""What `XnnpackPartitioner(configs=..., config_precisions=...)` is told: rows of the table of ops, as classes."""

from __future__ import annotations

from enum import Enum
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.groups import group_of
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.aot.quantized_steps import mode_of
from executorch.backends.xnnpack.aot.steps import Mode
from executorch.exir.backend.canonical_partitioners.config_partitioner import PartitionerConfig
from executorch.exir.backend.lowering.annotation import Kind
from executorch.exir.graph_facts import op_name


class ConfigPrecisionType(Enum):
    """FP32: on floats. STATIC_QUANT: on 8-bit values. DYNAMIC_QUANT: inputs are quantized while running."""

    FP32 = 1
    STATIC_QUANT = 2
    DYNAMIC_QUANT = 3

    @property
    def mode(self) -> Mode:
        return Mode(self.value - 1)


_OF_KIND = {
    Kind.NONE: [ConfigPrecisionType.FP32],
    Kind.GEMM: list(ConfigPrecisionType),
    **dict.fromkeys(
        (Kind.ARITHMETIC, Kind.SHARED, Kind.LOOKUP),
        [ConfigPrecisionType.FP32, ConfigPrecisionType.STATIC_QUANT],
    ),
}
_CONVERSIONS = "quantized_decomposed."


class XNNPartitionerConfig(PartitionerConfig):
    """One operator. Those of the table of ops have `op`, its name there, and need nothing else. One of your own has
    `target_name`, the operator without its namespace, and overrides `supported_precision_types`, `check_constraints`
    and `get_node_and_deps`; a `NodeVisitor` that is registered for the operator lowers it."""

    op: str = ""
    target_name: str = ""

    def __init__(self, **kwargs: Any) -> None:
        self.force_non_static_weights_for_f32_linear = bool(
            kwargs.get("force_non_static_weights_for_f32_linear", False)
        )
        self.enabled_precision_types = self.supported_precision_types()

    def supported_precision_types(self) -> list[ConfigPrecisionType]:
        if self.op.startswith(_CONVERSIONS):
            return [ConfigPrecisionType.STATIC_QUANT]
        row = TABLE.get(self.op)
        return list(_OF_KIND[row.annotation.kind]) if row else [ConfigPrecisionType.FP32]

    def set_enabled_precision_types(
        self, precision_types: list[ConfigPrecisionType] | None
    ) -> None:
        """Those given that the operator supports; None: all that it supports."""
        supported = self.supported_precision_types()
        wanted = supported if precision_types is None else precision_types
        self.enabled_precision_types = [each for each in supported if each in wanted]

    def get_original_aten(self) -> torch._ops.OpOverload | None:
        """The operator that must reach the partitioner whole; None when an edge program has it anyway."""
        return next((op for op in TABLE.preserved() if str(op) == self.op), None)

    def check_common_constraints(self, node: Node, ep: ExportedProgram) -> bool:
        """Whether XNNPACK takes the tensors of the call: all of one float type, none empty."""
        is_it = op_name(node) == self.op if self.op else self.is_target(node)
        return is_it and not TABLE.tensors_why_not(node)

    def is_target(self, node: Node) -> bool:
        """Whether it is a call of `target_name`."""
        return bool(self.target_name) and op_name(node).partition(".")[2] == self.target_name

    def check_constraints(self, node: Node, ep: ExportedProgram) -> bool:
        """Whether XNNPACK takes this call of the operator."""
        if not self.op:
            return True
        constants = Constants(ep)
        if op_name(node) != self.op or TABLE.why_not(node, constants):
            return False
        mode = mode_of(node, constants)
        return any(each.mode is mode for each in self.enabled_precision_types)

    def get_node_and_deps(self, node: Node, ep: ExportedProgram) -> list[Node]:
        """The call and what goes along."""
        return group_of(node, Constants(ep)) if self.op else [node]

    def get_partition(self, node: Node, ep: ExportedProgram) -> list[Node]:
        """What is delegated together; nothing when the call is not taken. Each node's meta says who took it."""
        if not (self.check_common_constraints(node, ep) and self.check_constraints(node, ep)):
            return []
        nodes = self.get_node_and_deps(node, ep)
        for each in nodes:
            each.meta.setdefault("xnn_partitioner_config", []).append(type(self).__name__)
        return nodes


class GenericNodePartitionerConfig(XNNPartitionerConfig):
    """An operator that goes alone."""


class GEMMConfig(XNNPartitionerConfig):
    """An operator with weights."""


class QDQAffineConfigs(XNNPartitionerConfig):
    """One of torchao's calls, which the operator between takes along."""


def config_of(
    name: str, op: str, kind: type[XNNPartitionerConfig] = GenericNodePartitionerConfig
) -> type[XNNPartitionerConfig]:
    """The class called `name` of an operator of the table, or of one that others take along."""
    members = {"op": op, "target_name": op.partition(".")[2], "__module__": __name__}
    return type(name, (kind,), members)
