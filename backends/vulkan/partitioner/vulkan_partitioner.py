# SPDX-License-Identifier: BSD-3-Clause
"""`VulkanPartitioner`: what the table takes, in the largest pieces that can run in one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.vulkan.aot.attention import SCALAR
from executorch.backends.vulkan.aot.known import known_values
from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.aot.options import (
    options_of,
)
from executorch.backends.vulkan.aot.options import (
    parse_compile_options as parse_compile_options,
)
from executorch.backends.vulkan.aot.places import is_int64, says_places
from executorch.backends.vulkan.aot.sizes import is_size, sizes_read, split_sizes
from executorch.backends.vulkan.aot.table import along
from executorch.backends.vulkan.vulkan_preprocess import VulkanBackend
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.op_table import tensors_of
from executorch.exir.backend.lowering.partitioner import Groups, TablePartitioner
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.backend.lowering.user_lists import UserLists, by_module, by_operator
from executorch.exir.backend.utils import tag_mutated_buffer
from executorch.exir.graph_facts import call_name, op_name

OpKey = Any  # an operator of the edge dialect, one of torch, or its name


@final
class VulkanPartitioner(TablePartitioner):
    """`compile_options`: aot/options.py. Operators and modules on a blocklist stay on the CPU, and all that are not on
    an allowlist, where one is given. A module is named by a part of its class's name."""

    table = TABLE
    backend_id = VulkanBackend.__name__
    joins_all = True

    def __init__(
        self,
        compile_options: Mapping[str, Any] | None = None,
        operator_blocklist: Iterable[OpKey] | None = None,
        operator_allowlist: Iterable[OpKey] | None = None,
        nn_module_blocklist: Iterable[str] | None = None,
        nn_module_allowlist: Iterable[str] | None = None,
    ) -> None:
        self.options = dict(compile_options or {})
        self._asked = options_of(self.options)
        lists = UserLists(
            blocked=[
                ("operator_blocklist", by_operator, operator_blocklist),
                ("nn_module_blocklist", by_module, nn_module_blocklist),
            ],
            allowed=[
                ("nn_module_allowlist", by_module, nn_module_allowlist),
                ("operator_allowlist", by_operator, operator_allowlist),
            ],
        )
        super().__init__(parse_compile_options(self.options), user_lists=lists)

    def tag_data(self, program: ExportedProgram) -> None:
        """What a method writes stays on the device."""
        super().tag_data(program)
        tag_mutated_buffer(program)

    def analyze(self, program: ExportedProgram) -> Constants:
        return known_values(program)

    def prepare(self, program: ExportedProgram) -> None:
        split_sizes(program.graph)
        super().prepare(program)

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        if is_size(node):
            return "sizes go with what reads them"
        return self._why_too_large(node) or super().claim(node, program, constants)

    def calls_of(self, step: Step) -> list[Node]:
        return [*along(step), *super().calls_of(step)]

    def needed_by(self, node: Node, constants: Constants) -> list[Node]:
        return [*super().needed_by(node, constants), *sizes_read(node)]

    def group_calls(self, program: ExportedProgram, constants: Constants) -> Groups:
        """Without what reads a size that cannot be there, and positions that are read outside."""
        groups = super().group_calls(program, constants)
        inside = {node for group in groups for node in group}

        def why_stays(group: list[Node]) -> str:
            node = group[-1]
            if op_name(node) == SCALAR and not inside.issuperset(node.users):
                return "others read the number, too: what a delegate gives is a tensor"
            return next(filter(None, map(why_not_size, filter(is_size, group))), "")

        def why_not_size(size: Node) -> str:
            reason = self.table.why_not(size, constants)
            return f"a size that it reads cannot be in the delegate: {reason}" if reason else ""

        kept = []
        for group in groups:
            if reason := why_stays(group):
                self.reject(group[-1:], reason)
            else:
                kept.append(group)
        return self._with_readers(kept)

    def _with_readers(self, groups: Groups) -> Groups:
        """Without int64 that says places to calls outside only: a delegate could not tell."""
        while True:
            inside = {node for group in groups for node in group}
            lost = [group for group in groups if any(_is_lost(node, inside) for node in group)]
            if not lost:
                return groups
            for group in lost:
                self.reject(group[-1:], "int64 that says places is read by calls outside alone")
            groups = [group for group in groups if group not in lost]

    def _why_too_large(self, node: Node) -> str:
        for each in tensors_of(node):
            found = each.meta.get("val")
            if not isinstance(found, torch.Tensor):
                continue
            if self._asked.skip_bool_tensors and found.dtype == torch.bool:
                return "it reads or gives booleans, and skip_bool_tensors is set"
        return ""


def _is_lost(node: Node, inside: set[Node]) -> bool:
    is_value = is_int64(node) and not is_size(node) and call_name(node) in TABLE
    return is_value and not says_places(TABLE, node, inside)
