# SPDX-License-Identifier: BSD-3-Clause
"""edge -> planned: the order of passes, with the reason for each place. `PASSES` is the list; each entry takes the
program, which it may change in place, and the lowering it is part of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.capture._config import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.pass_base import ExportedProgramPassBase
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.passes.debug_handle_generator_pass import generate_missing_debug_handles
from executorch.exir.passes.drop_expands_pass import drop_expands_pass
from executorch.exir.passes.fold_constants_pass import fold_constants_pass
from executorch.exir.passes.insert_write_back_for_buffers_pass import (
    insert_write_back_for_buffers_pass,
)
from executorch.exir.passes.legalize_portable_dim_order_pass import LegalizePortableDimOrderPass
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.passes.merge_permutes_pass import merge_permutes_pass
from executorch.exir.passes.normalize_view_copy_base_pass import NormalizeViewCopyBasePass
from executorch.exir.passes.propagate_device_pass import PropagateDevicePass
from executorch.exir.passes.quant_fusion_pass import quant_fusion_and_const_prop_pass
from executorch.exir.passes.reinplace import DEFAULT_INPLACEABLE_OPS, reinplace_pass
from executorch.exir.passes.remove_graph_asserts_pass import RemoveGraphAssertsPass
from executorch.exir.passes.replace_edge_with_backend_pass import EdgeToBackendOpsPass
from executorch.exir.passes.replace_view_copy_with_view_pass import (
    ReplaceViewCopyWithViewPass,
    share_views,
)
from executorch.exir.passes.scalar_constants_to_scalars_pass import (
    scalar_constants_to_scalars_pass,
)
from executorch.exir.passes.spec_prop_pass import SpecPropPass, mark_constants
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass
from executorch.exir.passes.to_out_var_pass import MissingOutVariants
from executorch.exir.passes.weights_to_outputs_pass import weights_to_outputs_pass
from executorch.exir.passes.write_in_place_pass import write_in_place
from executorch.exir.program._blockers import Blockers, Wanted, check_blockers, joined
from executorch.exir.program._programs import (
    apply_passes,
    per_method,
    plan_memory,
    propagate_devices,
    tag_external_constants,
    without_written_outputs,
)
from executorch.exir.program_copies import drop_unused_data, own_copy
from executorch.exir.retrace.unclaimed import decompose_unserved

Pass = ExportedProgramPassBase | Callable[[GraphModule], PassResult | None]


@dataclass(frozen=True)
class Lowering:
    """What the passes of one method may ask for."""

    name: str
    config: ExecutorchBackendConfig
    skip_dim_order: bool

    @property
    def evaluate_shapes(self) -> Any:
        default = ConstraintBasedSymShapeEvalPass()
        return per_method(self.config.sym_shape_eval_pass, self.name, default)


Step = Callable[[ExportedProgram, Lowering], ExportedProgram | None]


def _of_graph(one: Callable[[GraphModule], Any]) -> Step:
    def step(program: ExportedProgram, lowering: Lowering) -> None:
        one(program.graph_module)

    return step


def _of_program(one: Callable[[ExportedProgram], Any]) -> Step:
    def step(program: ExportedProgram, lowering: Lowering) -> ExportedProgram | None:
        changed = one(program)
        return changed if isinstance(changed, ExportedProgram) else None

    return step


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
    return apply_passes(program, lowering.config.passes)


def _decompose(program: ExportedProgram, lowering: Lowering) -> None:
    decompose_unserved(program, lowering.skip_dim_order)


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
    check_blockers(lowering.name, program, wanted)


def _evaluate_shapes(program: ExportedProgram, lowering: Lowering) -> None:
    lowering.evaluate_shapes(program.graph_module)


def _make_views(program: ExportedProgram, lowering: Lowering) -> None:
    if lowering.config.remove_view_copy:
        share_views(program.graph_module, kept_sources=_overwritten(program))


def _to_out_variants(program: ExportedProgram, lowering: Lowering) -> None:
    lowering.config.to_out_var_pass(program.graph_module)


def _write_back(program: ExportedProgram) -> None:
    _, program._graph_signature = insert_write_back_for_buffers_pass(program)


def _tag_external(program: ExportedProgram, lowering: Lowering) -> None:
    tag_external_constants(program, lowering.config)


def _place_in_memory(program: ExportedProgram, lowering: Lowering) -> None:
    planner = lowering.config.memory_planning_pass
    plan_memory(per_method(planner, lowering.name, MemoryPlanningPass()), program)


# Rewrites to less work, whoever computes it; before backends choose, too.
SIMPLIFICATIONS: tuple[Callable[[ExportedProgram], Any], ...] = (
    fold_constants_pass,
    lambda program: merge_permutes_pass(program.graph_module),
    lambda program: drop_expands_pass(program.graph_module),
)

PASSES: tuple[Step, ...] = (
    _fuse_quantized,  # while quantize and dequantize stand beside what they are for
    *map(_of_program, SIMPLIFICATIONS),  # what no backend has; before anything is written in place
    _reinplace,  # before anything else reads the graph's values
    _of_program(weights_to_outputs_pass),  # optimizers of the runtime find weights there
    _passes_of_the_user,  # they expect the edge dialect
    _decompose,  # backends have had their choice; what is left must have kernels
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
    """Of all methods; what stands in the way is told for all of them."""
    planned, blocked = {}, []
    for name, program in programs.items():
        try:
            planned[name] = _planned_program(program, Lowering(name, config, skip_dim_order))
        except (Blockers, MissingOutVariants) as error:
            blocked.append(error)
    if blocked:
        raise joined(blocked)
    return planned


def _planned_program(program: ExportedProgram, lowering: Lowering) -> ExportedProgram:
    program = own_copy(program)
    for one in PASSES:
        program = one(program, lowering) or program
    return program


def _overwritten(program: ExportedProgram) -> frozenset[str]:
    """Placeholders whose memory gets a new value at the end of the method."""
    signature = program.graph_signature
    targets = {spec.target for spec in signature.output_specs if spec.target is not None}
    return frozenset(
        spec.arg.name
        for spec in signature.input_specs
        if (spec.target if spec.target is not None else spec.arg.name) in targets
    )


# ---- For those who run passes by hand ----


def edge_to_executorch_passes(
    config: ExecutorchBackendConfig,
    name: str | None = None,
    edge_compile_config: EdgeCompileConfig | None = None,
) -> list[Pass]:
    """The passes above that work on a graph alone, before memory planning. Those for upstream's kernels
    (LegalizePortableDimOrderPass) are among them unless dim orders are left out."""
    dim_orders = edge_compile_config is None or not edge_compile_config._skip_dim_order
    return [
        *config.passes,
        *([LegalizePortableDimOrderPass()] if dim_orders else []),
        scalar_constants_to_scalars_pass,
        SpecPropPass(),
        PropagateDevicePass(),
        EdgeToBackendOpsPass(),
        RemoveGraphAssertsPass(),
        *pre_memory_planning_passes(config, name),
    ]


def pre_memory_planning_passes(
    config: ExecutorchBackendConfig, name: str | None = None
) -> list[Pass]:
    """The part of `edge_to_executorch_passes` that follows the user's passes and specs."""
    evaluate = per_method(config.sym_shape_eval_pass, name or "forward", None)
    if evaluate is None:
        evaluate = ConstraintBasedSymShapeEvalPass()
    if not isinstance(evaluate, PassBase):
        raise RuntimeError(
            f"sym_shape_eval_pass must be a dict or a PassBase, got {config.sym_shape_eval_pass}"
        )
    views = [NormalizeViewCopyBasePass(), dead_code_elimination_pass, ReplaceViewCopyWithViewPass()]
    return [
        *(views if config.remove_view_copy else [dead_code_elimination_pass]),
        evaluate,
        config.to_out_var_pass,
    ]
