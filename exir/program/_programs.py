# SPDX-License-Identifier: BSD-3-Clause
"""What the stages need from ExportedPrograms: names, cheap copies, passes applied with the signature kept right."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.capture._config import ExecutorchBackendConfig
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import WRITE_BACK, data_specs, written_data
from executorch.exir.pass_base import ExportedProgramPassBase
from executorch.exir.pass_manager import run_pass
from executorch.exir.passes.external_constants_pass import (
    external_mutable_weights_pass,
    is_lifted_number,
)
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.passes.propagate_device_config import PropagateDeviceConfig
from executorch.exir.passes.propagate_device_pass import PropagateDevicePass
from executorch.exir.retrace.held_program import HeldProgram

Pass = ExportedProgramPassBase | Callable[[GraphModule], PassResult | None]
_DEFAULT_TAG = "_default_external_constant"
T = TypeVar("T")


def named_programs(programs: Any) -> dict[str, ExportedProgram]:
    """One program is the method "forward"."""
    named = dict(programs) if isinstance(programs, Mapping) else {"forward": programs}
    for name, program in named.items():
        if not isinstance(name, str) or not isinstance(program, ExportedProgram):
            raise ExportError(
                ExportErrorType.INVALID_INPUT_TYPE,
                f"method {name!r}: expected what torch.export.export returns, found a "
                f"{type(program).__name__}; give one such program or a dict from name to program",
            )
    if not named:
        raise ExportError(ExportErrorType.INVALID_INPUT_TYPE, "no programs given")
    return named


def per_method(option: T | Mapping[str, T], name: str, default: T) -> T:
    """The value of an option that may be a dict from method name to value."""
    return option.get(name, default) if isinstance(option, Mapping) else option


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """No cyclic garbage collection inside: lowering makes many objects that live on, and each full collection walks
    all of torch (MobileNetV2: 0.55 s with it, 0.35 s without)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def apply_passes(
    program: ExportedProgram, passes: Iterable[Pass], held: ExportedProgram | None = None
) -> ExportedProgram:
    """Runs the passes in order on `program`, which they may change. `held`: a program that they may have been made
    with, which stays as it is."""
    origin = HeldProgram(held or program)
    try:
        for one in passes:
            program, _ = run_pass(program, one, origin)
    finally:
        if held is not None:
            origin.restore()
    return program


def propagate_devices(
    name: str, graph_module: GraphModule, config: ExecutorchBackendConfig
) -> None:
    """Places what delegates of other devices take and give, as the configuration has it for this method."""
    wanted = per_method(config.propagate_device_config, name, PropagateDeviceConfig())
    inputs = per_method(wanted.skip_h2d_for_method_inputs, name, False)
    outputs = per_method(wanted.skip_d2h_for_method_outputs, name, False)
    PropagateDevicePass(inputs, outputs, config.enable_non_cpu_memory_planning)(graph_module)


def plan_memory(
    planning_pass: Any, program: ExportedProgram, config: ExecutorchBackendConfig
) -> None:
    """Runs a memory planning pass in one of its forms: with the signature, or on the graph alone."""
    run = getattr(planning_pass, "run", None)
    if isinstance(planning_pass, MemoryPlanningPass):
        with planning_pass.on_devices(config.enable_non_cpu_memory_planning):
            run(program.graph_module, program.graph_signature)
    elif run is not None:
        run(program.graph_module, program.graph_signature)
    else:
        planning_pass(program.graph_module)


def finish_plans(option: Any) -> None:
    """Lets memory planning passes place what methods share, once all methods are planned."""
    passes = option.values() if isinstance(option, Mapping) else [option]
    for planning_pass in {id(one): one for one in passes}.values():
        run_multimethod = getattr(planning_pass, "run_multimethod", None)
        if run_multimethod is not None:
            run_multimethod()


def tag_external_constants(program: ExportedProgram, config: ExecutorchBackendConfig) -> None:
    """Names the data file (`meta["constant_tag"]`) of every constant that does not go into the program's file."""
    where = config.external_constants
    if where is False and not config.external_mutable_weights:
        return
    written = written_data(program.graph_signature)
    for node, spec in data_specs(program).items():
        if spec.target in written or is_lifted_number(node):
            continue
        tag = _DEFAULT_TAG if where is True else where(node) if callable(where) else None
        if tag is not None:
            node.meta["constant_tag"] = tag
    if config.external_mutable_weights:
        external_mutable_weights_pass(program.graph_module, program)


def without_written_outputs(program: ExportedProgram) -> None:
    """Of the outputs only the user's stay in the graph; the signature goes on naming the copies that write."""
    output, specs = program.graph.output_node(), program.graph_signature.output_specs
    if len(output.args[0]) == len(specs):
        kept = [value for value, spec in zip(output.args[0], specs) if spec.kind not in WRITE_BACK]
        output.args = (tuple(kept),)
