# SPDX-License-Identifier: BSD-3-Clause
"""`EnnPartitioner`: what the table takes and LiteCore does not refuse, in the largest pieces that run in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.nn import Module

from executorch.backends.samsung.aot.compiler import COMPILER, constants_of
from executorch.backends.samsung.aot.ops import TABLE
from executorch.backends.samsung.enn_preprocess import EnnBackend
from executorch.backends.samsung.serialization.compile_options import (
    EnnExecuTorchOptions,
    gen_samsung_backend_compile_spec_core,
    options_in,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner
from executorch.exir.backend.lowering.float_boundaries import make_boundaries_float
from executorch.exir.backend.lowering.mode_steps import (
    delegated_with,
    only_copies,
    without_conversions,
)
from executorch.exir.backend.lowering.quantized_steps import (
    fold_redundant_pairs,
    own_dequantized_inputs,
)

SUPPORTED_OPS = sorted(TABLE)


class EnnOperatorSupport(OperatorSupportBase):
    """Whether a call is taken, for torch's partitioners, which ask of one at a time."""

    def __init__(self, edge_program: ExportedProgram, compile_specs: Sequence[CompileSpec]) -> None:
        options_in(compile_specs)
        self._constants = constants_of(edge_program)

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        return node.op == "call_function" and not TABLE.why_not(node, self._constants)


class EnnPartitioner(ExternalPartitioner):
    """For E9955 unless compile specs say another chipset."""

    table = TABLE
    backend_id = EnnBackend.__name__
    compiler = COMPILER
    asks_compiler = False
    tag = "enn_"

    def __init__(self, compile_specs: Sequence[CompileSpec] | None = None) -> None:
        default = [gen_samsung_backend_compile_spec_core(EnnExecuTorchOptions())]
        specs = default if compile_specs is None else list(compile_specs)
        options_in(specs)
        super().__init__(specs)

    def prepare(self, exported_program: ExportedProgram) -> None:
        fold_redundant_pairs(exported_program.graph_module)
        own_dequantized_inputs(exported_program)
        super().prepare(exported_program)

    def finish(self, tagged_program: ExportedProgram) -> None:
        make_boundaries_float(tagged_program)

    def analyze(self, program: ExportedProgram) -> Constants:
        self._values = constants_of(program)
        return self._values

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        reason = self.table.why_not(node, constants)
        return reason or delegated_with(self.table.step_of(node, constants), constants)

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        copies = only_copies(without_conversions(nodes, self._values))
        return "nothing is computed" if copies else ""
