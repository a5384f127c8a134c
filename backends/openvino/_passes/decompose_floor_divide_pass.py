# SPDX-License-Identifier: BSD-3-Clause
# compat
"""before: div(a, b, rounding_mode="floor")
after:  floats: floor(div(a, b)); integers: q = div(a, b, rounding_mode="trunc"), less one where a rest has not b's sign
"""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.graph_facts import without_dialect
from executorch.exir.pass_base import ExportPass


class DecomposeFloorDividePass(ExportPass):
    """Integers are exact, whatever their size."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: Any
    ) -> Any:
        is_floor = kwargs.get("rounding_mode") == "floor"
        if not is_floor or without_dialect(op) is not torch.ops.aten.div.Tensor_mode:
            return super().call_operator(op, args, kwargs, meta)
        aten = exir_ops.edge.aten if isinstance(op, EdgeOpOverload) else torch.ops.aten

        def call(name: str, overload: str, *given: Any, **more: Any) -> Any:
            target = getattr(getattr(aten, name), overload)
            return super(DecomposeFloorDividePass, self).call_operator(target, given, more, meta)

        a, b = args
        if any(each.data.is_floating_point() for each in args):
            return call("floor", "default", call("div", "Tensor", a, b))
        quotient = call("div", "Tensor_mode", a, b, rounding_mode="trunc")
        rest = call("sub", "Tensor", a, call("mul", "Tensor", quotient, b))
        signs = (call("lt", "Scalar", each, 0) for each in (rest, b))
        others = call("logical_xor", "default", *signs)
        wrong = call("logical_and", "default", others, call("ne", "Scalar", rest, 0))
        return call("add", "Tensor", quotient, wrong, alpha=-1)
