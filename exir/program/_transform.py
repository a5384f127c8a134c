# SPDX-License-Identifier: BSD-3-Clause
"""Passes over one program, for those who have a program and no manager."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from torch._export.verifier import Verifier
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_manager import PassManager as FxPassManager

from executorch.exir._program_utils import (
    _get_updated_graph_signature,
    _get_updated_range_constraints,
)
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.exir.pass_manager import ExportedProgramPassManager
from executorch.exir.retrace.lifted_constants import lift_tensor_attributes


def _transform(
    program: ExportedProgram,
    *passes: Any,
    override_verifiers: list[type[Verifier]] | None = None,
) -> ExportedProgram:
    """`program` after `passes`, which run in order and may change it in place; itself when they changed nothing."""
    for one in passes:
        if isinstance(one, list) or (inspect.isclass(one) and issubclass(one, Verifier)):
            raise AssertionError(
                f"expected passes one by one, found {one!r}; verifiers go into override_verifiers=[...]"
            )
    manager = ExportedProgramPassManager(list(passes))
    return _transform_with_pass_manager(program, manager, override_verifiers)


def _transform_with_pass_manager(
    program: ExportedProgram,
    pass_manager: ExportedProgramPassManager | FxPassManager,
    override_verifiers: list[type[Verifier]] | None = None,
) -> ExportedProgram:
    if isinstance(pass_manager, ExportedProgramPassManager):
        result = pass_manager(program, override_verifiers)
        return result.exported_program if result.modified else program
    changed = pass_manager(program.graph_module)
    if not changed.modified:
        return program
    return _update_exported_program_graph_module(program, changed.graph_module, override_verifiers)


def transform_exported_program(program: ExportedProgram, *passes: Any) -> ExportedProgram:
    return _transform(program, *passes)


def _update_exported_program_graph_module(
    exported_program: ExportedProgram,
    gm: GraphModule,
    override_verifiers: list[type[Verifier]] | None = None,
) -> ExportedProgram:
    """The program over another graph: names of the signature and ranges of sizes are those of the graph."""
    signature = _get_updated_graph_signature(exported_program.graph_signature, gm)
    return ExportedProgram(
        root=gm,
        graph=gm.graph,
        graph_signature=signature,
        state_dict=exported_program.state_dict,
        range_constraints=_get_updated_range_constraints(gm),
        module_call_graph=copy.deepcopy(exported_program.module_call_graph),
        example_inputs=exported_program.example_inputs,
        constants=exported_program.constants,
        verifiers=override_verifiers or list(exported_program.verifiers),
    )


def _copy_module(new_prog: Any, new_gm: GraphModule) -> None:
    """Gives `new_prog` the graph, the submodules and the meta of `new_gm`."""
    new_prog.meta.update(new_gm.meta)
    new_prog.graph = new_gm.graph
    for name, submodule in new_gm.named_children():
        setattr(new_prog, name, submodule)


def lift_constant_tensor_pass(ep: ExportedProgram) -> ExportedProgram:
    """Tensors of the graph module become data of the program; works in place and gives `ep` back."""
    lift_tensor_attributes(ep)
    return ep


def collect_named_data_store_from_exported_program(
    exported_program: ExportedProgram, named_data_store: NamedDataStore
) -> None:
    """Adds what the backends of the program have filed to `named_data_store`."""
    for lowered in get_lowered_backend_modules(exported_program.graph_module):
        if lowered.named_data_store_output is not None:
            named_data_store.merge_named_data_store(lowered.named_data_store_output)


__all__ = [
    "_copy_module",
    "_transform",
    "_transform_with_pass_manager",
    "_update_exported_program_graph_module",
    "collect_named_data_store_from_exported_program",
    "lift_constant_tensor_pass",
    "transform_exported_program",
]
