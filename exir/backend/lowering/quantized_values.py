# SPDX-License-Identifier: BSD-3-Clause
"""Scales and zero points of a quantized program: which no backend can compute with, and which tell that the program was
not calibrated."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend.lowering.quantized import Quantization, is_quantize, quantization_of
from executorch.exir.error import ExportError, ExportErrorType, source_line
from executorch.exir.graph_facts import op_name

_LEAST_NORMAL = torch.finfo(torch.float32).tiny
LEAST_SCALE = 2**-12  # of our quantizers' observers
_SMALL_WIDTH = 256 * LEAST_SCALE  # of 8 bits, and of 16
_INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32)
_MAX_NAMED = 8


class InvalidQuantization(ExportError, ValueError):
    """A scale or zero point that means nothing."""


def check_quantized_values(
    program: ExportedProgram, constants: Mapping[Node, torch.Tensor]
) -> None:
    """Every scale that is known is a finite number, not a denormal one, there is one for each channel where channels
    have their own, and every zero point is one of its dtype; InvalidQuantization names node, value and index of the
    first that is not."""
    for node in program.graph.nodes:
        qparams = quantization_of(node)
        if qparams is None:
            continue
        scales = _known(qparams.scale, constants)
        if scales is not None:
            _check_count(node, qparams, scales)
            _check_scales(node, scales)
        points = _known(qparams.zero_point, constants)
        if points is not None and qparams.dtype in _INTEGERS:
            _check_zero_points(node, points, qparams.dtype)


def _known(
    value: Node | float | None, constants: Mapping[Node, torch.Tensor]
) -> torch.Tensor | None:
    """None for what is computed at run time, and for what is left out."""
    if isinstance(value, Node):
        return constants[value].detach() if value in constants else None
    if value is None:
        return None
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)


def _check_count(node: Node, qparams: Quantization, scales: torch.Tensor) -> None:
    if qparams.axis is None or qparams.group_size != 0:
        return
    channels = node.meta["val"].shape[qparams.axis]
    if scales.numel() != channels:
        raise _invalid(
            node,
            "Expected a scale for each channel",
            f"{scales.numel()} for {channels} channels",
            "an observer that saw no values has one",
        )


def _check_scales(node: Node, scales: torch.Tensor) -> None:
    """A scale of 0 is exact: all of a channel is 0."""
    found = scales if scales.dtype == torch.float64 else scales.float()
    normal = found.isfinite() & ((found.abs() >= _LEAST_NORMAL) | (found == 0))
    if not bool(normal.all()):
        index, value = _first(found, ~normal)
        raise _invalid(
            node,
            "Scales must be finite and normal",
            f"a scale of {value}{index}",
            f"expected a number of at least {_LEAST_NORMAL:.3g}, which float32 holds in full",
        )


def _check_zero_points(node: Node, points: torch.Tensor, dtype: torch.dtype) -> None:
    limits = torch.iinfo(dtype)
    outside = (points < limits.min) | (points > limits.max)
    if bool(outside.any()):
        index, value = _first(points, outside)
        raise _invalid(
            node,
            "Found invalid zeropoint",
            f"a zero point of {int(value)}{index}",
            f"expected one of {dtype}, {limits.min} to {limits.max}",
        )


def _first(values: torch.Tensor, wrong: torch.Tensor) -> tuple[str, float]:
    """Where, and what it is."""
    if values.dim() == 0:
        return "", values.item()
    index = [int(place) for place in wrong.nonzero()[0]]
    return f" at index {index if len(index) > 1 else index[0]}", values[tuple(index)].item()


def _invalid(node: Node, what: str, found: str, expected: str) -> InvalidQuantization:
    return InvalidQuantization(
        ExportErrorType.INVALID_INPUT_TYPE,
        f"{what}: node {node.name} ({op_name(node)}) has {found}; {expected}{source_line(node)}. Calibrate the "
        "prepared model again with inputs that hold no NaN or infinity, or take this operator out of the quantization",
    )


# ---- Calibration ----


@dataclass(frozen=True)
class StaticRange:
    """Of a call that quantizes with numbers of calibration. `why`: how one sees that calibration saw nothing there,
    empty where it did."""

    node: Node
    qparams: Quantization
    why: str

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest value that is not cut."""
        qparams = self.qparams
        least, largest = (
            qparams.quant_min - qparams.zero_point,
            qparams.quant_max - qparams.zero_point,
        )
        return least * qparams.scale, largest * qparams.scale

    @property
    def is_unseen(self) -> bool:
        return bool(self.why)


def static_ranges(program: ExportedProgram) -> Iterator[StaticRange]:
    for node in program.graph.nodes:
        qparams = quantization_of(node) if is_quantize(node) else None
        if qparams is not None and qparams.is_static:
            yield StaticRange(node, qparams, _why_unseen(qparams))


def _why_unseen(qparams: Quantization) -> str:
    if (qparams.scale, qparams.zero_point) == (1.0, 0):
        return "scale 1 and zero point 0, as of an observer that saw no values"
    if _has_least_scale(qparams):
        return (
            f"the least scale of an observer: calibration saw no range beyond {_width(qparams):.3g}"
        )
    return ""


def _has_least_scale(qparams: Quantization) -> bool:
    """Observers have an `eps` that no scale is below, a power of two; one that is seen is none. Fixed parameters of an
    operator of 16 bits may be one, too, of a range that is not small."""
    is_power = math.frexp(qparams.scale)[0] == 0.5
    return qparams.scale == LEAST_SCALE or (is_power and _width(qparams) <= _SMALL_WIDTH)


def _width(qparams: Quantization) -> float:
    return (qparams.quant_max - qparams.quant_min) * qparams.scale


def warn_of_missing_ranges(program: ExportedProgram) -> None:
    """Says which activations have the parameters of an observer that saw nothing, or nothing but numbers close to 0.
    Their values are cut to that range at run time, whatever they are: a program with wrong results in silence."""
    unseen = [each for each in static_ranges(program) if each.is_unseen]
    small = [each for each in unseen if _has_least_scale(each.qparams)]
    none = [_name(each.node) for each in unseen if each not in small]
    found = []
    if none:
        found.append(
            f"{_listed(none)} {'has' if len(none) == 1 else 'have'} scale 1 and zero point 0, as of an observer "
            "that saw no values"
        )
    if small:
        largest = max(_width(each.qparams) for each in small)
        found.append(
            f"{_listed([_name(each.node) for each in small])} {'has' if len(small) == 1 else 'have'} the least scale "
            f"of an observer: calibration saw no range beyond {largest:.3g} there, and larger values are cut"
        )
    if found:
        warnings.warn(
            f"quantized values without a range of their own: {'; '.join(found)}. Run the prepared model on inputs of "
            "the size that it will get before convert_pt2e",
            UserWarning,
            stacklevel=2,
        )


def _name(quantize: Node) -> str:
    """Of the value that is quantized."""
    return quantize.args[0].name


def _listed(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    more = len(unique) - _MAX_NAMED
    return ", ".join(unique[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
