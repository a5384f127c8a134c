# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the dialects. Each check walks the graph once and reports all offending nodes together."""

from __future__ import annotations

import builtins
import inspect
import math
import operator
from typing import Any

import torch
from torch._export.verifier import SpecViolationError, Verifier
from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.exir.capture._config import EdgeCompileConfig
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.graph_module import get_control_flow_submodules
from executorch.exir.passes.dim_order_ops_registry import DimOrderOpsMap, MemoryFormatOpsMap
from executorch.exir.passes.executorch_prim_ops_registry import _EXECUTORCH_SYM_OPS
from executorch.exir.passes.replace_aten_with_edge_pass import DISALLOW_LIST
from executorch.exir.retrace.op_rules import is_view
from executorch.exir.verification.dtypes import dtype_violations

aten = torch.ops.aten

_FUNCTIONS = frozenset(
    {
        operator.getitem,
        operator.add,
        operator.sub,
        operator.mul,
        operator.floordiv,
        operator.truediv,
        operator.mod,
        operator.neg,
        operator.pow,
        operator.eq,
        operator.ne,
        operator.gt,
        operator.ge,
        operator.lt,
        operator.le,
        operator.and_,
        operator.or_,
        operator.not_,
        math.ceil,
        math.floor,
        math.trunc,
        builtins.round,
        torch.sym_float,
        torch.sym_int,
        torch.sym_ite,
        torch.sym_max,
        torch.sym_min,
        torch.sym_not,
    }
)


# Operators of torch that stay as they are in an edge graph.
_TORCH_OPS = frozenset({*DISALLOW_LIST, aten.alias.default}) | _EXECUTORCH_SYM_OPS
ALLOWED_META_KEYS = {"spec", "stack_trace"}


class EdgeDialect(Verifier):
    """torch's structural check of a program in the edge dialect; operators of torch may stand in it, as passes put
    them. `EXIREdgeDialectVerifier()` says whether the dialect's own rules hold."""

    dialect = "EDGE"

    def allowed_builtin_ops(self) -> list[Any]:
        return [function for function in _FUNCTIONS if inspect.isbuiltin(function)]

    def allowed_op_types(self) -> tuple[type[Any], ...]:
        return (EdgeOpOverload, torch._ops.OpOverload, torch._ops.HigherOrderOperator)

    def allowed_getattr_types(self) -> tuple[type[Any], ...]:
        return (torch.nn.Module, torch.Tensor)


def EXIREdgeDialectVerifier(
    edge_compile_config: EdgeCompileConfig | None = None,
    class_only: bool = False,
    core_aten_ops_exception_list: list[torch._ops.OpOverload] | None = None,
    preserve_ops: list[torch._ops.OpOverload] | None = None,
) -> Any:
    """A verifier of the edge dialect's rules under these options: an instance, or with `class_only` the class, as
    programs hold it. A program or graph that breaks a rule raises SpecViolationError."""
    config = edge_compile_config or EdgeCompileConfig()
    preserved = [*(preserve_ops or ()), *config.preserve_ops]
    for op in preserved:
        if is_view(op):
            raise RuntimeError(f"Cannot preserve operator {op} because it is a view or mutation.")

    class _EdgeVerifier(EdgeDialect):
        dialect = "EDGE"

        def __init__(self) -> None:
            self.enable = config._check_ir_validity
            self.use_dim_order = not config._skip_dim_order
            self._core_aten_ops_exception_list = [
                *(core_aten_ops_exception_list or ()),
                *config._core_aten_ops_exception_list,
            ]
            self._preserve_ops = preserved

        def check_valid_edge_op(self, op: Any) -> None:
            if not self.enable or op in self._core_aten_ops_exception_list or op in preserved:
                return
            if not is_edge_target(op):
                raise SpecViolationError(f"Operator {_name_of(op)} is not an Edge operator.")
            if isinstance(op, EdgeOpOverload):
                _check_valid_dim_order_ops(op, self.use_dim_order)

        check_valid_op = check_valid_edge_op

        def check_valid_aten_op(self, op: Any) -> None:
            if self.enable:
                check_core_aten(op, [*self._core_aten_ops_exception_list, *preserved])

        def check_additional(self, gm: GraphModule) -> None:
            if self.enable:
                _check_tensors_are_contiguous(gm)
                _check_tensor_args_matching_op_allowed_dtype(gm)

        def is_valid(self, gm: GraphModule) -> bool:
            try:
                self(gm)
            except SpecViolationError:
                return False
            return True

        def __call__(self, checked: ExportedProgram | GraphModule) -> None:
            if not self.enable:
                return
            if isinstance(checked, ExportedProgram):
                self.check(checked)
            else:
                self._check_graph_module(checked)

    if class_only:
        return _EdgeVerifier
    return _EdgeVerifier()


class EXIRATenDialectVerifierBase(Verifier):
    """Programs of the ATen dialect whose operators nobody checks."""

    dialect = "OLD_EXIR_ATEN_DISABLED"

    def allowed_getattr_types(self) -> tuple[type[Any], ...]:
        return (torch.nn.Module, torch.Tensor, torch.ScriptObject)

    def allowed_op_types(self) -> tuple[type[Any], ...]:
        return (
            torch._ops.OpOverload,
            torch._ops.HigherOrderOperator,
            torch._ops.OpOverloadPacket,
        )

    def __call__(self, checked: ExportedProgram | GraphModule) -> None:
        if isinstance(checked, ExportedProgram):
            self.check(checked)
        else:
            self._check_graph_module(checked)


def EXIRATenDialectVerifier(
    edge_compile_config: EdgeCompileConfig | None = None,
    class_only: bool = False,
    core_aten_ops_exception_list: list[torch._ops.OpOverload] | None = None,
    preserve_ops: list[torch._ops.OpOverload] | None = None,
) -> Any:
    """A verifier of core ATen: an instance, or with `class_only` the class. `core_aten_ops_exception_list` and
    `preserve_ops` name operators that may stand beside it."""
    config = edge_compile_config or EdgeCompileConfig()
    allowed = [
        *(core_aten_ops_exception_list or ()),
        *config._core_aten_ops_exception_list,
        *(preserve_ops or ()),
        *config.preserve_ops,
    ]

    class _ATenVerifier(EXIRATenDialectVerifierBase):
        dialect = "OLD_EXIR_ATEN"

        def check_valid_op(self, op: Any) -> None:
            check_core_aten(op, allowed)

    if class_only:
        return _ATenVerifier
    return _ATenVerifier()


def get_aten_verifier(config: EdgeCompileConfig) -> type[Verifier]:
    """The class for programs that become edge programs under `config`."""
    if not config._check_ir_validity:
        return EXIRATenDialectVerifierBase
    return EXIRATenDialectVerifier(config, class_only=True)


def check_core_aten(op: Any, allowed: list[torch._ops.OpOverload]) -> None:
    """Raises for an operator of torch that is neither core ATen nor among `allowed`; custom operators pass."""
    if not isinstance(op, torch._ops.OpOverload) or op in allowed or op in _TORCH_OPS:
        return
    if op.namespace != "aten" or torch.Tag.core in op.tags or is_view(op):
        return
    raise SpecViolationError(
        f"\nOperator {_name_of(op)} is not in Core ATen opset "
        "(https://pytorch.org/docs/stable/torch.compiler_ir.html#core-aten-ir).\nYou can proceed with "
        f"`to_edge(compile_config=EdgeCompileConfig(_core_aten_ops_exception_list=[torch.ops.{op}]))` if a backend "
        "takes it, or with a kernel of your own for it"
    )


def _name_of(op: Any) -> str:
    return f"{getattr(op, '__module__', '')}.{getattr(op, '__name__', op)}"


def _check_valid_dim_order_ops(op: EdgeOpOverload, use_dim_order: bool) -> None:
    if use_dim_order and op in DimOrderOpsMap:
        raise SpecViolationError(f"{op} should not be used in dim_order mode")
    if not use_dim_order and op in MemoryFormatOpsMap:
        raise SpecViolationError(f"{op} should not be used in non-dim_order mode")


def _check_tensors_are_contiguous(gm: GraphModule) -> None:
    """Tensors that the module itself holds are in an order that kernels read."""
    for name, tensor in [*gm.named_parameters(), *gm.named_buffers()]:
        if not (tensor.is_contiguous() or tensor.is_contiguous(memory_format=torch.channels_last)):
            raise SpecViolationError(
                f"Tensors in Aten dialect must be contiguous, {name} is not contiguous"
            )


def _check_tensor_args_matching_op_allowed_dtype(gm: GraphModule) -> None:
    found = dtype_violations(gm)
    if found:
        raise SpecViolationError(
            "These operators are taking Tensor inputs with mismatched dtypes:\n" + "\n".join(found)
        )


def edge_violations(graph_module: GraphModule, verifier: Any) -> list[str]:
    """What in `graph_module`, branches included, is not edge dialect; one line per node."""
    found = []
    for node in graph_module.graph.nodes:
        if node.op == "call_function":
            try:
                verifier.check_valid_edge_op(node.target)
            except SpecViolationError as violation:
                found.append(f"{node.format_node()}: {violation}")
        elif node.op == "call_module" or node.op == "call_method":
            found.append(f"{node.format_node()}: {node.op} is not part of the dialect")
    for _, child, _ in get_control_flow_submodules(graph_module):
        found.extend(edge_violations(child, verifier))
    return found


def is_edge_target(target: Any) -> bool:
    """Whether calls of the edge dialect may be of it; those that give numbers are of torch's operators there, too."""
    if isinstance(target, EdgeOpOverload | torch._ops.HigherOrderOperator):
        return True
    return target in _FUNCTIONS or target in _TORCH_OPS


def check_edge_program(
    program: ExportedProgram,
    after: str,
    config: EdgeCompileConfig | None = None,
) -> None:
    """Raises when a graph is not edge dialect, with all offending nodes; `after` says which step made it so. Dtypes
    are the verifier's: reading their table takes longer than a lowering."""
    found = edge_violations(program.graph_module, EXIREdgeDialectVerifier(config))
    if found:
        raise SpecViolationError(
            f"after {after} the program is not edge dialect:\n  " + "\n  ".join(found)
        )
