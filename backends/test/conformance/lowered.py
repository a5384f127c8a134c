# SPDX-License-Identifier: BSD-3-Clause
"""A model lowered to a backend in the numbers that it takes, with what the checks ask of it."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.utils import _pytree as pytree

from executorch.backends.test.conformance.backend import Backend
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, ExecutorchProgramManager
from executorch.exir import to_edge_transform_and_lower as lower_program
from executorch.exir.lowered_backend_module import (
    LoweredBackendModule,
    get_lowered_backend_modules,
)
from executorch.extension.pybindings import portable_lib

Models = dict[str, tuple[torch.nn.Module, tuple[Any, ...]]]
Exported = tuple[torch.nn.Module, ExportedProgram]
_ORIGINAL = LoweredBackendModule.original_module  # what a runner replaces while it runs


@dataclass
class Lowered:
    """`modules`: by method, what eager computes beside it. `steps`: by method, how far a step of 8 bits is."""

    backend: Backend
    exported: dict[str, ExportedProgram]
    manager: EdgeProgramManager
    modules: dict[str, Callable[..., Any]]
    steps: dict[str, float]

    @property
    def delegates(self) -> list[LoweredBackendModule]:
        """Of all methods."""
        methods = sorted(self.manager.methods)
        graphs = (self.manager.exported_program(method).graph_module for method in methods)
        return [each for graph in graphs for each in get_lowered_backend_modules(graph)]

    def to_executorch(self) -> ExecutorchProgramManager:
        return self.manager.to_executorch()

    def runner(self, method: str = "forward") -> Callable[..., list[Any]]:
        """Runs on the runtime; where that lacks the backend, in Python with its reference for delegates."""
        if self.backend.runtime:
            loaded = load(self.to_executorch().buffer)
            return lambda *inputs: loaded.run_method(method, pytree.tree_leaves(inputs))
        program = self.manager.exported_program(method).module()
        backend = self.backend
        assert backend.reference is not None, "a check of values needs a runtime or a reference"

        @functools.cache
        def loaded_once(module: LoweredBackendModule) -> _Payload:
            return _Payload(module, backend)

        def run(*inputs: Any) -> list[Any]:
            payload = property(loaded_once)
            with mock.patch.object(LoweredBackendModule, "original_module", payload):
                return pytree.tree_leaves(program(*inputs))

        return run

    def check(
        self,
        found: list[Any],
        inputs: tuple[Any, ...],
        method: str = "forward",
        names: list[str] | None = None,
    ) -> None:
        """Results of a method beside eager ones."""
        given = pytree.tree_map_only(torch.Tensor, torch.clone, inputs)
        check(found, self.modules[method](*given), names, self.steps[method])


class _Payload:
    """A delegate, as what a call of it runs."""

    def __init__(self, module: LoweredBackendModule, backend: Backend) -> None:
        assert backend.reference is not None
        self._run = backend.reference(module.processed_bytes, named_data(module))
        self._by_memory, self._converts = backend.by_memory, backend.converts
        program = _ORIGINAL.fget(module)
        signature = program.graph_signature
        given = set(signature.user_inputs)
        self._given = [node.meta["val"] for node in program.graph.nodes if node.name in given]
        outputs = program.graph.output_node().args[0]
        pairs = zip(outputs, signature.output_specs, strict=True)
        self._results = [
            node.meta["val"] for node, spec in pairs if spec.kind is OutputKind.USER_OUTPUT
        ]

    def module(self) -> Callable[..., Any]:
        if self._by_memory:
            return self._given_by_memory
        return self._converted if self._converts else lambda *inputs: self._run(list(inputs))

    def _converted(self, *inputs: Any) -> Any:
        pairs = zip(self._run(list(inputs)), self._results, strict=True)
        return [
            each.to(want.dtype).reshape(each.shape if want.dim() else ()) for each, want in pairs
        ]

    def _given_by_memory(self, *inputs: Any) -> Any:
        """Of the program's orders: a kernel of PyTorch may give another one."""
        given = zip(inputs, self._given, strict=True)
        found = self._run([each.permute(value.dim_order()) for each, value in given])
        pairs = zip(found, self._results, strict=True)
        orders = [(each, want.dim_order()) for each, want in pairs]
        return [
            each.permute([*map(order.index, range(len(order)))]) if order else each.reshape(())
            for each, order in orders
        ]


def named_data(delegate: LoweredBackendModule) -> dict[str, bytes]:
    output = delegate.named_data_store_output
    if output is None:
        return {}
    return {
        key: bytes(memoryview(output.buffers[entry.buffer_index]))
        for key, entry in output.pte_data.items()
    }


def lower(
    backend: Backend, model: torch.nn.Module | Models, inputs: tuple[Any, ...] = (), **export: Any
) -> Lowered:
    """`model`: a module, or a method's module and inputs by name."""
    models = {"forward": (model, inputs)} if isinstance(model, torch.nn.Module) else model
    found = {
        name: exported(backend, module, given, **export) for name, (module, given) in models.items()
    }
    return lower_exported(backend, found)


def exported(
    backend: Backend, model: torch.nn.Module, inputs: tuple[Any, ...], **export: Any
) -> Exported:
    """A model as the backend takes it, and its program."""
    module = backend.prepared(model.eval(), inputs, **export)
    return module, torch.export.export(module, inputs, **export)


def lower_exported(backend: Backend, found: dict[str, Exported]) -> Lowered:
    """By method."""
    programs, modules, steps = {}, {}, {}
    for name, (module, program) in found.items():
        eager = program.module() if backend.quantize else module
        modules[name] = copy.deepcopy(eager)  # buffers that it writes are its own
        programs[name], steps[name] = program, _step(program)
    return Lowered(backend, programs, _lowered(backend, programs), modules, steps)


def lower_edge(backend: Backend, program: ExportedProgram) -> Lowered:
    """An edge program as it is: its results alone can be asked for."""
    manager = EdgeProgramManager(
        program, compile_config=EdgeCompileConfig(_check_ir_validity=False)
    )
    return Lowered(backend, {}, manager.to_backend(backend.partitioner()), {}, {})


def lower_again(lowered: Lowered) -> Lowered:
    manager = _lowered(lowered.backend, lowered.exported)
    return replace(lowered, manager=manager)


def _lowered(backend: Backend, programs: dict[str, ExportedProgram]) -> EdgeProgramManager:
    return lower_program(dict(programs), partitioner=[backend.partitioner()])


def _step(program: ExportedProgram) -> float:
    """The largest step between results that have been quantized; 0 where none has."""
    nodes = program.graph.output_node().all_input_nodes
    scales = [node.args[1] for node in nodes if "dequantize_per_tensor" in str(node.target)]
    return max((scale for scale in scales if isinstance(scale, float)), default=0.0)


def load(buffer: bytes) -> Any:
    return portable_lib._load_for_executorch_from_buffer(buffer)


def check(
    found: list[Any], expected: Any, names: list[str] | None = None, step: float = 0.0
) -> None:
    """Results of a program beside eager ones. Sums of 16-bit floats may be rounded on the way."""
    values = pytree.tree_leaves(expected)
    for place, (result, value) in enumerate(zip(found, values, strict=True)):
        name = names[place] if names else f"output {place}"
        is_half = value.dtype in (torch.float16, torch.bfloat16)
        near = {"rtol": 4e-3, "atol": 4e-3} if is_half else {}
        if step:
            near = {"rtol": 1e-5, "atol": 1.01 * step}
        torch.testing.assert_close(
            result,
            value,
            equal_nan=True,
            check_stride=False,
            msg=lambda text, n=name: f"{n}: {text}",
            **near,
        )
