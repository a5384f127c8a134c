# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions pad their inputs themselves, with zeros; a call that only does that ahead of one costs a copy.

before: %p = constant_pad_nd(%x, [1, 1, 1, 1]); %c = convolution(%p, padding=[0, 0])
after:  %c = convolution(%x, padding=[1, 1]); the same between a dequantize and a quantize that mean the same

XNNPACK has a number for each side, ATen one for both: what differs goes along in the node's meta, inside a delegate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.xnnpack.aot.quantization import parameters_of
from executorch.backends.xnnpack.aot.steps import CONVOLUTION
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize
from executorch.exir.backend.lowering.quantized_steps import quantized_step
from executorch.exir.graph_facts import op_name

PAD = "aten.constant_pad_nd.default"
_SIDES = "xnnpack_padding"


@dataclass(frozen=True)
class Sides:
    """Zeros around an image."""

    top: int
    right: int
    bottom: int
    left: int


def fold_padding(program: ExportedProgram) -> None:
    """Into convolutions, where both sides get the same number of zeros."""
    for node, pad, pairs in _padded_convolutions(program):
        if all(before == after for before, after in pairs):
            own = _own_padding(node)
            both = [mine + before for mine, (before, _) in zip(own, pairs, strict=True)]
            node.args = (pad.args[0], *node.args[1:4], both, *node.args[5:])
    _clean(program)


def fold_sides(program: ExportedProgram) -> None:
    """Into convolutions of images, whatever the sides get; for a program that is lowered next, see padding_of()."""
    for node, pad, pairs in _padded_convolutions(program):
        if len(pairs) == 2:
            (top, bottom), (left, right) = pairs
            height, width = _own_padding(node)
            node.args = (pad.args[0], *node.args[1:])
            node.meta[_SIDES] = Sides(top + height, right + width, bottom + height, left + width)
    _clean(program)


def padding_of(convolution: Node) -> Sides | None:
    """What fold_sides() left; None where the argument says it all."""
    return convolution.meta.get(_SIDES)


def _clean(program: ExportedProgram) -> None:
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()


def _own_padding(convolution: Node) -> list[int]:
    dims, own = len(convolution.args[3]), list(convolution.args[4])
    return own * dims if len(own) == 1 else own


def _padded_convolutions(
    program: ExportedProgram,
) -> Iterator[tuple[Node, Node, list[tuple[int, int]]]]:
    """With the pads they read, and how many zeros those add before and after each spatial dimension."""
    for node in list(program.graph.nodes):
        if op_name(node) != CONVOLUTION or node.args[6]:  # transposed ones take padding away
            continue
        pad = _padding_read_by(node)
        pairs = None if pad is None else _zeros(pad, len(node.args[3]))
        if pairs is not None:
            yield node, pad, pairs


def _padding_read_by(convolution: Node) -> Node | None:
    """The pad whose result is the image, maybe as 8-bit values by the parameters that its own input has."""
    image = convolution.args[0]
    if op_name(image) == PAD:
        return image
    qparams = parameters_of(image) if is_dequantize(image) else None
    stored = None if qparams is None else qparams.source
    if stored is None or not is_quantize(stored) or parameters_of(stored) != qparams:
        return None
    pad = stored.args[0]
    read = map(parameters_of, quantized_step(pad).inputs)
    return pad if op_name(pad) == PAD and list(read) == [qparams] else None


def _zeros(pad: Node, dims: int) -> list[tuple[int, int]] | None:
    """Before and after each of the last dimensions; None for anything else."""
    sizes, fill = list(pad.args[1]), pad.args[2] if len(pad.args) > 2 else 0
    sizes += [0] * (2 * dims - len(sizes))
    if fill != 0 or not all(isinstance(each, int) and each >= 0 for each in sizes):
        return None
    pairs = list(zip(sizes[::2], sizes[1::2], strict=True))
    return None if any(map(any, pairs[dims:])) else pairs[:dims][::-1]
