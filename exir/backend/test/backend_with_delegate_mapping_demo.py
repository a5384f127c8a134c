# SPDX-License-Identifier: BSD-3-Clause
"""How a backend tells which of the model's operators its own operators stand for: fused ones stand for several."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.utils import DelegateMappingBuilder
from executorch.exir.dialects._ops import ops
from executorch.exir.error import ExportError, ExportErrorType

_CONV = ops.edge.aten.convolution.default
_RELU = ops.edge.aten.relu.default
_NAMES = {_CONV: "conv", _RELU: "relu", ops.edge.aten.tanh.default: "tanh"}


@dataclass
class DummyOp:
    op: str
    delegate_debug_identifier: int | str

    def serialize(self) -> bytes:
        return f"op:{self.op}<delegate_debug_identifier>{self.delegate_debug_identifier}".encode()


class BackendWithDelegateMappingDemo(BackendDetails):
    """Fuses a convolution with the relu behind it; knows convolution, relu and tanh. There is no runtime half."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        builder = DelegateMappingBuilder(generated_identifiers=True)
        made = []
        for group in _groups(edge_program):
            identifier = builder.insert_delegate_mapping_entry(nodes=group)
            made.append(DummyOp("_".join(_NAMES[node.target] for node in group), identifier))
        blob = b"#".join([str(len(made)).encode(), *(op.serialize() for op in made), b""])
        return PreprocessResult(blob, builder.get_delegate_mapping())

    @staticmethod
    def get_test_model_and_inputs() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
        class ConvReluTanh(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.conv = torch.nn.Conv1d(1, 2, 3)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.tanh(torch.relu(self.conv(x)))

        return ConvReluTanh().eval(), (torch.randn(1, 1, 8),)


def _groups(program: ExportedProgram) -> list[list[Node]]:
    groups: list[list[Node]] = []
    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        if node.target not in _NAMES:
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"BackendWithDelegateMappingDemo: node {node.name} calls {node.target}; expected one of "
                f"{', '.join(_NAMES.values())}",
            )
        last = groups[-1][-1] if groups else None
        if node.target is _RELU and last is node.args[0] and last.target is _CONV:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups
