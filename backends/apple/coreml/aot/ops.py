# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what coremltools' frontend for PyTorch translates, but for what is computed otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed
from torch.fx import Node

from executorch.backends.apple.coreml.aot import torch_ops, torchao_weights
from executorch.backends.apple.coreml.aot.library import ct, quiet
from executorch.exir.backend.lowering import constants as lowering
from executorch.exir.backend.lowering.annotation import ARITHMETIC, GEMM, SHARED
from executorch.exir.backend.lowering.op_table import (
    Condition,
    Constants,
    OpTable,
    Row,
    TensorCondition,
    has_dtype_of,
    has_rank_up_to,
    is_tensor_or_size,
)
from executorch.exir.graph_facts import arguments_by_name, called_op, op_name

MAX_DIMENSIONS = 5
_PLAIN_SPACES = ("aten", "dim_order_ops")
_SPACES = (*_PLAIN_SPACES, "quantized_decomposed")
DTYPES = (
    torch.float32, torch.float16, torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8,
    torch.bool,
)  # fmt: skip
# What the frontend knows by name and does not compute as PyTorch.
REFUSED = {
    f"aten.{name}.default"
    for name in (
        "diagonal",
        "diagonal_copy",
        "acosh",
        "asinh",
        "rand",
        "logcumsumexp",
        "_logcumsumexp",  # exp() of what may be large
    )
} | {f"aten._upsample_bilinear2d_aa.{name}" for name in ("default", "vec")}
# Left to decompose: the frontend knows them of other graphs only, or counts targets that a loss is to ignore.
DECOMPOSED = {
    f"aten.{name}"
    for name in (
        "triu.default", "tril.default", "repeat_interleave.self_int",
        "repeat_interleave.self_Tensor", "nll_loss.default", "nll_loss_nd.default",
    )
}  # fmt: skip


def converted(*_: object) -> None:
    """coremltools reads the call itself."""


def _has_known_dtype(tensor: Node, call: Node) -> bool:
    """torchao's tables of weights are float64; a model has them in its precision."""
    return op_name(call) == torchao_weights.CODEBOOK or has_dtype_of(DTYPES)(tensor, call)


def _has_no_alpha(node: Node, constants: Constants) -> bool:
    return arguments_by_name(node)["alpha"] == 1


def _has_own_statistics(node: Node, constants: Constants) -> bool:
    return arguments_by_name(node)["use_input_stats"] is True


def _is_contiguous(node: Node, constants: Constants) -> bool:
    values = [each.meta.get("val") for each in (*node.all_input_nodes, node)]
    return all(tuple(each.dim_order()) == tuple(range(each.dim())) for each in values)


def _are_matrices(node: Node, constants: Constants) -> bool:
    return all(each.meta["val"].dim() > 1 for each in node.all_input_nodes)


def _has_a_dimension(node: Node, constants: Constants) -> bool:
    return len(node.args) > 1 and node.args[1] is not None


NO_ALPHA = Condition(_has_no_alpha, "alpha of 1 is expected")
A_DIMENSION = Condition(_has_a_dimension, "a dimension is expected")
OWN_STATISTICS = Condition(_has_own_statistics, "statistics of the input itself are expected")
MATRICES = Condition(_are_matrices, "two dimensions or more are expected")
CONTIGUOUS = Condition(_is_contiguous, "contiguous memory is expected")
_CONDITIONS = {
    "dim_order_ops._to_dim_order_copy.default": CONTIGUOUS,
    "dim_order_ops._clone_dim_order.default": CONTIGUOUS,
    "aten.add.Tensor": NO_ALPHA,
    "aten.sub.Tensor": NO_ALPHA,
    "aten.rsub.Tensor": NO_ALPHA,
    "aten.rsub.Scalar": NO_ALPHA,
    "aten.instance_norm.default": OWN_STATISTICS,
    "aten.matmul.default": MATRICES,
    "aten.argmax.default": A_DIMENSION,
    "aten.argmin.default": A_DIMENSION,
}


def is_translated(op: torch._ops.OpOverload) -> bool:
    """Whether the frontend has a translation under the operator's name."""
    if op._schema.is_mutable or any(part.endswith("_") for part in op.__name__.split(".")):
        return False
    support = ct.converters.mil.frontend.torch.is_torch_fx_node_supported
    # The frontend has these two namespaces' names without it; of another, `add` is something else.
    target = op if op.namespace in _PLAIN_SPACES else str(op)
    call = SimpleNamespace(op="call_function", target=target)
    return str(op) not in REFUSED and support(call)


def is_view(op: torch._ops.OpOverload) -> bool:
    arguments = op._schema.arguments
    alias = arguments[0].alias_info if arguments else None
    return alias is not None and not alias.is_write


def _operators() -> Iterator[torch._ops.OpOverload]:
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        packet = getattr(getattr(torch.ops, space), name, None) if space in _SPACES else None
        op = getattr(packet, schema.overload_name or "default", None)
        if isinstance(op, torch._ops.OpOverload):
            yield op


def _rows() -> dict[str, Row]:
    torch_ops.register()
    with quiet():
        names = sorted(str(op) for op in _operators() if is_translated(op))
    rows = {}
    for name in names:
        condition = _CONDITIONS.get(name)
        rows[name] = Row(converted, (condition,) if condition else ())
    weights = torchao_weights.CONDITIONS.items()
    return rows | {name: Row(converted, conditions) for name, conditions in weights}


TABLE = OpTable(
    _rows(),
    of_tensors=(
        TensorCondition(is_tensor_or_size, "a tensor or a size is expected"),
        TensorCondition(
            _has_known_dtype,
            f"dtype {', '.join(str(each).removeprefix('torch.') for each in DTYPES)} is expected",
        ),
        TensorCondition(
            has_rank_up_to(MAX_DIMENSIONS), f"at most {MAX_DIMENSIONS} dimensions are expected"
        ),
    ),
)

_QUANTIZED = {
    replace(GEMM, weight_only=True): ("convolution", "linear"),
    ARITHMETIC: ("add.Tensor", "mul.Tensor", "matmul", "mm", "bmm", "addmm"),
    SHARED: (
        "max_pool1d", "max_pool2d", "max_pool2d_with_indices", "max_pool3d",
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
        "mean.dim", "view_copy",
    ),
}  # fmt: skip
# What CoreMLQuantizer quantizes. Operators of captured graphs that an edge program has otherwise stand here, too.
QUANTIZED: OpTable[Row] = OpTable(
    {
        f"aten.{name if '.' in name else name + '.default'}": Row(converted, annotation=annotation)
        for annotation, names in _QUANTIZED.items()
        for name in names
    }
)


def preserved_ops(
    program: torch.export.ExportedProgram, target: ct.target | None
) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool]]:
    """Operators of a program that the frontend translates better than their pieces, and which calls of them: what is
    not taken whole, or is not in `target`, may be in pieces."""
    constants = lowering.Constants(program)
    ops = {op: None for op in map(called_op, program.graph.nodes) if op is not None}
    wanted = [
        op for op in ops if str(op) in TABLE and str(op) not in DECOMPOSED and not is_view(op)
    ]

    def is_taken(node: Node) -> bool:
        needed = None if target is None else torchao_weights.needed_target(node)
        return not TABLE.why_not(node, constants) and (needed is None or needed[0] <= target)

    return wanted, is_taken
