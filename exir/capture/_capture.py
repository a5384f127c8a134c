# SPDX-License-Identifier: BSD-3-Clause
# compat
"""`capture`: programs as they were made before torch.export, and with `enable_aot` by torch.export."""

from __future__ import annotations

import contextlib
import types
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import torch
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
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from executorch.exir.capture._config import CaptureConfig
from executorch.exir.capture._unlift import unlift_exported_program_lifted_states
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.program._single_program import CallSpec, ExirExportedProgram
from executorch.exir.tracer import (
    Value,
    _default_decomposition_table,
    dispatch_trace,
    dynamo_trace,
    flatten_output,
)
from executorch.exir.verification.verifier import EXIRATenDialectVerifierBase

__all__ = [
    "CallSpec",
    "CompileSpec",
    "WrapperModule",
    "_capture_legacy_do_not_use",
    "capture",
    "patch_forward",
]

CompileSpec = namedtuple("CompileSpec", ["method_name", "callable", "args", "dynamic_shapes"])


@contextlib.contextmanager
def patch_forward(obj: torch.nn.Module, new_method: Callable[..., Any]) -> Iterator[None]:
    """`obj.forward` is `new_method`, inside."""
    before = obj.forward
    obj.forward = types.MethodType(getattr(new_method, "__func__", new_method), obj)
    try:
        yield
    finally:
        obj.forward = before


class WrapperModule(torch.nn.Module):
    """A module that calls a function."""

    def __init__(self, f: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = f


def _capture_legacy_do_not_use(f: Callable[..., Any], args: tuple[Any, ...]) -> ExirExportedProgram:
    """The graph that running `f` on tensors writes; control flow is what these inputs make of it."""
    warnings.warn("this capture is deprecated; use torch.export.export", DeprecationWarning, 2)
    module = dispatch_trace(f, args)
    for node in module.graph.find_nodes(op="placeholder"):
        node.meta.setdefault("val", None)
    leaves = pytree.tree_leaves(args)
    for node, value in zip(module.graph.find_nodes(op="placeholder"), leaves, strict=True):
        node.meta["val"] = value
    in_spec = pytree.tree_structure((args, {}))
    return ExirExportedProgram(_program(module, in_spec, module.out_spec), False)


def capture(
    f: Callable[..., Any],
    args: tuple[Value, ...],
    config: CaptureConfig | None = None,
    dynamic_shapes: list[Any] | None = None,
) -> ExirExportedProgram:
    """The program of a module or a function at `args`. By torch.export with `enable_aot`; otherwise by torch._dynamo,
    with parameters as attributes of the graph module. New code calls torch.export.export and to_edge."""
    warnings.warn(
        "exir.capture is deprecated; use torch.export.export and executorch.exir.to_edge",
        DeprecationWarning,
        stacklevel=2,
    )
    if not isinstance(args, tuple):
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"Expect `args` to be a tuple, got type: {type(args)}.",
        )
    config = config or CaptureConfig()
    if config._unlift and not config.enable_aot:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            "_unlift config doesn't do anything without enable_aot enabled. Please do not set it",
        )
    if config.enable_aot:
        if config.enable_dynamic_shape:
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                "enable_dynamic_shape is not for enable_aot; call torch.export.export with dynamic_shapes",
            )
        return _by_export(f, args, config, dynamic_shapes)
    if not config.pt2_mode:
        return _capture_legacy_do_not_use(f, args)
    return _by_dynamo(f, args, config, dynamic_shapes)


def _by_export(
    f: Callable[..., Any], args: tuple[Any, ...], config: CaptureConfig, dynamic_shapes: Any
) -> ExirExportedProgram:
    module = f if isinstance(f, torch.nn.Module) else WrapperModule(f)
    table = _default_decomposition_table(config._use_old_decomp_table)
    program = torch.export.export(module, args, dynamic_shapes=dynamic_shapes, strict=True)
    program = program.run_decompositions(table)
    if config._unlift:
        unlifted = unlift_exported_program_lifted_states(program)
        for node in unlifted.graph.find_nodes(op="get_attr"):
            if not node.users:
                unlifted.graph.erase_node(node)
        for node in unlifted.graph.find_nodes(op="call_module"):  # checks of the inputs
            unlifted.graph.erase_node(node)
        output = unlifted.graph.output_node()
        output.args = (pytree.tree_leaves(output.args[0]),)
        unlifted.graph._codegen = torch.fx.graph.CodeGen()
        unlifted.recompile()
        spec = program.call_spec
        program = _program(unlifted, spec.in_spec, spec.out_spec)
    return ExirExportedProgram(program, False)


def _by_dynamo(
    f: Callable[..., Any], args: tuple[Any, ...], config: CaptureConfig, dynamic_shapes: Any
) -> ExirExportedProgram:
    leaves, in_spec = pytree.tree_flatten((args, {}))
    mode = "symbolic" if config.enable_dynamic_shape else "fake"
    graph, _ = dynamo_trace(
        f, args, True, mode, config._dynamo_config, dynamic_shapes, config._use_old_decomp_table
    )
    out_spec = graph.graph._codegen.pytree_info.out_spec
    graph.graph._codegen = torch.fx.graph.CodeGen()  # takes and gives flat values from here on
    graph.recompile()
    run = torch.func.functionalize(graph) if config.enable_functionalization else graph
    traced = make_fx(run, tracing_mode=mode, _allow_non_fake_inputs=True)(*leaves)
    flatten_output(traced)
    return ExirExportedProgram(_program(traced, in_spec, out_spec), False)


def _program(
    module: GraphModule, in_spec: pytree.TreeSpec, out_spec: pytree.TreeSpec
) -> ExportedProgram:
    """A program of a graph module that holds its data itself."""
    inputs = module.graph.find_nodes(op="placeholder")
    outputs = pytree.tree_leaves(module.graph.output_node().args[0])
    signature = ExportGraphSignature(
        [InputSpec(InputKind.USER_INPUT, TensorArgument(node.name), None) for node in inputs],
        [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None) for node in outputs],
    )
    call = ModuleCallSignature(inputs=[], outputs=[], in_spec=in_spec, out_spec=out_spec)
    return ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=signature,
        state_dict={},
        range_constraints={},
        module_call_graph=[ModuleCallEntry("", call)],
        verifiers=[EXIRATenDialectVerifierBase],
    )
