# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions pad their inputs themselves, with zeros; a call that only does that ahead of one costs a copy.

before: %p = constant_pad_nd(%x, [1, 1, 1, 1]); %c = convolution(%p, padding=[0, 0])
after:  %c = convolution(%x, padding=[1, 1]); the same between a dequantize and a quantize that mean the same"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE, QUANTIZE, parameters_of
from executorch.backends.xnnpack.aot.steps import CONVOLUTION, op_name

PAD = "aten.constant_pad_nd.default"


def fold_padding(program: ExportedProgram) -> None:
    """Into convolutions, where both sides get the same number of zeros."""
    for node in list(program.graph.nodes):
        if op_name(node) != CONVOLUTION or node.args[6]:  # transposed ones take padding away
            continue
        pad = _padding_read_by(node)
        added = None if pad is None else _zeros_on_each_side(pad, len(node.args[3]))
        if added is None:
            continue
        own = list(node.args[4])
        own = own * len(added) if len(own) == 1 else own
        both = [before + more for before, more in zip(own, added, strict=True)]
        node.args = (pad.args[0], *node.args[1:4], both, *node.args[5:])
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()


def _padding_read_by(convolution: Node) -> Node | None:
    """The pad whose result is the image, maybe as 8-bit values by the parameters that its own input has."""
    image = convolution.args[0]
    if op_name(image) == PAD:
        return image
    parameters = parameters_of(image)
    stored = image.args[0] if op_name(image) == DEQUANTIZE else image
    if parameters is None or op_name(stored) != QUANTIZE or parameters_of(stored) != parameters:
        return None
    pad = stored.args[0]
    if op_name(pad) != PAD or op_name(pad.args[0]) != DEQUANTIZE:
        return None
    return pad if parameters_of(pad.args[0]) == parameters else None


def _zeros_on_each_side(pad: Node, dims: int) -> list[int] | None:
    """How many, for each spatial dimension; None for anything else."""
    pairs, fill = list(pad.args[1]), pad.args[2] if len(pad.args) > 2 else 0
    pairs += [0] * (2 * dims - len(pairs))
    if fill != 0 or not all(isinstance(each, int) and each >= 0 for each in pairs):
        return None
    before, after = pairs[::2], pairs[1::2]
    if before != after or any(before[dims:]):
        return None
    return before[:dims][::-1]
