# SPDX-License-Identifier: BSD-3-Clause
"""`emit_program`: planned methods to one `Program` and the maps that tools read beside it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.exir.emit._control_flow import HIGHER_ORDER_LOWERINGS
from executorch.exir.emit._emitter import EmitOptions, MethodEmitter
from executorch.exir.emit._program_state import ProgramState
from executorch.exir.emit._training import training_getters
from executorch.exir.emit._values import boxed
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.schema import (
    Buffer,
    Chain,
    ContainerMetadata,
    EValue,
    ExecutionPlan,
    KernelTypes,
    Program,
    SubsegmentOffsets,
)
from executorch.exir.tensor import TensorSpec, make_tensor_value

EXECUTORCH_SCHEMA_VERSION = 0


@dataclass
class EmitterOutput:
    """A program whose constants and delegate blobs are still in memory (views of the tensors, not copies).

    The maps are keyed by method name, then instruction index. `mutable_data`: first contents of
    mutable buffers, entry 0 reserved; None when all are zeros. `external_constant_map`: data file
    -> tensor name -> index into `external_constant_buffer`."""

    program: Program
    debug_handle_map: dict[str, dict[int, int | list[int]]]
    method_to_delegate_debug_id_map: dict[str, dict[int, dict[str, Any]]]
    instruction_id_to_num_outs_map: dict[str, dict[int, int]]
    mutable_data: list[Buffer] | None
    external_constant_buffer: list[bytes]
    external_constant_map: dict[str, dict[str, int]] | None


def emit_program(
    methods: ExportedProgram | dict[str, ExportedProgram],
    emit_stacktrace: bool = False,
    prim_getters: dict[str, Any] | None = None,
    emit_mutable_buffer_names: bool = False,
    user_metadata: Mapping[str, Any] | None = None,
) -> EmitterOutput:
    """Emits planned methods, sorted by name, then what says where their gradients are, then the constant methods
    `prim_getters` in their order. `user_metadata`: about the program, what JSON can say."""
    if not isinstance(methods, dict):
        methods = {"forward": methods}
    wrong = [name for name, one in methods.items() if not isinstance(one, ExportedProgram)]
    if wrong:
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"Did not receive ExportedProgram for the following methods {wrong}; give what to_executorch has planned",
        )
    getters: dict[str, Any] = {}
    for name, one in sorted(methods.items()):
        getters |= training_getters(name, one.graph_signature)
    clash = sorted(methods.keys() & (prim_getters or {}).keys())
    if clash:
        raise ExportError(
            ExportErrorType.VIOLATION_OF_SPEC,
            f"names of both a method and a constant method: {clash}",
        )
    state = ProgramState()
    options = EmitOptions(emit_stacktrace, emit_mutable_buffer_names)
    emitters = [
        MethodEmitter(name, program, state, options, HIGHER_ORDER_LOWERINGS)
        for name, program in sorted(methods.items())
    ]
    plans = [emitter.emit() for emitter in emitters]
    getters |= prim_getters or {}
    plans += [_constant_method(name, value, state) for name, value in getters.items()]
    program = Program(
        version=EXECUTORCH_SCHEMA_VERSION,
        execution_plan=plans,
        constant_buffer=state.constant_buffers(),
        backend_delegate_data=state.inline_delegates(),
        segments=[],
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=[]),
        user_metadata=_user_metadata(user_metadata or {}),
    )
    return EmitterOutput(
        program=program,
        debug_handle_map={e.name: e.record.debug_handles for e in emitters},
        method_to_delegate_debug_id_map={e.name: e.record.delegate_maps for e in emitters},
        instruction_id_to_num_outs_map={e.name: e.record.num_outs for e in emitters},
        mutable_data=state.mutable_buffers(),
        external_constant_buffer=state.external_constants.blobs,
        external_constant_map=state.external_map or None,
    )


def _user_metadata(entries: Mapping[str, Any]) -> str | None:
    if not entries:
        return None
    try:
        return json.dumps(dict(entries), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"user_metadata: expected texts, numbers, lists and dicts by keys that are text: {problem}",
        ) from problem


def _constant_method(name: str, value: Any, state: ProgramState) -> ExecutionPlan:
    """A method without instructions whose outputs are there from the start."""
    leaves, spec = pytree.tree_flatten(value)
    try:
        values = [EValue(_constant_leaf(leaf, state)) for leaf in leaves]
    except ExportError as error:
        raise ExportError(
            error.error_code,
            f"Error emitting {name} which returns a value of type {type(value)}: {error.message}",
        ) from None
    return ExecutionPlan(
        name=name,
        container_meta_type=ContainerMetadata("", pytree.treespec_dumps(spec)),
        values=values,
        inputs=[],
        outputs=list(range(len(values))),
        chains=[Chain(inputs=[], outputs=[], instructions=[], stacktrace=None)],
        operators=[],
        delegates=[],
        non_const_buffer_sizes=[0],
    )


def _constant_leaf(leaf: Any, state: ProgramState) -> KernelTypes:
    if isinstance(leaf, torch.Tensor):
        spec = TensorSpec.from_tensor(leaf, const=True)
        return make_tensor_value(state.add_constant(leaf, spec), None, spec)
    return boxed(leaf)
