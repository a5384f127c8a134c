# SPDX-License-Identifier: BSD-3-Clause
"""`ProgramBuilder`: an exported program written call by call, with its parameters, buffers and constants."""

from __future__ import annotations

from enum import Enum, auto

import torch
from torch._export.verifier import Verifier
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.utils import _pytree as pytree

from executorch.backends.test.graph_builder import GraphBuilder
from executorch.exir import EdgeCompileConfig, EdgeProgramManager
from executorch.exir.pass_base import ProxyValue
from executorch.exir.verification.verifier import EXIREdgeDialectVerifier


class IrMode(Enum):
    EXIR = auto()
    ATEN = auto()


class ProgramBuilder(GraphBuilder):
    """`mode`: of which dialect the calls are; EXIR when not given."""

    def __init__(
        self,
        mode: IrMode | None = None,
        _core_aten_ops_exception_list: list[OpOverload] | None = None,
        fake_tensor_mode: FakeTensorMode | None = None,
    ) -> None:
        super().__init__(fake_tensor_mode)
        self._mode = mode or IrMode.EXIR
        self._core_aten_ops_exception_list = _core_aten_ops_exception_list or []
        self.input_specs: list[InputSpec] = []
        self.output_specs: list[OutputSpec] = []
        self.state_dict: dict[str, torch.Tensor] = {}
        self.constants: dict[str, torch.Tensor] = {}

    def insert_input_spec(self, target: str, input_kind: InputKind, value: torch.Tensor) -> None:
        argument, is_buffer = TensorArgument(target), input_kind == InputKind.BUFFER
        if input_kind == InputKind.USER_INPUT:
            self.input_specs.append(InputSpec(input_kind, argument, target=target))
            return
        spec = InputSpec(input_kind, argument, target=target, persistent=is_buffer or None)
        self.input_specs.append(spec)
        if input_kind == InputKind.CONSTANT_TENSOR:
            self.constants[target] = value
        elif input_kind == InputKind.PARAMETER:
            is_wrapped = isinstance(value, torch.nn.Parameter)
            self.state_dict[target] = (
                value if is_wrapped else torch.nn.Parameter(value, value.is_floating_point())
            )
        else:
            self.state_dict[target] = value

    def placeholder(
        self, target: str, fake_tensor: torch.Tensor, input_kind: InputKind = InputKind.USER_INPUT
    ) -> ProxyValue:
        """An input, or data of the program under the name `target`. Data comes before inputs of the user."""
        self.insert_input_spec(target, input_kind, fake_tensor)
        return super().placeholder(target, fake_tensor)

    def output(
        self,
        results: list[ProxyValue],
        output_kinds: list[OutputKind] | None = None,
        output_targets: list[str | None] | None = None,
    ) -> ProxyValue:
        kinds = output_kinds or [OutputKind.USER_OUTPUT] * len(results)
        targets = output_targets or [None] * len(results)
        for result, kind, target in zip(results, kinds, targets, strict=True):
            name = result.node.name
            self.output_specs.append(OutputSpec(kind, TensorArgument(name), target=target))
        return super().output(results)

    def get_verifiers(self) -> list[type[Verifier]] | None:
        return [EXIREdgeDialectVerifier(class_only=True)] if self._mode is IrMode.EXIR else None

    def get_program(self) -> ExportedProgram:
        inputs = [s for s in self.input_specs if s.kind == InputKind.USER_INPUT]
        outputs = [s for s in self.output_specs if s.kind == OutputKind.USER_OUTPUT]
        # inputs are (args, kwargs)
        in_spec = pytree.tree_structure((tuple(range(len(inputs))), {}))
        out_spec = pytree.tree_structure(tuple(range(len(outputs))))
        signature = ModuleCallSignature([], [], in_spec, out_spec)
        return ExportedProgram(
            root=self.tracer.root,
            graph=self.tracer.graph,
            graph_signature=ExportGraphSignature(self.input_specs, self.output_specs),
            state_dict=self.state_dict,
            range_constraints={},
            module_call_graph=[ModuleCallEntry("", signature)],
            example_inputs=None,
            constants=self.constants,
            verifiers=self.get_verifiers(),
        )

    def get_edge_program(self) -> EdgeProgramManager:
        config = EdgeCompileConfig(_core_aten_ops_exception_list=self._core_aten_ops_exception_list)
        return EdgeProgramManager(self.get_program(), compile_config=config)
