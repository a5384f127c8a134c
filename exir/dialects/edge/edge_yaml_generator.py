# SPDX-License-Identifier: BSD-3-Clause
"""Writes edge.yaml: runs each operator of the table below on every combination of dtypes and notes what it gives.
`python -m executorch.exir.dialects.edge.edge_yaml_generator > exir/dialects/edge/edge.yaml`"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch

from executorch.exir.dialects.edge._constraints import DTYPES

aten = torch.ops.aten
OpOverload = torch._ops.OpOverload
Combination = tuple[str, ...]  # dtype names of the tensor arguments, then of the returns
_NAMES = {dtype: name for name, dtype in DTYPES.items()}

UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil clone cos cosh erf exp expm1 floor "
    "gelu hardtanh isinf isnan leaky_relu log log10 log1p log2 logical_not neg nonzero reciprocal "
    "relu round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc elu alias_copy detach_copy"
)
BINARY_TENSOR = (
    "add sub mul div eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor remainder fmod"
)
BINARY_DEFAULT = "atan2 logical_and logical_or logical_xor maximum minimum mm bmm floor_divide"
WITH_SCALAR = "add sub mul div eq ne lt le gt ge remainder fmod bitwise_and bitwise_or bitwise_xor"

# Operator name -> the arguments after the tensors (or a function of the tensors giving all arguments).
OTHERS: dict[str, tuple[int, Callable[..., tuple[Any, ...]]]] = {
    "_log_softmax.default": (1, lambda x: (x, 1, False)),
    "_softmax.default": (1, lambda x: (x, 1, False)),
    "_to_copy.default": (1, lambda x: (x,)),
    "addmm.default": (3, lambda a, b, c: (a, b, c)),
    "amax.default": (1, lambda x: (x, [0])),
    "amin.default": (1, lambda x: (x, [0])),
    "any.default": (1, lambda x: (x,)),
    "any.dim": (1, lambda x: (x, 0)),
    "argmax.default": (1, lambda x: (x,)),
    "argmin.default": (1, lambda x: (x,)),
    "as_strided_copy.default": (1, lambda x: (x, [2], [1])),
    "avg_pool2d.default": (1, lambda x: (x.reshape(1, 1, 2, 2), [2, 2])),
    "clamp.default": (1, lambda x: (x, 0, 1)),
    "constant_pad_nd.default": (1, lambda x: (x, [1, 1])),
    "convolution.default": (
        2,
        lambda x, w: (
            x.reshape(1, 1, 2, 2),
            w.reshape(1, 1, 2, 2),
            None,
            [1, 1],
            [0, 0],
            [1, 1],
            False,
            [0, 0],
            1,
        ),
    ),
    "cumsum.default": (1, lambda x: (x, 0)),
    "embedding.default": (2, lambda w, i: (w, torch.zeros_like(i))),
    "expand_copy.default": (1, lambda x: (x, [2, 2, 2])),
    "flip.default": (1, lambda x: (x, [0])),
    "full_like.default": (1, lambda x: (x, 1)),
    "gather.default": (2, lambda x, i: (x, 0, torch.zeros_like(i))),
    "index_select.default": (2, lambda x, i: (x, 0, torch.zeros_like(i.reshape(-1)))),
    "linear.default": (2, lambda x, w: (x, w)),
    "masked_fill.Scalar": (2, lambda x, m: (x, m, 1)),
    "max.dim": (1, lambda x: (x, 0)),
    "max_pool2d_with_indices.default": (1, lambda x: (x.reshape(1, 1, 2, 2), [2, 2])),
    "mean.dim": (1, lambda x: (x, [0])),
    "min.dim": (1, lambda x: (x, 0)),
    "native_group_norm.default": (1, lambda x: (x, None, None, 2, 2, 1, 1, 1e-5)),
    "native_layer_norm.default": (1, lambda x: (x, [2], None, None, 1e-5)),
    "permute_copy.default": (1, lambda x: (x, [1, 0])),
    "pow.Tensor_Scalar": (1, lambda x: (x, 2)),
    "pow.Tensor_Tensor": (2, lambda x, y: (x, y)),
    "repeat.default": (1, lambda x: (x, [2, 1])),
    "scatter_add.default": (3, lambda x, i, s: (x, 0, torch.zeros_like(i), s)),
    "select_copy.int": (1, lambda x: (x, 0, 0)),
    "slice_copy.Tensor": (1, lambda x: (x, 0, 0, 1)),
    "squeeze_copy.dims": (1, lambda x: (x, [0])),
    "sum.dim_IntList": (1, lambda x: (x, [0])),
    "topk.default": (1, lambda x: (x, 1)),
    "tril.default": (1, lambda x: (x,)),
    "unsqueeze_copy.default": (1, lambda x: (x, 0)),
    "var.correction": (1, lambda x: (x, [0])),
    "view_copy.default": (1, lambda x: (x, [4])),
    "where.self": (3, lambda c, x, y: (c, x, y)),
}


def operators() -> dict[OpOverload, tuple[int, Callable[..., tuple[Any, ...]]]]:
    """Operator -> number of tensors whose dtypes vary, and its arguments made from them."""
    table: dict[OpOverload, tuple[int, Callable[..., tuple[Any, ...]]]] = {}
    for name in UNARY.split():
        table[getattr(aten, name).default] = (1, lambda x: (x,))
    for name in BINARY_TENSOR.split():
        table[getattr(aten, name).Tensor] = (2, lambda x, y: (x, y))
    for name in BINARY_DEFAULT.split():
        shape = (lambda t: t.reshape(1, 2, 2)) if name == "bmm" else (lambda t: t)
        table[getattr(aten, name).default] = (2, lambda x, y, s=shape: (s(x), s(y)))
    for name in WITH_SCALAR.split():
        table[getattr(aten, name).Scalar] = (1, lambda x: (x, 1))
    for name, entry in OTHERS.items():
        op, overload = name.split(".")
        table[getattr(getattr(aten, op), overload)] = entry
    return dict(sorted(table.items(), key=lambda item: item[0].name()))


def combinations_of(
    op: OpOverload, count: int, arguments: Callable[..., tuple[Any, ...]]
) -> list[Combination]:
    """All combinations of dtypes that torch computes, with the dtypes it gives."""
    found = []
    for dtypes in itertools.product(DTYPES.values(), repeat=count):
        tensors = [torch.ones(2, 2).to(dtype) for dtype in dtypes]
        try:
            results = op(*arguments(*tensors))
        except (RuntimeError, IndexError, TypeError, NotImplementedError):
            continue
        results = results if isinstance(results, tuple | list) else (results,)
        if all(result.dtype in _NAMES for result in results):
            found.append(tuple(_NAMES[t.dtype] for t in (*tensors, *results)))
    return found


def tensor_names(op: OpOverload, count: int) -> list[str]:
    inputs = [arg.name for arg in op._schema.arguments if isinstance(arg.type, torch.TensorType)]
    inputs = inputs[:count]
    return [*inputs, *(f"__ret_{index}" for index in range(len(op._schema.returns)))]


def rows_of(combinations: list[Combination]) -> list[list[frozenset[str] | int]]:
    """Rows that cover the combinations: per position a set of dtypes, or the earlier position it equals."""
    rows: list[list[frozenset[str] | int]] = []
    same = [c for c in combinations if len(set(c)) == 1]
    if len(same) > 1:
        rows.append([frozenset(c[0] for c in same)] + [0] * (len(same[0]) - 1))
        combinations = [c for c in combinations if c not in same]
    boxes = [[frozenset([name]) for name in c] for c in combinations]
    for position in range(len(combinations[0]) if combinations else 0):
        boxes = _merged(boxes, position)
    return rows + boxes


def _merged(boxes: list[list[frozenset[str]]], position: int) -> list[list[frozenset[str]]]:
    """Boxes equal but for one position become one."""
    groups: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for box in boxes:
        rest = tuple(part for place, part in enumerate(box) if place != position)
        groups[rest] |= box[position]
    return [
        [*rest[:position], frozenset(names), *rest[position:]] for rest, names in groups.items()
    ]


def _slots(row: list[frozenset[str] | int]) -> list[int]:
    """Positions whose dtypes must be equal get the same number, other positions with the same set a new one."""
    slots: list[int] = []
    used: dict[frozenset[str], int] = defaultdict(int)
    for part in row:
        if isinstance(part, int):
            slots.append(slots[part])
        elif len(part) == 1:
            slots.append(0)
        else:
            slots.append(used[part])
            used[part] += 1
    return slots


def entry_text(op: OpOverload, count: int, arguments: Callable[..., tuple[Any, ...]]) -> str:
    names = tensor_names(op, count)
    rows = rows_of(combinations_of(op, count, arguments))
    aliases: dict[tuple[frozenset[str], int], str] = {}
    lines = []
    for row in rows:
        slots = _slots(row)
        cells = []
        for name, part, slot in zip(names, row, slots):
            dtypes = row[part] if isinstance(part, int) else part
            alias = aliases.setdefault((dtypes, slot), f"T{len(aliases)}")
            cells.append(f"{name}: {alias}")
        lines.append("  - " + "\n    ".join(cells))
    alias_lines = [f"    {a}: [{', '.join(sorted(d))}]" for (d, _), a in aliases.items()]
    func = op.name().removeprefix("aten::")
    return "\n".join(
        [f"- func: {func}", "  namespace: edge", f"  inherits: {op.name()}", "  type_alias:"]
        + alias_lines
        + ["  type_constraint:"]
        + lines
    )


def main() -> None:
    argparse.ArgumentParser(description="Prints edge.yaml.").parse_args()
    print("# SPDX-License-Identifier: BSD-3-Clause")
    print(
        "# Which dtypes the tensors of each edge operator may have. Written by edge_yaml_generator.py."
    )
    print("# In one row, arguments with the same alias have the same dtype.")
    for op, (count, arguments) in operators().items():
        print(entry_text(op, count, arguments))


if __name__ == "__main__":
    main()
