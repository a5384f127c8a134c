# SPDX-License-Identifier: BSD-3-Clause
"""What crosses the boundary of a delegate is float: for backends whose quantized values have other types than programs
have, such as 16 bits of what is int32 there.

before: A: %q = quantize(conv(..)) | CPU: %d = dequantize(%q); nonzero(%d)      B: %e = dequantize(%q); add(%e, ..)
after:  A: %q; %d = dequantize(%q) | CPU: nonzero(%d)       B: %q2 = quantize(%d); %e = dequantize(%q2); add(%e, ..)"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend._partitions import TAG
from executorch.exir.backend.lowering.mode_steps import static_qparams
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize


def make_boundaries_float(program: ExportedProgram) -> None:
    """Of a program whose nodes have the tags of their delegates. Only what is quantized with known numbers."""
    for node in list(program.graph.nodes):
        if is_quantize(node) and static_qparams(node) is not None:
            if TAG in node.meta:
                _give_floats(node)
            else:
                _take_along(node)
    program.graph_module.recompile()


def _give_floats(quantize: Node) -> None:
    """Readers in other delegates, or in none, read what this one dequantizes."""
    tag = quantize.meta[TAG]
    outside = [each for each in quantize.users if is_dequantize(each) and _tag(each) != tag]
    if not outside:
        return
    given = _copy(outside[0], after=quantize, source=quantize, tag=tag)
    for each in outside:
        if _tag(each) is None:
            each.replace_all_uses_with(given)
            each.graph.erase_node(each)
        else:
            each.replace_input_with(quantize, _copy(quantize, given, given, _tag(each)))


def _take_along(quantize: Node) -> None:
    """Delegates that dequantize what the CPU quantizes do both."""
    for tag in dict.fromkeys(filter(None, map(_tag, quantize.users))):
        copy = _copy(quantize, quantize, quantize.args[0], tag)
        for user in [each for each in quantize.users if _tag(each) == tag]:
            user.replace_input_with(quantize, copy)
    if not quantize.users:
        quantize.graph.erase_node(quantize)


def _tag(node: Node) -> str | None:
    return node.meta.get(TAG)


def _copy(node: Node, after: Node, source: Node, tag: str | None) -> Node:
    """Of a quantize or dequantize, of another source."""
    with node.graph.inserting_after(after):
        made = node.graph.node_copy(node, lambda each: each)
    made.args = (source, *node.args[1:])
    made.meta[TAG] = tag
    return made
