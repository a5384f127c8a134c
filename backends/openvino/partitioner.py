# SPDX-License-Identifier: BSD-3-Clause
"""`OpenvinoPartitioner`: what the table takes and OpenVINO compiles, in the largest pieces that can run in one step."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.nn import Module

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.backends.openvino.aot.ops import TABLE
from executorch.backends.openvino.aot.options import Options
from executorch.backends.openvino.aot.quantized import quantized_with
from executorch.backends.openvino.aot.static import StaticValues
from executorch.backends.openvino.preprocess import OpenvinoBackend
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner
from executorch.exir.backend.lowering.user_lists import UserLists, by_node, by_operator


def _skipped(types: Iterable[Any] | None, names: Iterable[str] | None) -> UserLists:
    lists = [("op_types_to_skip", by_operator, types), ("op_names_to_skip", by_node, names)]
    return UserLists(blocked=lists)


class OpenvinoOperatorsSupport(OperatorSupportBase):
    """Whether the table takes a call, for torch's partitioners, which ask of one at a time: no operand is known to be
    data."""

    def __init__(
        self, op_types_to_skip: set | None = None, op_names_to_skip: set | None = None
    ) -> None:
        self._lists = _skipped(op_types_to_skip, op_names_to_skip)

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        if node.target is operator.getitem:
            return True
        is_call = node.op == "call_function" and not self._lists.why_not(node)
        return is_call and not TABLE.why_not(node, {})


class OpenvinoPartitioner(ExternalPartitioner):
    """`op_types_to_skip`: operators, such as "aten.relu.default", and `op_names_to_skip`: names of nodes, that stay on
    the CPU. Compile specs are in aot/options.py."""

    table = TABLE
    backend_id = OpenvinoBackend.__name__
    compiler = OPENVINO

    def __init__(
        self,
        compile_spec: Sequence[CompileSpec] = (),
        op_types_to_skip: set | None = None,
        op_names_to_skip: set | None = None,
    ) -> None:
        super().__init__(
            Options.read(compile_spec).specs(),
            user_lists=_skipped(op_types_to_skip, op_names_to_skip),
        )

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        """A quantize and its dequantizes go together, or stay."""
        together = quantized_with(node)
        for each in together:
            if reason := self.table.why_not(each, constants):
                return reason
        claims = [
            super(OpenvinoPartitioner, self).claim(each, program, constants) for each in together
        ]
        return list(dict.fromkeys(each for claimed in claims for each in claimed))

    def analyze(self, program: ExportedProgram) -> Constants:
        self._values = StaticValues(program)
        return self._values

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        sources = {each for node in nodes for each in node.all_input_nodes}
        has_input = any(each not in self._values for each in sources)
        return "" if has_input else "all operands are static"
