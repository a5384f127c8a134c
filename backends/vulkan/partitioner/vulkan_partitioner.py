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
from executorch.exir.backend.lowering.steps import nodes_of
from executorch.exir.backend.utils import tag_mutated_buffer
from executorch.exir.graph_facts import call_name, called_op, op_name

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
        super().__init__(parse_compile_options(self.options))
        self.operator_blocklist = set(operator_blocklist or ())
        self.operator_allowlist = _set(operator_allowlist)
        self.nn_module_blocklist = _set(nn_module_blocklist)
        self.nn_module_allowlist = _set(nn_module_allowlist)

    def tag_data(self, program: ExportedProgram) -> None:
        """What a method writes stays on the device."""
        super().tag_data(program)
        tag_mutated_buffer(program)

    def look_at(self, program: ExportedProgram) -> Constants:
        return known_values(program)

    def prepare(self, program: ExportedProgram) -> None:
        split_sizes(program.graph)

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        if is_size(node):
            return "sizes go with what reads them"
        reason = self._why_not_wanted(node)
        if reason:
            return reason
        claimed = super().claim(node, program, constants)
        if isinstance(claimed, str):
            return claimed
        return _with_sources([*along(self.table.step_at(node)), *claimed], constants)

    def _groups(self, program: ExportedProgram, constants: Constants) -> Groups:
        """Of patterns also with what quantizes for them, and the weights that are computed ahead. What reads a
        size that cannot be there stays, and a position that is read outside, too."""
        groups = super()._groups(program, constants)
        for step in self.table.patterns(program.graph, constants):
            groups.append(_with_sources([*along(step), *nodes_of(step)], constants))
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
                self._leave(group[-1:], reason)
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
                self._leave(group[-1:], "int64 that says places is read by calls outside alone")
            groups = [group for group in groups if group not in lost]

    def _why_not_wanted(self, node: Node) -> str:
        types = " ".join(str(kind) for _, kind in node.meta.get("nn_module_stack", {}).values())
        allowed, blocked = self.nn_module_allowlist, self.nn_module_blocklist
        if allowed is not None and not any(each in types for each in allowed):
            return "its module is not in nn_module_allowlist"
        if blocked is not None and any(each in types for each in blocked):
            return "its module is in nn_module_blocklist"
        if self.operator_allowlist is not None and not _is_in(node, self.operator_allowlist):
            return "its operator is not in operator_allowlist"
        if _is_in(node, self.operator_blocklist):
            return "its operator is in operator_blocklist"
        return self._why_too_large(node)

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


def _with_sources(nodes: list[Node], constants: Constants) -> list[Node]:
    """Behind what is computed ahead for them, and the sizes that they read."""
    found: list[Node] = []
    for node in nodes:
        found += [*constants.computed_inputs(node), *sizes_read(node), node]
    return [*dict.fromkeys(found)]


def _set(given: Iterable[Any] | None) -> set[Any] | None:
    return None if given is None else set(given)


def _is_in(node: Node, listed: set[OpKey]) -> bool:
    name = call_name(node)
    names = {name, name.replace(".", "::", 1).removesuffix(".default")}
    return (
        node.target in listed
        or called_op(node) in listed
        or not names.isdisjoint(each for each in listed if isinstance(each, str))
    )
