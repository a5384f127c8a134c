# SPDX-License-Identifier: BSD-3-Clause
"""`XnnpackPartitioner`: everything that a row of the table of ops takes, in the largest pieces that can run in one
step."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.xnnpack.aot.boundary_views import without_boundary_views
from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.groups import group_of
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.aot.padding import fold_padding
from executorch.backends.xnnpack.aot.partition_cost_model import (
    SHORT_ROWS,
    why_slower,
    worth_splitting_for,
)
from executorch.backends.xnnpack.aot.quantized_steps import mode_of, own_dequantized_inputs
from executorch.backends.xnnpack.aot.splits import slice_parts
from executorch.backends.xnnpack.aot.undelegated_norms import fold_undelegated_norms
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.partition.config.xnnpack_config import (
    ConfigPrecisionType,
    XNNPartitionerConfig,
)
from executorch.backends.xnnpack.xnnpack_preprocess import XnnpackBackend
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.graph_facts import op_name
from executorch.exir.passes.replace_view_copy_with_view_pass import shares_memory_as_view

# what a file may hold twice, in bytes: a delegate's constant that an undelegated call reads, too
_MAY_REPEAT = 1 << 12
_ALONE = "alone it is faster when it is not delegated, and nothing next to it is delegated"
_VIEW = "undelegated it shares the memory of what it reshapes"

Precisions = ConfigPrecisionType | Sequence[ConfigPrecisionType] | None


def _read_elsewhere(program: ExportedProgram, constants: Constants) -> dict[Node, str]:
    """Large constants that calls read which no row takes, and such a call: tied weights of an embedding, say."""
    readers: dict[int, str] = {}
    large: list[tuple[Node, int]] = []
    for node in program.graph.find_nodes(op="placeholder"):
        if node not in constants or constants[node].nbytes <= _MAY_REPEAT:
            continue
        place = constants[node].untyped_storage().data_ptr()
        large.append((node, place))
        outside = [user for user in node.users if op_name(user) not in TABLE]
        if outside:
            readers.setdefault(place, outside[0].name)
    return {node: readers[place] for node, place in large if place in readers}


class XnnpackPartitioner(TablePartitioner):
    """Delegates as much as possible. `configs`: only these operators; `config_precisions`: only what computes on
    these; `per_op_mode`: one delegate per operator; `verbose`: the log has the reason for each call that is not
    delegated. Other keywords go to the configs."""

    table = TABLE
    backend_id = XnnpackBackend.__name__
    reads_stored_weights = True

    def __init__(
        self,
        configs: list[type[XNNPartitionerConfig]] | None = None,
        config_precisions: Precisions = None,
        per_op_mode: bool = False,
        verbose: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(per_op_mode=per_op_mode)
        self._ops = None if configs is None else {config.op for config in configs}
        if isinstance(config_precisions, ConfigPrecisionType):
            config_precisions = [config_precisions]
        self._others: dict[Node, str] = {}
        self._modes = {each.mode for each in config_precisions or ConfigPrecisionType}
        made = [config(**kwargs) for config in configs or ALL_PARTITIONER_CONFIGS]
        for config in made:
            config.set_enabled_precision_types(
                list(config_precisions) if config_precisions else None
            )
        self.target_partitioner_configs = {config.target_name: config for config in made}
        self._own = [config for config in made if not config.op]
        if kwargs.get("force_non_static_weights_for_f32_linear"):
            raise ValueError(
                "force_non_static_weights_for_f32_linear: weights of linear are constants here; a product of two "
                "values (torch.matmul, torch.bmm) is delegated as such"
            )
        if verbose:
            self.logger.setLevel(logging.DEBUG)

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        whole = [op for op in TABLE.preserved() if self._ops is None or str(op) in self._ops]
        whole += [op for config in self._own if (op := config.get_original_aten()) is not None]
        names = ("choose_qparams_affine", "quantize_affine", "dequantize_affine")
        known = (getattr(torch.ops.torchao, name, None) for name in names)
        return [*whole, *(packet.default for packet in known if packet is not None)], None

    def prepare(self, exported_program: ExportedProgram) -> None:
        fold_padding(exported_program)
        fold_undelegated_norms(exported_program)
        own_dequantized_inputs(exported_program)
        slice_parts(exported_program, TABLE)
        super().prepare(exported_program)

    def analyze(self, program: ExportedProgram) -> Constants:
        constants = Constants(program)
        self._others = _read_elsewhere(program, constants)
        return constants

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        own = next((config for config in self._own if config.is_target(node)), None)
        if own is not None:
            return own.get_partition(node, program) or f"{type(own).__name__} does not take it"
        return self._reason(node, constants) or group_of(node, constants)

    def split_at(
        self, program: ExportedProgram, groups: list[list[Node]], constants: Constants
    ) -> dict[Node, str]:
        if self._ops is not None:
            return {}
        taken = {node for group in groups for node in group}
        nodes = [node for node in program.graph.nodes if node in taken]
        alone = {group[0] for group in groups if len(group) == 1}
        return dict.fromkeys(worth_splitting_for(nodes, constants) & alone, SHORT_ROWS)

    def trim_boundary(self, nodes: list[Node]) -> list[Node]:
        return without_boundary_views(nodes)

    def why_trimmed(self, node: Node) -> str:
        return _VIEW if shares_memory_as_view(node) else ""

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        known = [node for node in nodes if op_name(node) in TABLE]
        works = any(not TABLE[op_name(node)].only_joins(node) for node in known)
        return "" if works or self._has_own(nodes) else _ALONE

    def why_slower(self, nodes: list[Node], constants: Constants) -> str:
        if self._ops is not None or self._has_own(nodes):
            return ""
        return why_slower(nodes, constants)

    def _has_own(self, nodes: list[Node]) -> bool:
        """Whether a config of the user's is asked for one of them."""
        return any(config.is_target(node) for config in self._own for node in nodes)

    def _reason(self, node: Node, constants: Constants) -> str:
        return TABLE.why_not(node, constants) or self._unwanted(node, constants)

    def _unwanted(self, node: Node, constants: Constants) -> str:
        """Why a call that XNNPACK takes is not delegated all the same."""
        if self._ops is not None and op_name(node) not in self._ops:
            return "not among the configs"
        if self._ops is None and (slower := TABLE[op_name(node)].why_slower(node)):
            return slower
        twice = next((each for each in node.all_input_nodes if each in self._others), None)
        if twice is not None:
            return (
                f"{twice.name} is read by {self._others[twice]}, too: the file would hold it twice"
            )
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
