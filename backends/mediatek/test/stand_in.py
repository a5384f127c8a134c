# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins of MediaTek's modules in place, and what tests ask of an export."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import export

from executorch.backends.mediatek.compiler import COMPILER, unpack
from executorch.backends.mediatek.partitioner import NeuropilotPartitioner
from executorch.backends.test.conformance.backend import Run
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.lowered_backend_module import (
    LoweredBackendModule,
    get_lowered_backend_modules,
)

SDK = Path(__file__).parent / "sdk"
PLATFORM = CompileSpec("platform-config", b"mt6989")
Models = Mapping[str, tuple[nn.Module, tuple[Any, ...]]]
_MODULES = ("mtk_converter", "mtk_neuron")


@contextmanager
def recording() -> Iterator[list[Any]]:
    """What the two are asked, in order."""
    before = list(sys.path)
    sys.path.insert(0, str(SDK))
    log: list[Any] = []
    try:
        for name in _MODULES:
            import_module(name).LOG = log
        COMPILER._made.clear()
        yield log
    finally:
        sys.path[:] = before
        for name in [each for each in sys.modules if each.partition(".")[0] in _MODULES]:
            del sys.modules[name]


def partitioner() -> NeuropilotPartitioner:
    """With the modules in place from here on, which keep programs."""
    if str(SDK) not in sys.path:
        sys.path.append(str(SDK))
    converter = import_module("mtk_converter")
    converter.kept = converter.kept or {}
    COMPILER._made.clear()
    return NeuropilotPartitioner([PLATFORM])


def without_stand_in() -> None:
    sys.path[:] = [each for each in sys.path if each != str(SDK)]
    for name in [each for each in sys.modules if each.partition(".")[0] in _MODULES]:
        del sys.modules[name]
    COMPILER._made.clear()


def reference(payload: bytes, data: Mapping[str, bytes]) -> Run:
    """What the converter was given, in PyTorch."""
    _, _, key = unpack(payload).model.decode().rpartition("#")
    program = (import_module("mtk_converter").kept or {}).get(key)
    if program is None:
        raise ValueError(f"expected a model of the stand-in, found {len(payload)} bytes")
    module = program.module()
    return lambda inputs: module(*inputs)


def lowered(
    models: nn.Module | Models,
    *inputs: Any,
    specs: Any = (PLATFORM,),
    decompose_linear: bool = False,
    **how: Any,
) -> EdgeProgramManager:
    """`specs`: for all methods, or by method."""
    methods = {"forward": (models, inputs)} if isinstance(models, nn.Module) else models
    partitioners = {
        name: [
            NeuropilotPartitioner(list(specs[name] if isinstance(specs, dict) else specs), **how)
        ]
        for name in methods
    }
    return to_edge_transform_and_lower(
        {name: export(model, given) for name, (model, given) in methods.items()},
        partitioner=partitioners,
        compile_config=EdgeCompileConfig(decompose_linear=decompose_linear),
    )


def delegates(manager: EdgeProgramManager) -> list[LoweredBackendModule]:
    graphs = (manager.exported_program(name).graph_module for name in sorted(manager.methods))
    return [each for graph in graphs for each in get_lowered_backend_modules(graph)]


def models_in(manager: EdgeProgramManager) -> list[str]:
    """Of the stand-in: options, and the names of operators."""
    return [unpack(each.processed_bytes).model.decode() for each in delegates(manager)]


def named_data(delegate: LoweredBackendModule) -> dict[str, bytes]:
    found = delegate.named_data_store_output
    keys = {} if found is None else found.pte_data
    return {key: bytes(found.buffers[each.buffer_index]) for key, each in keys.items()}


class Function(nn.Module):
    """`modules` are its own."""

    def __init__(self, function: Any, **modules: Any) -> None:
        super().__init__()
        self.function = function
        for name, each in modules.items():
            setattr(self, name, each)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(self, *inputs)
