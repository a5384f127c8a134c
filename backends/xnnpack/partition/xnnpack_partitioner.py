# SPDX-License-Identifier: BSD-3-Clause
"""`XnnpackPartitioner`: everything that a row of the table of ops takes, in the largest pieces that can run in one
step."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.ops import KEPT_WHOLE, TABLE, why_not
from executorch.backends.xnnpack.aot.padding import fold_padding
from executorch.backends.xnnpack.aot.quantized_steps import (
    computed_inputs,
    mode_of,
    own_dequantized_inputs,
    quantized_group,
)
from executorch.backends.xnnpack.aot.steps import (
    BATCH_NORM,
    first_item,
    foldable_convolution,
    op_name,
)
from executorch.backends.xnnpack.partition.config.xnnpack_config import (
    ConfigPrecisionType,
    XNNPartitionerConfig,
)
from executorch.backends.xnnpack.xnnpack_preprocess import XnnpackBackend
from executorch.exir.backend._grouping import grouped_partitions
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import WhyNoPartition, tag_constant_data

logger = logging.getLogger(__name__)


Precisions = ConfigPrecisionType | Sequence[ConfigPrecisionType] | None


class XnnpackPartitioner(Partitioner):
    """Delegates as much as possible. `configs`: only these operators; `config_precisions`: only what computes on
    these; `per_op_mode`: one delegate per operator; `verbose`: the log has the reason for each call left outside."""

    def __init__(
        self,
        configs: list[type[XNNPartitionerConfig]] | None = None,
        config_precisions: Precisions = None,
        per_op_mode: bool = False,
        verbose: bool = False,
    ) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(XnnpackBackend.__name__, [])
        self.per_op_mode = per_op_mode
        self._ops = None if configs is None else {config.op for config in configs}
        if isinstance(config_precisions, ConfigPrecisionType):
            config_precisions = [config_precisions]
        self._modes = {each.mode for each in config_precisions or ConfigPrecisionType}
        if verbose:
            logger.setLevel(logging.DEBUG)

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        whole = [op for op in KEPT_WHOLE if self._ops is None or str(op) in self._ops]
        names = ("choose_qparams_affine", "quantize_affine", "dequantize_affine")
        known = (getattr(torch.ops.torchao, name, None) for name in names)
        return [*whole, *(packet.default for packet in known if packet is not None)], None

    def prepare(self, exported_program: ExportedProgram) -> None:
        fold_padding(exported_program)
        own_dequantized_inputs(exported_program)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        groups = self._groups(exported_program)
        if not self.per_op_mode:
            joined = grouped_partitions(exported_program.graph, groups)
            groups = [list(partition.nodes) for partition in joined]
        tags = {}
        for number, nodes in enumerate(group for group in groups if _is_worth(group)):
            tag = f"tag{number}"
            tags[tag] = self.delegation_spec
            for node in nodes:
                node.meta["delegation_tag"] = tag
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)

    def _groups(self, program: ExportedProgram) -> list[list[Node]]:
        """Each node that a row takes, with what must go along."""
        constants = Constants(program)
        report = WhyNoPartition(logger)
        groups: list[list[Node]] = []
        for node in program.graph.nodes:
            if node.op != "call_function" or node.target is operator.getitem:
                continue
            if constants.is_computed(node):
                continue
            reason = why_not(node, constants) or self._unwanted(node, constants)
            if reason:
                report(node, reason)
            else:
                groups.append(_group(node, constants))
        return groups

    def _unwanted(self, node: Node, constants: Constants) -> str:
        """Why a call that XNNPACK takes stays outside all the same."""
        if self._ops is not None and op_name(node) not in self._ops:
            return "not among the configs"
        if self._ops is None and TABLE[op_name(node)].slower:
            return TABLE[op_name(node)].slower
        if len(self._modes) == len(ConfigPrecisionType):
            return ""
        mode = mode_of(node, constants)
        return "" if mode in self._modes else f"{mode.name.lower()} is not among config_precisions"


class XnnpackFloatingPointPartitioner(XnnpackPartitioner):
    """Only what computes on floats."""

    def __init__(self) -> None:
        super().__init__(config_precisions=ConfigPrecisionType.FP32)


class XnnpackQuantizedPartitioner(XnnpackPartitioner):
    """Only what computes on 8-bit values, given or made while it runs."""

    def __init__(self) -> None:
        quantized = [ConfigPrecisionType.STATIC_QUANT, ConfigPrecisionType.DYNAMIC_QUANT]
        super().__init__(config_precisions=quantized)


class XnnpackDynamicallyQuantizedPartitioner(XnnpackPartitioner):
    """Only what is quantized while it runs."""

    def __init__(self) -> None:
        super().__init__(config_precisions=ConfigPrecisionType.DYNAMIC_QUANT)


def _group(node: Node, constants: Constants) -> list[Node]:
    quantized = quantized_group(node, constants)
    if quantized:
        return quantized
    group = [*computed_inputs(node, constants), node]
    if isinstance(node.meta["val"], tuple | list):
        group.append(first_item(node))
    if op_name(node) == BATCH_NORM:
        convolution = foldable_convolution(node)
        if convolution is not None and not why_not(convolution, constants):
            group.insert(0, convolution)
    return group


def _is_worth(nodes: list[Node]) -> bool:
    rows = [TABLE[op_name(node)] for node in nodes if op_name(node) in TABLE]
    return any(not row.moves for row in rows)
