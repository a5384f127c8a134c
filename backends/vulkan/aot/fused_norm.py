# SPDX-License-Identifier: BSD-3-Clause
"""x * rsqrt(mean(x * x) + eps) * weight as one call."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from executorch.backends.vulkan.aot.row import FLOATS, VulkanRow, argument
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.backend.lowering.patterns import Call, Value
from executorch.exir.backend.lowering.steps import Step

_ADD, _MUL, _X = ("aten.add.Tensor", "aten.add.Scalar"), "aten.mul.Tensor", Value("x")


def _is_of_last(node: Node) -> bool:
    dims = argument(node, "dim")
    rank = node.args[0].meta["val"].dim()
    return [dim % rank for dim in dims] == [rank - 1] and bool(argument(node, "keepdim"))


def _norm(square: Call) -> Call:
    mean = Call("aten.mean.dim", square, where=_is_of_last)
    root = Call("aten.rsqrt.default", Call(_ADD, mean, Value("eps"), commutes=True))
    scaled = Call(_MUL, _X, root, commutes=True)
    return Call(_MUL, scaled, Value("weight"), commutes=True, name="norm")


def _number(eps: Any, constants: Any) -> float | None:
    if isinstance(eps, Node):
        found = constants.get(eps)
        return float(found) if found is not None and found.numel() == 1 else None
    return float(eps)


def _is_norm(step: Step, constants: Constants) -> bool:
    weight, x, eps = (step.named[each] for each in ("weight", "x", "eps"))
    if weight not in constants or not isinstance(x, Node) or _number(eps, constants) is None:
        return False
    sizes, value = list(weight.meta["val"].shape), x.meta["val"]
    return value.dtype in FLOATS and sizes == [value.shape[-1]]


def write_norm(writer: Any, step: Step) -> None:
    eps = _number(step.named["eps"], writer.constants)
    args = [writer.read(step.named["x"]), writer.raw(step.named["weight"]), writer.scalar(eps)]
    writer.call("et_vk.rms_norm.default", args, step.result)


def norm_patterns() -> dict[Call, VulkanRow]:
    condition = Condition(_is_norm, "a weight for each column, which is data, is expected")
    squares = (Call(_MUL, _X, _X), Call("aten.pow.Tensor_Scalar", _X, 2))
    return {_norm(square): VulkanRow(write_norm, (condition,)) for square in squares}
