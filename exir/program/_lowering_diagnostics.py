# SPDX-License-Identifier: BSD-3-Clause
"""What keeps a program from becoming a file, collected before any step fails, so that the user sees all of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves

from executorch.exir.emit._control_flow import HIGHER_ORDER_LOWERINGS
from executorch.exir.error import ExportError, ExportErrorType, source_line
from executorch.exir.operator.convert import NoOutVariant, to_out_variant
from executorch.exir.operator.custom_writes import writes_beside_results
from executorch.exir.operator.served import (
    OWN_NAMESPACES,
    has_kernel_for,
    served_operators,
)
from executorch.exir.passes.executorch_prim_ops_registry import UNSUPPORTED_SYM_OPS, is_sym_op
from executorch.exir.passes.sym_shape_eval_pass import explain_unbounded, unbounded_tensors
from executorch.exir.passes.to_out_var_pass import (
    MissingOutVariants,
    explain_missing,
    missing_out_variants,
    operators_in,
)
from executorch.exir.tensor import is_storable_dtype


@dataclass(frozen=True)
class Wanted:
    """What is diagnosed: sizes without a bound, operators without an out variant, operators without a kernel
    (otherwise these are a warning)."""

    bounds: bool
    out_variants: bool
    kernels: bool


class LoweringDiagnostics(ExportError):
    """What stands in the way of one method."""

    def __init__(self, name: str, lines: list[str]) -> None:
        text = "\n- ".join([f"method {name} cannot become a program:", *lines])
        super().__init__(ExportErrorType.NOT_SUPPORTED, text)


def check_lowering(name: str, program: ExportedProgram, wanted: Wanted) -> None:
    """Raises one error that lists every diagnostic of the method; specs must be there."""
    module = program.graph_module
    lines = [*_tensors_without_form(module), *_calls_without_form(module)]
    unbounded = unbounded_tensors(module) if wanted.bounds else []
    if unbounded:
        lines.append(explain_unbounded(unbounded))
    unserved = _calls_without_kernel(module)
    if wanted.kernels:
        lines += _calls_of_dtypes_without_kernel(module)
    if unserved and wanted.kernels:
        lines.append(f"{_explain_unserved(unserved)}\n{_WAYS_OUT}")
    elif unserved:
        # 5: the line that calls to_executorch
        warnings.warn(f"method {name}: {_explain_unserved(unserved)}", stacklevel=7)
    missing = missing_out_variants(module) if wanted.out_variants else {}
    if missing and not lines:
        raise MissingOutVariants(ExportErrorType.NOT_SUPPORTED, explain_missing(missing))
    if missing:
        lines.append(explain_missing(missing))
    if lines:
        raise LoweringDiagnostics(name, lines)


def joined(found: list[ExportError]) -> ExportError:
    """One error for the diagnostics of several methods."""
    if len(found) == 1:
        return found[0]
    kind = MissingOutVariants if isinstance(found[0], MissingOutVariants) else ExportError
    return kind(ExportErrorType.NOT_SUPPORTED, "\n".join(each.message for each in found))


def _calls_without_kernel(module: GraphModule) -> dict[str, list[Node]]:
    """Operators that the libraries of this package would serve if any did, and the nodes that call them."""
    found: dict[str, list[Node]] = {}
    for node, op in operators_in(module):
        if op.namespace not in OWN_NAMESPACES or is_sym_op(op):
            continue
        try:
            in_place = op._schema.is_mutable and not writes_beside_results(op)
            name = op.name() if in_place else to_out_variant(op)[0].name()
        except NoOutVariant:
            continue  # told as such
        if name not in served_operators():
            found.setdefault(name, []).append(node)
    return found


def _calls_of_dtypes_without_kernel(module: GraphModule) -> Iterator[str]:
    """Calls that would fail when they run: on dtypes that the operator's kernel does not take."""
    for node, op in operators_in(module):
        if op.namespace not in ("aten", "dim_order_ops"):
            continue
        values = tree_leaves(
            [node.meta.get("val"), [n.meta.get("val") for n in node.all_input_nodes]]
        )
        dtypes = {value.dtype for value in values if isinstance(value, torch.Tensor)}
        for dtype in sorted(dtypes, key=str):
            if is_storable_dtype(dtype) and not has_kernel_for(op, dtype):
                yield (
                    f"{op._schema.name} has no kernel for {dtype}: node {node.name}{source_line(node)}; convert before "
                    "it, write it with other operators, or leave it to a backend"
                )


def _explain_unserved(found: dict[str, list[Node]]) -> str:
    lines = ["no kernel serves these operators, so that the program would fail when it is loaded:"]
    for name, nodes in sorted(found.items()):
        more = f" (and {len(nodes) - 1} more)" if len(nodes) > 1 else ""
        reason = nodes[0].meta.get("why_preserved")
        lines.append(f"    {name}: node {nodes[0].name}{source_line(nodes[0])}{more}")
        if reason is not None:
            lines.append(f"      ({reason})")
    return "\n".join(lines)


_WAYS_OUT = """\
  Write them with other operators (`Runtime.get().operator_registry.operator_names` of executorch.runtime
  has those with kernels), or decompose them before to_edge
  (program.run_decompositions({torch.ops.aten.NAME.OVERLOAD: function})), or give them to a backend that takes them
  (to_edge_transform_and_lower with a partitioner), or call a custom operator with a kernel of your own (torch.library).
  If your runtime registers kernels for them, export with
  to_executorch(ExecutorchBackendConfig(allow_missing_kernels=True))."""


def _tensors_without_form(module: GraphModule) -> Iterator[str]:
    """Tensors of a dtype or layout that the file format has no form for."""
    for child in module.modules():
        if not isinstance(child, GraphModule):
            continue
        for node in child.graph.nodes:
            if node.op in ("placeholder", "call_function"):
                for value in tree_leaves(node.meta.get("val")):
                    if isinstance(value, torch.Tensor):
                        yield from _complaints(node, value)


def _calls_without_form(module: GraphModule) -> Iterator[str]:
    """Calls that neither a kernel nor the runtime's core carries out, and no backend has claimed."""
    for child in module.modules():
        for node in child.graph.nodes if isinstance(child, GraphModule) else ():
            if node.op != "call_function":
                continue
            target, where = node.target, f"{node.name}{source_line(node)}"
            if isinstance(target, torch._ops.HigherOrderOperator):
                if target.name() not in HIGHER_ORDER_LOWERINGS:
                    known = ", ".join(sorted(HIGHER_ORDER_LOWERINGS))
                    yield (
                        f"{where} calls higher-order operator {target.name()}; programs hold {known}: write it with "
                        "one of these, or give it to a backend that claims it"
                    )
            elif target in UNSUPPORTED_SYM_OPS:
                yield (
                    f"{where} computes {target.__name__} of sizes, which the runtime cannot: use +, -, *, //, %, "
                    "comparisons, torch.sym_max or torch.sym_min"
                )


def _complaints(node: Node, value: torch.Tensor) -> Iterator[str]:
    where = f"{node.name}{source_line(node)}"
    if not is_storable_dtype(value.dtype):
        yield f"{where} has dtype {value.dtype}, which files cannot hold; convert it with .to(dtype)"
    if value.layout is not torch.strided:
        yield f"{where} has layout {value.layout}; call .to_dense() before export"
