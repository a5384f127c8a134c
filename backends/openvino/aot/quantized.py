# SPDX-License-Identifier: BSD-3-Clause
"""What OpenVINO makes of quantized values. Its frontend reads a quantize as rounding of floats and a dequantize as
nothing, so that the two are one; rounded values are off by their last bits, and a zero may be a tiny number."""

from __future__ import annotations

from torch.fx import Node

from executorch.backends.openvino.aot.pools import Windows
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.graph_facts import op_name

QUANTIZE = "quantized_decomposed.quantize_per_"
DEQUANTIZE = "quantized_decomposed.dequantize_per_"
# Where a tiny number in place of zero makes another result, and the operand that it does so in.
_SINGULAR = dict.fromkeys(
    [f"aten.{name}.default" for name in ("sqrt", "rsqrt", "log", "log2", "log10", "reciprocal")], 0
) | {
    "aten.pow.Tensor_Scalar": 0,
    "aten.pow.Tensor_Tensor": 0,
    "aten.div.Tensor": 1,
    "aten.fmod.Tensor": 1,
    "aten.remainder.Tensor": 1,
}
# What hands zeros on.
_KEEPS_ZERO = (
    "_copy.",
    ".clone.",
    ".relu.",
    ".abs.",
    ".neg.",
    ".cat.",
    ".flip.",
    "max_pool2d",
    "getitem",
)
# Behind which no zero point is waiting.
_CONVOLUTION_AND_LINEAR = ("convolution", "mm.default", "linear")


def is_quantize(node: Node) -> bool:
    return op_name(node).startswith(QUANTIZE)


def is_dequantize(node: Node) -> bool:
    return op_name(node).startswith(DEQUANTIZE)


def quantized_with(node: Node) -> list[Node]:
    """A quantize and those that dequantize its result; any other call alone."""
    source = node.all_input_nodes[0] if is_dequantize(node) else node
    if not is_quantize(source):
        return [node]
    return [source, *filter(is_dequantize, source.users)]


def _is_dequantized(node: Node, constants: Constants) -> bool:
    """By the same scale, zero point and range, and read by nothing else: no other operator is given all of these."""
    if is_dequantize(node):
        source = node.all_input_nodes[0]
        return source in constants or is_quantize(source)
    return all(user.args[1:] == node.args[1:] for user in node.users)


def _keeps_zero(node: Node, constants: Constants) -> bool:
    """Of a dequantize; what it is of stays with it."""
    return not any(_makes_large(node, user) for user in node.users)


def _makes_large(node: Node, user: Node) -> bool:
    name = op_name(user)
    place = _SINGULAR.get(name)
    if place is not None:
        return user.args[place] is node
    hands_on = any(part in f"{name or user.target}" for part in _KEEPS_ZERO)
    return hands_on and any(_makes_large(user, each) for each in user.users)


def _pads_floats(node: Node, constants: Constants) -> bool:
    found = Windows.of(node)
    is_padded = found.counts_padding and (found.has_rest or any(found.padding))
    return not is_padded or _is_of_floats(node, constants)


def _is_of_floats(node: Node, constants: Constants) -> bool:
    """Whether no zero point waits: what is added to quantized values is 0 among them, whatever their zero point."""
    waiting, seen = list(node.all_input_nodes), set()
    while waiting:
        source = waiting.pop()
        if source in seen or source in constants:
            continue
        seen.add(source)
        if is_dequantize(source):
            return False
        if not any(part in op_name(source) for part in _CONVOLUTION_AND_LINEAR):
            waiting += source.all_input_nodes
    return True


DEQUANTIZED = Condition(
    _is_dequantized,
    "a quantize whose result is dequantized alone, with the same parameters, is expected",
)
KEEPS_ZERO = Condition(
    _keeps_zero, "a quantized zero would be a tiny number, which the operator behind it makes large"
)
PADS_FLOATS = Condition(_pads_floats, "padding of quantized values that counts would not be zero")
OF_FLOATS = Condition(
    _is_of_floats, "padding of quantized values would not be the value that is asked for"
)
