# SPDX-License-Identifier: BSD-3-Clause
"""The ahead-of-time half of the backend: one program becomes one payload; weights are named data."""

from __future__ import annotations

import operator

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from executorch.backends.xnnpack.aot.batches import unfold_batches
from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.graph_builder import GraphBuilder
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.aot.options import XnnpackOptions
from executorch.backends.xnnpack.aot.padding import fold_sides
from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE
from executorch.backends.xnnpack.aot.quantized_steps import quantized_steps_of
from executorch.backends.xnnpack.aot.steps import Mode, Step
from executorch.backends.xnnpack.aot.value_types import FLOATS
from executorch.backends.xnnpack.operators.node_visitor import NodeVisitor, get_node_visitors
from executorch.backends.xnnpack.serialization.graph import serialize
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.op_table import tensor_text
from executorch.exir.backend.lowering.options import from_compile_specs
from executorch.exir.backend.lowering.quantized_values import check_quantized_values
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import op_name


class XnnpackBackend(BackendDetails):
    """Takes the programs that XnnpackPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        from_compile_specs(XnnpackOptions, compile_specs, XnnpackBackend.__name__)
        fold_sides(edge_program)
        unfold_batches(edge_program)
        constants = Constants(edge_program)
        check_quantized_values(edge_program, constants)
        builder = GraphBuilder(constants)
        _tell_arguments(edge_program, builder)
        visitors = get_node_visitors(edge_program, {}, builder.store.named_data)
        for step in quantized_steps_of(edge_program.graph, constants):
            _lower(builder, step, visitors)
        return PreprocessResult(
            processed_bytes=serialize(builder.finish()),
            debug_handle_map=builder.handles,
            data_store_output=builder.store.output(),
        )


def _tell_arguments(program: ExportedProgram, builder: GraphBuilder) -> None:
    """What the delegate gets and gives. Rewrites before may have made an output equal to another, or to an input."""
    signature = program.graph_signature
    kinds = {spec.arg.name: spec.kind for spec in signature.input_specs}
    for node in program.graph.find_nodes(op="placeholder"):
        if kinds[node.name] == InputKind.USER_INPUT:
            if not _has_type(node):
                raise _cannot(f"input {node.name} is {tensor_text(node)}")
            builder.add_input(node)
    if any(spec.kind != OutputKind.USER_OUTPUT for spec in signature.output_specs):
        raise _cannot("it writes buffers")
    for node in program.graph.output_node().args[0]:
        if not isinstance(node, Node) or not isinstance(node.meta["val"], torch.Tensor):
            raise _cannot(f"it gives {node}, which is no tensor")
        builder.expect_output(node)


def _has_type(node: Node) -> bool:
    """8-bit values have that of who reads them."""
    value = node.meta["val"]
    is_stored = any(op_name(user) == DEQUANTIZE for user in node.users)
    return isinstance(value, torch.Tensor) and (
        value.dtype in FLOATS or (value.dtype == torch.int8 and is_stored)
    )


def _lower(builder: GraphBuilder, step: Step, visitors: dict[str, NodeVisitor]) -> None:
    if step.head.target is operator.getitem:
        return
    name = op_name(step.head)
    if name not in TABLE and name in visitors:
        builder.define(step.head, visitors[name].define_node)
        return
    reason = TABLE.why_not(step.head, builder.constants)
    if reason:
        raise _cannot(f"{step.head.name} ({op_name(step.head) or step.head.target}): {reason}")
    builder.reads_stored = step.mode is Mode.STATIC
    builder.step = step
    TABLE[op_name(step.head)].lower(builder, step)
    builder.reads_stored = False
    builder.step = None


class NotInXnnpack(ExportError, RuntimeError):
    """A program that XNNPACK has no form for."""


def _cannot(reason: str) -> NotInXnnpack:
    return NotInXnnpack(
        ExportErrorType.NOT_SUPPORTED,
        f"XnnpackBackend cannot compile this program, something is not supported in XNNPACK Delegate: {reason}. Use "
        "XnnpackPartitioner, which leaves out what XNNPACK does not take",
    )
