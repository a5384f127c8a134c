# SPDX-License-Identifier: BSD-3-Clause
"""What keeps a program from becoming a file, collected before any step fails, so that the user sees all of it."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves

from executorch.exir.emit._control_flow import HIGHER_ORDER_LOWERINGS
from executorch.exir.error import ExportError, ExportErrorType, source_line
from executorch.exir.passes.executorch_prim_ops_registry import UNSUPPORTED_SYM_OPS
from executorch.exir.passes.sym_shape_eval_pass import explain_unbounded, unbounded_tensors
from executorch.exir.passes.to_out_var_pass import (
    MissingOutVariants,
    explain_missing,
    missing_out_variants,
)
from executorch.exir.tensor import is_storable_dtype


def check_blockers(name: str, program: ExportedProgram, bounds: bool, out_variants: bool) -> None:
    """Raises one error that lists every blocker of the method; specs must be there. `bounds`, `out_variants`: whether
    sizes without a bound and operators without an out variant count."""
    module = program.graph_module
    lines = [*_tensors_without_form(module), *_calls_without_form(module)]
    unbounded = unbounded_tensors(module) if bounds else []
    if unbounded:
        lines.append(explain_unbounded(unbounded))
    missing = missing_out_variants(module) if out_variants else {}
    if missing and not lines:
        raise MissingOutVariants(ExportErrorType.NOT_SUPPORTED, explain_missing(missing))
    if missing:
        lines.append(explain_missing(missing))
    if lines:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"method {name} cannot become a program:\n- " + "\n- ".join(lines),
        )


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
