# SPDX-License-Identifier: BSD-3-Clause
"""The compiler's passes over edge programs, in order, with the reason for each place: around the partitioners, then
from edge to planned. Each step takes the program, which it may change in place, and the lowering it is part of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import GraphModule

from executorch.exir.capture._config import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.graph_facts import data_specs, written_placeholders
from executorch.exir.passes.cse_pass import CSEPass
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.passes.debug_handle_generator_pass import generate_missing_debug_handles
from executorch.exir.passes.drop_expands_pass import drop_expands_pass
from executorch.exir.passes.external_constants_pass import is_lifted_number
from executorch.exir.passes.fold_constants_pass import fold_constants_pass, is_transposed_weight
from executorch.exir.passes.infer_view_size_pass import InferViewSizePass
from executorch.exir.passes.insert_write_back_for_buffers_pass import (
    insert_write_back_for_buffers_pass,
)
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.passes.merge_permutes_pass import merge_permutes_pass
from executorch.exir.passes.quant_fusion_pass import quant_fusion_and_const_prop_pass
from executorch.exir.passes.reinplace import DEFAULT_INPLACEABLE_OPS, reinplace_pass
from executorch.exir.passes.replace_edge_with_backend_pass import EdgeToBackendOpsPass
from executorch.exir.passes.replace_view_copy_with_view_pass import (
    share_views,
)
from executorch.exir.passes.row_major_pass import row_major_pass
from executorch.exir.passes.scalar_constants_to_scalars_pass import (
    scalar_constants_to_scalars_pass,
)
from executorch.exir.passes.spec_prop_pass import SpecPropPass, mark_constants
from executorch.exir.passes.sum_stacks_pass import sum_stacks_pass
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass
from executorch.exir.passes.to_out_var_pass import MissingOutVariants
from executorch.exir.passes.weights_to_outputs_pass import weights_to_outputs_pass
from executorch.exir.passes.write_in_place_pass import write_in_place
from executorch.exir.program._lowering_diagnostics import (
    LoweringDiagnostics,
    Wanted,
    check_lowering,
    joined,
)
from executorch.exir.program._programs import (
    apply_passes,
    per_method,
    plan_memory,
    propagate_devices,
    tag_external_constants,
    without_written_outputs,
)
from executorch.exir.program._quantized_weights import with_stored_weights
from executorch.exir.program_copies import drop_unused_data, own_copy
from executorch.exir.retrace.undelegated import decompose_undelegated, decompose_unserved


@dataclass(frozen=True)
class Delegation:
    """What the passes around the partitioners of one method may ask for."""

    kept: frozenset[torch._ops.OpOverload]  # operators that a partitioner preserves
    config: EdgeCompileConfig


@dataclass(frozen=True)
class Lowering:
    """What the passes from edge to planned of one method may ask for."""

    name: str
    config: ExecutorchBackendConfig
    skip_dim_order: bool
    edge: ExportedProgram  # the manager's, which passes of the user may have been made with

    @property
    def evaluate_shapes(self) -> Any:
        default = ConstraintBasedSymShapeEvalPass()
        return per_method(self.config.sym_shape_eval_pass, self.name, default)


Step = Callable[[ExportedProgram, Any], ExportedProgram | None]


def run_steps(steps: Sequence[Step], program: ExportedProgram, asked: Any) -> ExportedProgram:
    for one in steps:
        program = one(program, asked) or program
    return program


def _of_graph(one: Callable[[GraphModule], Any]) -> Step:
    def step(program: ExportedProgram, asked: Any) -> None:
        one(program.graph_module)

    return step


def _of_program(one: Callable[[ExportedProgram], Any]) -> Step:
    def step(program: ExportedProgram, asked: Any) -> ExportedProgram | None:
        changed = one(program)
        return changed if isinstance(changed, ExportedProgram) else None

    return step


# Rewrites to less work, whoever computes it, beside constants that are computed.
_OTHER_SIMPLIFICATIONS: tuple[Step, ...] = (
    _of_graph(merge_permutes_pass),
    _of_graph(drop_expands_pass),
    _of_graph(sum_stacks_pass),
)


def _fold_constants(program: ExportedProgram, lowering: Lowering) -> None:
    """Data that goes to data files is found there by its name: it stays as it is."""
    data = {
        node
        for node, spec in data_specs(program).items()
        if spec.kind != InputKind.CONSTANT_TENSOR and not is_lifted_number(node)
    }
    is_external = lowering.config.external_constants is not False
    stays = (lambda node: not data.isdisjoint(node.all_input_nodes)) if is_external else None
    fold_constants_pass(program, stays)


SIMPLIFICATIONS: tuple[Step, ...] = (_fold_constants, *_OTHER_SIMPLIFICATIONS)


# ---- Around the partitioners ----


def _fold_for_partitioners(program: ExportedProgram, delegation: Delegation) -> None:
    """But for the transposes of weights that were asked for."""
    stays = is_transposed_weight if delegation.config.decompose_linear else None
    fold_constants_pass(program, stays)


def _decompose_undelegated(program: ExportedProgram, delegation: Delegation) -> None:
    config = delegation.config
    decompose_undelegated(
        program,
        delegation.kept,
        config.preserve_ops,
        config._skip_dim_order,
        config.decompose_ops,
    )


BEFORE_PARTITIONING: tuple[Step, ...] = (
    _of_graph(InferViewSizePass()),  # views whose sizes are numbers can go into a delegate
    _of_graph(dead_code_elimination_pass),  # what computed the sizes
    _fold_for_partitioners,  # before backends choose, as the rest
    *_OTHER_SIMPLIFICATIONS,
)
AFTER_PARTITIONING: tuple[Step, ...] = (
    _decompose_undelegated,  # as to_edge would have done, had no partitioner wanted it whole
    _of_graph(CSEPass()),  # what is not delegated is computed once: masks of all layers
)


# ---- From edge to planned ----


def _fuse_quantized(program: ExportedProgram, lowering: Lowering) -> ExportedProgram:
    if not lowering.config.do_quant_fusion_and_const_prop:
        return program
    if program.graph_signature.backward_signature is not None:
        raise Exception(
            f"method {lowering.name} computes gradients: its constants change, so do_quant_fusion_and_const_prop is "
            "not for it"
        )
    return quant_fusion_and_const_prop_pass(program)


def _reinplace(program: ExportedProgram, lowering: Lowering) -> ExportedProgram:
    config = lowering.config
    if not (config.run_reinplace_pass or config.reinplace_extra_ops):
        return program
    ops = DEFAULT_INPLACEABLE_OPS if config.run_reinplace_pass else frozenset()
    return reinplace_pass(program, ops | (config.reinplace_extra_ops or frozenset()))


def _passes_of_the_user(program: ExportedProgram, lowering: Lowering) -> ExportedProgram:
    return apply_passes(program, lowering.config.passes, held=lowering.edge)


def _decompose(program: ExportedProgram, lowering: Lowering) -> None:
    decompose_unserved(program, lowering.skip_dim_order)


def _row_major(program: ExportedProgram, lowering: Lowering) -> None:
    row_major_pass(program.graph_module, for_upstream=not lowering.skip_dim_order)


def _make_specs(program: ExportedProgram) -> None:
    SpecPropPass()(program.graph_module)
    mark_constants(program, program.graph_module)


def _place_on_devices(program: ExportedProgram, lowering: Lowering) -> None:
    propagate_devices(lowering.name, program.graph_module, lowering.config)


def _refuse_what_cannot_run(program: ExportedProgram, lowering: Lowering) -> None:
    config = lowering.config
    by_bounds = isinstance(lowering.evaluate_shapes, ConstraintBasedSymShapeEvalPass)
    out_variants = not getattr(config.to_out_var_pass, "ignore_to_out_var_failure", False)
    wanted = Wanted(by_bounds, out_variants, not config.allow_missing_kernels)
    check_lowering(lowering.name, program, wanted)


def _evaluate_shapes(program: ExportedProgram, lowering: Lowering) -> None:
    lowering.evaluate_shapes(program.graph_module)


def _make_views(program: ExportedProgram, lowering: Lowering) -> None:
    if lowering.config.remove_view_copy:
        overwritten = frozenset(written_placeholders(program.graph_signature).values())
        share_views(program.graph_module, kept_sources=overwritten)


def _to_out_variants(program: ExportedProgram, lowering: Lowering) -> None:
    lowering.config.to_out_var_pass(program.graph_module)


def _write_back(program: ExportedProgram) -> None:
    _, program._graph_signature = insert_write_back_for_buffers_pass(program)


def _tag_external(program: ExportedProgram, lowering: Lowering) -> None:
    tag_external_constants(program, lowering.config)


def _place_in_memory(program: ExportedProgram, lowering: Lowering) -> None:
    planner = lowering.config.memory_planning_pass
    plan_memory(per_method(planner, lowering.name, MemoryPlanningPass()), program, lowering.config)


TO_PLANNED: tuple[Step, ...] = (
    _of_program(with_stored_weights),  # what no backend has taken: kernels read few bits
    _fuse_quantized,  # while quantize and dequantize stand beside what they are for
    *SIMPLIFICATIONS,  # what no backend has; before anything is written in place
    _reinplace,  # before anything else reads the graph's values
    _of_program(weights_to_outputs_pass),  # optimizers of the runtime find weights there
    _passes_of_the_user,  # they expect the edge dialect
    _decompose,  # backends have had their choice; what is left must have kernels
    _row_major,  # which orders they take
    _of_program(generate_missing_debug_handles),  # of nodes that passes have made, too
    _of_program(write_in_place),  # caches: last of all that reads the graph as values
    _of_graph(dead_code_elimination_pass),  # what passes left without users
    _of_graph(scalar_constants_to_scalars_pass),  # leaves constants without users
    _of_program(drop_unused_data),  # before specs: data nobody reads needs none
    _of_program(_make_specs),  # with symbolic sizes, at first
    _place_on_devices,  # before copies between devices need out variants
    _refuse_what_cannot_run,  # one error for everything, before the first step that would fail
    _evaluate_shapes,  # sizes become numbers before anything asks for bytes
    _make_views,  # while views are functional operators; needs specs
    _of_graph(EdgeToBackendOpsPass()),  # scalar operators have no out variant: before that is asked
    _to_out_variants,
    _of_program(_write_back),  # after out variants, because copy_ stays as it is
    _tag_external,  # the planner leaves constants of data files out
    _place_in_memory,  # nothing changes lifetimes any more
    _of_program(without_written_outputs),  # after planning, which asks what is written
    _of_graph(GraphModule.recompile),  # for those who print the graph; nothing runs this code
)


def planned_programs(
    programs: dict[str, ExportedProgram], config: ExecutorchBackendConfig, skip_dim_order: bool
) -> dict[str, ExportedProgram]:
    """Of all methods; what stands in the way is reported for all of them."""
    planned, blocked = {}, []
    for name, program in programs.items():
        try:
            lowering = Lowering(name, config, skip_dim_order, program)
            planned[name] = _planned_program(program, lowering)
        except (LoweringDiagnostics, MissingOutVariants) as error:
            blocked.append(error)
    if blocked:
        raise joined(blocked)
    return planned


def _planned_program(program: ExportedProgram, lowering: Lowering) -> ExportedProgram:
    return run_steps(TO_PLANNED, own_copy(program), lowering)
