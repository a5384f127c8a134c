# SPDX-License-Identifier: BSD-3-Clause
"""`LoweredBackendModule`: a program that a backend has compiled, as a module that can be called, saved by itself or
put inside other modules."""

from __future__ import annotations

import copy
import dataclasses
import operator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry
from torch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    OutputKind,
    OutputSpec,
)
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from executorch.exir._serialize._named_data_store import NamedDataStoreOutput
from executorch.exir.backend._submodules import NodeList as NodeList
from executorch.exir.backend._submodules import (
    create_submodule_from_nodes as create_submodule_from_nodes,
)
from executorch.exir.delegate import (
    executorch_call_delegate,
    get_lowered_module_name,
)
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_module import get_control_flow_submodules
from executorch.exir.program_copies import own_copy
from executorch.exir.schema import CompileSpec, Program


class LoweredBackendModule(torch.nn.Module):
    """Immutable; deep copies share data. `meta["debug_handle_map"]` holds the backend's debug identifiers.

    Calling it runs the program it was compiled from; the blob itself runs on the C++ runtime only."""

    meta: dict[str, Any] | None

    def __init__(
        self,
        edge_program: ExportedProgram,
        backend_id: str,
        processed_bytes: bytes,
        compile_specs: list[CompileSpec],
        named_data_store_output: NamedDataStoreOutput | None = None,
    ) -> None:
        super().__init__()
        self._original_exported_program = edge_program
        self._flat = None if edge_program is None else _with_flat_call(edge_program)
        self._is_flat = self._flat is edge_program
        # Beside the program, which torch.export(strict=True) does not look into.
        call = None if self._is_flat else edge_program.call_spec
        self._in_spec, self._out_spec = (call.in_spec, call.out_spec) if call else (None, None)
        self._backend_id = backend_id
        self._processed_bytes = processed_bytes
        self._compile_specs = compile_specs
        self._named_data_store_output = named_data_store_output
        self.meta = None

    @property
    def backend_id(self) -> str:
        return self._backend_id

    @property
    def processed_bytes(self) -> bytes:
        return self._processed_bytes

    @property
    def compile_specs(self) -> list[CompileSpec]:
        return self._compile_specs

    @property
    def original_module(self) -> ExportedProgram:
        """The program it was compiled from; it takes and gives flat values."""
        return self._flat

    @property
    def named_data_store_output(self) -> NamedDataStoreOutput | None:
        return self._named_data_store_output

    def __deepcopy__(self, memo: dict[int, Any]) -> LoweredBackendModule:
        """A module over a program with a graph of its own; weights, blob and named data are shared."""
        result = LoweredBackendModule(
            own_copy(self._original_exported_program),
            self._backend_id,
            self._processed_bytes,
            copy.deepcopy(self._compile_specs, memo),
            self._named_data_store_output,
        )
        result.meta = copy.copy(self.meta)
        memo[id(self)] = result
        return result

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self._is_flat:
            return executorch_call_delegate(self, *args)
        leaves, found = pytree.tree_flatten((args, kwargs))
        if not torch.compiler.is_compiling() and found != self._in_spec:
            raise ExportError(
                ExportErrorType.INVALID_INPUT_TYPE,
                f"the module lowered to {self.backend_id} was exported with inputs {self._in_spec}, called with "
                f"{found}; call it the way it was exported",
            )
        results = executorch_call_delegate(self, *leaves)
        return pytree.tree_unflatten(pytree.tree_leaves(results), self._out_spec)

    def buffer(
        self,
        extract_delegate_segments: bool = False,
        segment_alignment: int = 128,
        constant_tensor_alignment: int | None = None,
        delegate_alignment: int | None = None,
        memory_planning: Any | None = None,
    ) -> bytes:
        """The bytes of a program file that does nothing but call this module."""
        manager = self._manager(
            memory_planning,
            extract_delegate_segments=extract_delegate_segments,
            segment_alignment=segment_alignment,
            constant_tensor_alignment=constant_tensor_alignment,
            delegate_alignment=delegate_alignment,
        )
        return manager.buffer

    def program(self, emit_stacktrace: bool = False, memory_planning: Any | None = None) -> Program:
        """The same program before it is written."""
        manager = self._manager(memory_planning, emit_stacktrace=emit_stacktrace)
        return manager.executorch_program

    def _manager(self, memory_planning: Any | None, **options: Any) -> Any:
        """Imported late: the stages stand above what they pass around."""
        from executorch.exir.capture._config import ExecutorchBackendConfig
        from executorch.exir.program._managers import EdgeProgramManager

        if memory_planning is not None:
            options["memory_planning_pass"] = memory_planning
        return EdgeProgramManager(self._calling_program()).to_executorch(
            ExecutorchBackendConfig(**options)
        )

    def _calling_program(self) -> ExportedProgram:
        """A program of one call, with this module's inputs and outputs."""
        original = self._original_exported_program
        values = {node.name: node.meta.get("val") for node in original.graph.nodes}
        graph, root = Graph(), torch.nn.Module()
        input_specs = [s for s in original.graph_signature.input_specs if s.kind in _USER_INPUTS]
        output_specs = [s for s in original.graph_signature.output_specs if s.kind in _USER_OUTPUTS]
        inputs = [graph.placeholder(spec.arg.name) for spec in input_specs]
        for node in inputs:
            node.meta["val"] = values.get(node.name)
        attribute = graph.get_attr(get_lowered_module_name(root, self))
        call = graph.call_function(executorch_call_delegate, (attribute, *inputs))
        call.meta["val"] = [
            values[spec.arg.name]
            for spec in output_specs
            if not isinstance(spec.arg, ConstantArgument)
        ]
        results = _results(graph, call, output_specs)
        graph.output(tuple(value for value, _ in results))
        return ExportedProgram(
            root=root,
            graph=graph,
            graph_signature=ExportGraphSignature(input_specs, [spec for _, spec in results]),
            state_dict={},
            range_constraints=dict(original.range_constraints),
            module_call_graph=original.module_call_graph,
            verifiers=original.verifiers,
        )


_USER_INPUTS = (InputKind.USER_INPUT,)
_USER_OUTPUTS = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


def _results(graph: Graph, call: Node, specs: list[OutputSpec]) -> list[tuple[Any, OutputSpec]]:
    """What the call yields, item by item; constants stay what they are."""
    results: list[tuple[Any, OutputSpec]] = []
    index = 0
    for spec in specs:
        if isinstance(spec.arg, ConstantArgument):
            results.append((spec.arg.value, spec))
            continue
        item = graph.call_function(operator.getitem, (call, index))
        item.meta["val"] = call.meta["val"][index]
        index += 1
        arg = dataclasses.replace(spec.arg, name=item.name)
        results.append((item, OutputSpec(spec.kind, arg, spec.target)))
    return results


def _with_flat_call(program: ExportedProgram) -> ExportedProgram:
    """`program` itself, or over the same graph one whose inputs and outputs do not nest."""
    spec = program.call_spec
    if spec.in_spec is None or (_is_flat(spec.in_spec) and _is_shallow(spec.out_spec)):
        return program
    result = copy.copy(program)
    entry = program.module_call_graph[0]
    flat = dataclasses.replace(
        entry.signature,
        in_spec=pytree.tree_structure((tuple(range(spec.in_spec.num_leaves)), {})),
        out_spec=pytree.tree_structure(list(range(spec.out_spec.num_leaves))),
        forward_arg_names=None,
    )
    result._module_call_graph = [ModuleCallEntry(entry.fqn, flat)]
    if program.example_inputs is not None:
        result._example_inputs = (tuple(pytree.tree_leaves(program.example_inputs)), {})
    return result


def _is_flat(in_spec: pytree.TreeSpec) -> bool:
    positional, keywords = in_spec.children()
    return keywords.num_leaves == 0 and _is_shallow(positional)


def _is_shallow(spec: pytree.TreeSpec) -> bool:
    return spec.is_leaf() or (
        spec.type in (list, tuple) and all(child.is_leaf() for child in spec.children())
    )


def get_lowered_submodules(
    graph_module: GraphModule,
) -> list[tuple[str, LoweredBackendModule, Node]]:
    """(name, module, the call) for each delegate call of this graph; branches are not entered."""
    calls = graph_module.graph.find_nodes(op="call_function", target=executorch_call_delegate)
    return [
        (node.args[0].target, getattr(graph_module, node.args[0].target), node) for node in calls
    ]


def get_lowered_backend_modules(graph_module: GraphModule) -> list[LoweredBackendModule]:
    """The modules that the graph calls, branches included, each once, in graph order."""
    found: dict[int, LoweredBackendModule] = {}
    queue = [graph_module]
    while queue:
        module = queue.pop(0)
        for _, lowered, _ in get_lowered_submodules(module):
            found.setdefault(id(lowered), lowered)
        queue.extend(child for _, child, _ in get_control_flow_submodules(module))
    return list(found.values())
