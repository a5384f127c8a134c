# SPDX-License-Identifier: BSD-3-Clause
"""Which operations of a model in float16 stay in float32, by the kit's rule: squares and the like on their way to what
brings them back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from executorch.backends.apple.coreml.aot.library import ct
from executorch.exir.backend.lowering.wide_values import Kind, WideValues

_KINDS = {
    Kind.POWER: "square exp exp2 pow",
    Kind.SUM: "reduce_sum",
    Kind.REDUCTION: "reduce_mean reduce_max reduce_min",
    Kind.PRODUCT: "mul",
    Kind.QUOTIENT: "real_div",
    Kind.ROOT: "sqrt rsqrt inverse",
    Kind.SUMMAND: "add sub",
    Kind.LOGARITHM: "log",
    Kind.SHAPE: "reshape expand_dims squeeze transpose tile slice_by_index identity",
    Kind.LIMIT: "maximum minimum clip abs relu select",
}
_TINY = 2.0**-25  # the largest that is 0 in halves: a tie, whose even side is 0
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}


class WideOperations(WideValues[Any]):
    """Of coremltools' operations, while its pass casts one after the other to halves."""

    def kind(self, call: Any) -> Kind | None:
        if call.op_type == "pow" and call.y.val is not None:
            is_root = bool(np.all((np.asarray(call.y.val) >= 0) & (np.asarray(call.y.val) <= 1)))
            return Kind.ROOT if is_root else Kind.POWER
        return _KIND_OF.get(call.op_type)

    def operands(self, call: Any) -> Sequence[Any]:
        given = (
            each if isinstance(each, list | tuple) else [each] for each in call.inputs.values()
        )
        read = [each for several in given for each in several if each is not None]
        return [each.op for each in read if each.val is None]

    def is_square(self, call: Any) -> bool:
        return call.x is call.y

    def has_factor_beyond(self, call: Any) -> bool:
        """coremltools leaves those beyond in float32 itself."""
        factors = [np.asarray(each.val) for each in (call.x, call.y) if each.val is not None]
        return any(
            each.size == 1 and 0 < abs(float(each.reshape(-1)[0])) <= _TINY for each in factors
        )

    def numerator(self, call: Any) -> Any:
        return call.x.op

    def readers(self, call: Any) -> Iterable[Any]:
        """Without the model's results, which are halves themselves."""
        return [each for output in call.outputs for each in output.child_ops]


def precision(asked: Any) -> Any:
    """As coremltools is told."""
    if asked is not ct.precision.FLOAT16:
        return asked
    wide = WideOperations()
    return ct.transform.FP16ComputePrecision(op_selector=lambda op: not wide.is_wide(op))
