# SPDX-License-Identifier: BSD-3-Clause
"""Weights that torchao stores in few bits stay so in a model: what of them Core ML has, from which target on, and how
they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch.fx import Node

from executorch.backends.apple.coreml.aot.library import ct
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.graph_facts import arguments_by_name, op_name

AFFINE = "torchao.dequantize_affine.default"
CODEBOOK = "quant.dequantize_codebook.default"
_BITS = {(-8, 7): 4, (-128, 127): 8}
_PALETTES = (1, 2, 3, 4, 6, 8)  # bits of an index that Core ML has


def _reads_data(node: Node, constants: Constants) -> bool:
    return all(_is_data(each, constants) for each in node.all_input_nodes)


def _is_data(node: Node, constants: Constants) -> bool:
    """Or made of it alone: captured programs take the parts of torchao's tensors by calls."""
    return node in constants or (bool(node.all_input_nodes) and _reads_data(node, constants))


def _is_matrix(node: Node, constants: Constants) -> bool:
    return node.args[0].meta["val"].dim() == 2


def _has_groups_in_rows(node: Node, constants: Constants) -> bool:
    """torchao refuses groups that do not fill a row."""
    return arguments_by_name(node)["block_size"][0] == 1


def _has_known_bits(node: Node, constants: Constants) -> bool:
    arguments = arguments_by_name(node)
    return (arguments["quant_min"], arguments["quant_max"]) in _BITS


def _looks_up_numbers(node: Node, constants: Constants) -> bool:
    tables = node.args[1].meta["val"].shape
    return len(tables) == 4 and tables[-1] == 1 and 1 in tables[:2]


_DATA = Condition(_reads_data, "weights that the program has are expected")
_MATRIX = Condition(_is_matrix, "a matrix is expected")
CONDITIONS: dict[str, tuple[Condition, ...]] = {
    AFFINE: (
        _DATA,
        _MATRIX,
        Condition(_has_groups_in_rows, "groups of equal size along rows are expected"),
        Condition(_has_known_bits, "values of -8 to 7 or of -128 to 127 are expected"),
    ),
    CODEBOOK: (
        _DATA,
        _MATRIX,
        Condition(_looks_up_numbers, "tables of numbers, for rows or for columns, are expected"),
    ),
}


ROWS, OTHERS = "8-bit weights with a scale for each row", "weights of torchao"


def needed_target(node: Node) -> tuple[ct.target, str] | None:
    """The first that has such weights, and what they are called; None for any other call."""
    if op_name(node) not in CONDITIONS:
        return None
    arguments, sizes = arguments_by_name(node), node.args[0].meta["val"].shape
    has_bytes = op_name(node) == AFFINE and arguments["quant_min"] == -128
    is_by_row = has_bytes and arguments["block_size"][1] == sizes[1]
    return (ct.target.iOS16, ROWS) if is_by_row else (ct.target.iOS18, OTHERS)


# ---- Translations, as coremltools' registry has them ----


def dequantize_affine(context: Any, node: Any) -> None:
    """coremltools' own takes scales of rows for those of columns before iOS 18."""
    data, block, scale, zero = (_value(context, name) for name in node.inputs[:4])
    bits = _BITS[tuple(int(_value(context, name)) for name in node.inputs[5:7])]
    rows, columns = data.shape
    groups = columns // int(block[1])
    builder, scale = ct.converters.mil.Builder, scale.reshape(rows, groups)
    zero = None if zero is None or not zero.any() else zero.reshape(rows, groups)
    if ct.converters.mil.mil.block.is_current_opset_version_compatible_with(ct.target.iOS18):
        dtype = _integers(f"int{bits}")
        offset = {} if zero is None else {"offset": zero.astype(dtype)}
        made = builder.constexpr_blockwise_shift_scale(
            data=data.astype(dtype), scale=scale, name=node.name, **offset
        )
    else:
        zero = np.zeros((rows, 1)) if zero is None else zero
        made = builder.constexpr_affine_dequantize(
            quantized_data=data.astype(np.int8),
            scale=scale[:, 0],
            zero_point=zero[:, 0].astype(np.int8),
            axis=np.int32(0),
            name=node.name,
        )
    context.add(made)


def dequantize_codebook(context: Any, node: Any) -> None:
    """Tables of 5 and 7 bits are those of 6 and 8, whose last numbers nothing reads."""
    codes, tables, bits = (_value(context, name) for name in node.inputs[:3])
    stored = next(each for each in _PALETTES if each >= int(bits))
    missing = (1 << stored) - tables.shape[2]
    made = ct.converters.mil.Builder.constexpr_lut_to_dense(
        indices=codes.astype(_integers(f"uint{stored}")),
        lut=np.pad(tables.astype(np.float32), ((0, 0), (0, 0), (0, missing), (0, 0))),
        name=node.name,
    )
    context.add(made)


def _value(context: Any, name: Any) -> Any:
    """Of an argument: data has a name, numbers and lists stand for themselves."""
    return context[name].val if isinstance(name, str) else name


def _integers(name: str) -> Any:
    types = ct.converters.mil.mil.types
    return types.nptype_from_builtin(types.string_to_builtin(name))
