# SPDX-License-Identifier: BSD-3-Clause
"""How a row's calls are quantized: what the backend's quantizer annotates, and what its compiler then finds between
dequantize and quantize."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from torch.fx import Node


class Kind(Enum):
    NONE = 0
    GEMM = 1  # input, constant weight, bias; results of a range of their own: convolution, linear
    ARITHMETIC = 2  # all operands; results of a range of their own: binary operators, means
    SHARED = 3  # results have the parameters of the operands: moves, limits, largest values
    FIXED = 4  # results have parameters that the operator says, not calibration: softmax, tanh
    LOOKUP = 5  # a table of all results; quantized where neighbours are, not for itself


@dataclass(frozen=True)
class FixedParameters:
    """For 8 bits, signed; other widths have the same range of values: 2^(8 - bits) of the scale."""

    scale: float
    zero_point: int


def _always(call: Node) -> bool:
    return True


@dataclass(frozen=True)
class Annotation:
    """`when`: for which calls of a captured graph; `otherwise`: how others are quantized. Of GEMM: `places` of input,
    weight and bias among the arguments; `dynamic`, operators of captured graphs that take an input quantized while
    running, as long as `dynamic_when` holds; `weight_only`, the input may be float. Of SHARED: `starts`, takes part
    where what it reads has no parameters yet. `mixed`, of ARITHMETIC, too: what is no float stays as it is, as
    conditions and indices do. Of ARITHMETIC: `operands`, the places of those that are quantized; all unless given.
    `fixed`: of the results of FIXED; `fixed_inputs`: of operands, also of ARITHMETIC."""

    kind: Kind = Kind.NONE
    when: Callable[[Node], bool] = _always
    places: tuple[int, int, int] = (0, 1, 2)
    dynamic: tuple[str, ...] = ()
    dynamic_when: Callable[[Node], bool] = _always
    weight_only: bool = False
    starts: bool = False
    mixed: bool = False
    operands: tuple[int, ...] | None = None
    fixed: FixedParameters | None = None
    fixed_inputs: FixedParameters | None = None
    otherwise: Annotation | None = None


NOT_QUANTIZED = Annotation()
GEMM = Annotation(Kind.GEMM)
ARITHMETIC = Annotation(Kind.ARITHMETIC)
SHARED = Annotation(Kind.SHARED)
SHARED_FLOATS = Annotation(Kind.SHARED, mixed=True)
LOOKUP = Annotation(Kind.LOOKUP)
ARITHMETIC_OF_FLOATS = Annotation(Kind.ARITHMETIC, mixed=True)  # comparisons, choices
# Results from 0 to 1, and from -1 to 1, over all values of the dtype.
FROM_0_TO_1 = Annotation(Kind.FIXED, fixed=FixedParameters(1 / 256, -128))
FROM_MINUS_1_TO_1 = Annotation(Kind.FIXED, fixed=FixedParameters(1 / 128, 0))
