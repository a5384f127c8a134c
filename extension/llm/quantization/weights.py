# SPDX-License-Identifier: BSD-3-Clause
"""Weights in few bits: their numbers, and models whose layers hold them as a scheme says.

A quantized weight is torchao's IntxUnpackedToInt8Tensor. It exports as operators of torchao and quantized_decomposed,
which exir/backend/lowering/quantized.py reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from executorch.extension.llm.formats.weight_bits import (
    WeightBits,
    limits,
    linear_bits,
    weight_of_codes,
)

if TYPE_CHECKING:
    from torchao.quantization import IntxUnpackedToInt8Tensor

# ---- Numbers ----

_TURNS = 20
_ENOUGH = 1e-5  # no turn follows one in which no scale of the whole weight moved by more than this part of itself
_EPS = torch.finfo(torch.float32).eps
# weights of a turn: they stay in the cache, and torch shares no such work among threads
TOGETHER = (1 << 15) - 1


@torch.no_grad()
def quantize_by_least_squares(
    weight: Tensor, group: int, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """Codes (int8, the shape of `weight`) and scales (its type, [rows, columns / group]) of a matrix whose columns
    `group` divides. Codes lie from `low` to `high`.

    The numbers of torchao's "hqq_scale_only", bit for bit, without the work on groups whose scale moves no more, and in
    little memory. The scale s of a group w and its codes q are found by turns: q = clamp(round(w / s)), s = <w, q> /
    <q, q>. A turn that leaves s as it was leaves it so for ever: of 4 bits nearly all groups stand still after a few
    turns."""
    groups = weight.reshape(-1, group)
    count = max(1, TOGETHER // group)
    scales = torch.cat([_widest(some, low, high) for some in groups.split(count)])
    moving = torch.arange(len(groups))
    for _ in range(_TURNS):
        turns = [_turn(groups, ids, scales, low, high) for ids in moving.split(count)]
        moving = torch.cat([still for still, _ in turns])
        if not len(moving) or max(by for _, by in turns) < _ENOUGH:
            break
    codes = torch.empty(groups.shape, dtype=torch.int8)
    parts = codes.split(count), groups.split(count), scales.split(count)
    for out, some, by in zip(*parts, strict=True):
        out.copy_(codes_of(some.float(), by, low, high))
    shape = weight.shape[0], weight.shape[1] // group
    return codes.view(weight.shape), scales.view(shape).to(weight.dtype)


def _widest(groups: Tensor, low: int, high: int) -> Tensor:
    """Scales that clamp nothing, where the first turn begins."""
    return (groups.float().abs().amax(1) / max(abs(low), abs(high))).clamp_min_(_EPS)


def codes_of(groups: Tensor, scales: Tensor, low: int, high: int) -> Tensor:
    """Of groups [n, columns] by scales [n], as floats."""
    return (groups / scales.unsqueeze(1)).round_().clamp_(low, high)


def _turn(
    groups: Tensor, ids: Tensor, scales: Tensor, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """Moves the scales of some groups; which of them moved, and how far the one that moved most."""
    some, before = groups.index_select(0, ids).float(), scales.index_select(0, ids)
    codes = codes_of(some, before, low, high)
    norms = (codes * codes).sum(1)
    found = torch.where(norms > 0, codes.mul_(some).sum(1) / norms, before).clamp_min_(_EPS)
    scales.index_copy_(0, ids, found)
    return ids[found != before], ((found - before).abs() / before).max()


def quantized(
    weight: Tensor, wanted: WeightBits, use_hqq: bool = True, symmetric: bool = True
) -> IntxUnpackedToInt8Tensor:
    """Scales by least squares, or by the largest value of a group."""
    group = wanted.group or weight.shape[1]
    if use_hqq:
        found = quantize_by_least_squares(weight, group, *limits(wanted.bits))
        return weight_of_codes(*found, wanted, weight.dtype)
    from torchao.quantization import IntxUnpackedToInt8Tensor
    from torchao.quantization.quant_primitives import MappingType

    return IntxUnpackedToInt8Tensor.from_hp(
        weight,
        (1, group),
        wanted.dtype,
        mapping_type=MappingType.SYMMETRIC if symmetric else MappingType.ASYMMETRIC,
        activation_quantization=wanted.inputs,
    )


# ---- Layers ----

Misfit = Callable[[str, list[int]], None]  # is told the name and the shape of a weight


def fitting_layers(
    model: nn.Module, kind: type[nn.Module], wanted: WeightBits, misfit: Misfit | None = None
) -> list[Any]:
    """Layers of a kind whose columns a group divides."""
    found = []
    for name, module in model.named_modules():
        if isinstance(module, kind):
            if wanted.fits(module.weight.shape[1]):
                found.append(module)
            elif misfit is not None:
                misfit(name, list(module.weight.shape))
    return found


def _quantize(layers: Iterable[Any], wanted: WeightBits, use_hqq: bool = True) -> None:
    """A tied weight is held twice from here on, each time as it is quantized."""
    for layer in layers:
        weight = quantized(layer.weight.detach(), wanted, use_hqq)
        layer.weight = nn.Parameter(weight, requires_grad=False)


def replace_layers(
    model: nn.Module, is_taken: Callable[[Any], bool], make: Callable[[Any, str], nn.Module]
) -> nn.Module:
    """Each layer that is taken, with its name, by what is made of it."""
    for name, module in list(model.named_modules()):
        for child, layer in list(module.named_children()):
            if is_taken(layer):
                setattr(module, child, make(layer, f"{name}.{child}".lstrip(".")))
    return model


def quantize_linears(model: nn.Module, wanted: WeightBits, use_hqq: bool = True) -> nn.Module:
    """Every linear layer whose inputs a group divides; others stay as they are, which the report says."""
    _quantize(fitting_layers(model, nn.Linear, wanted), wanted, use_hqq)
    return model


def quantize_embeddings(model: nn.Module, wanted: WeightBits, use_hqq: bool = True) -> nn.Module:
    """Raises ValueError where a group does not divide the width."""

    def refuse(name: str, shape: list[int]) -> None:
        raise ValueError(
            f"quantization.embedding_quantize: expected a group that divides {shape[1]} ({name}), found {wanted.group}"
        )

    _quantize(fitting_layers(model, nn.Embedding, wanted, refuse), wanted, use_hqq)
    return model


def report(model: nn.Module) -> str:
    """Lines of how many weights are held in how many bits (scales not counted), and the bits of all together."""
    counts: dict[str, int] = {}
    total_bits = total = 0
    for _, parameter in model.named_parameters():
        target = getattr(parameter, "target_dtype", None)
        bits = parameter.dtype.itemsize * 8
        if target is not None:
            bits = int(re.sub(r"\D", "", str(target).removeprefix("torch.")))
        counts[f"{bits}-bit"] = counts.get(f"{bits}-bit", 0) + parameter.numel()
        total, total_bits = total + parameter.numel(), total_bits + bits * parameter.numel()
    lines = [f"{kind}: {count / 1e6:.1f} million weights" for kind, count in sorted(counts.items())]
    return "; ".join(lines) + f"; {total_bits / max(total, 1):.2f} bits a weight"


# ---- Any module, by the names that commands give ----

# name -> the group where none is given; 0: a scale for each row
LINEAR = {"4w": 32, "8w": 0, "8da4w": 32, "8da8w": 0}
EMBEDDING = {"4w": 32, "8w": 0}


def bits_of(label: str, known: dict[str, int], name: str, group: int | None) -> WeightBits:
    if name not in known:
        raise ValueError(f"Unsupported {label}_config: {name}; expected one of {', '.join(known)}")
    return linear_bits(name, known[name] if group is None else max(group, 0))


def quantize_model_(
    module: torch.nn.Module,
    qlinear_config: str | None = None,
    qlinear_group_size: int | None = None,
    qlinear_packing_format: str | None = None,
    qembedding_config: str | None = None,
    qembedding_group_size: int | None = None,
    tie_word_embeddings: bool = False,
    skip_incompatible_shapes: bool = False,
) -> None:
    """Quantizes linear layers and embeddings in place; a group of 0 or -1 is a row. `tie_word_embeddings`: `lm_head`
    takes the quantized table of `embed_tokens` once both are of the same bits.

    Raises:
        ValueError: names that do not exist, packing for kernels of GPUs (`qlinear_packing_format`).
        RuntimeError: a group that does not divide a layer's inputs, unless `skip_incompatible_shapes`.
    """
    if qlinear_packing_format is not None:
        raise ValueError(
            f"qlinear_packing_format: {qlinear_packing_format!r} is for kernels of GPUs, which are not here"
        )
    rows = (
        (nn.Embedding, "qembedding", EMBEDDING, qembedding_config, qembedding_group_size),
        (nn.Linear, "qlinear", LINEAR, qlinear_config, qlinear_group_size),
    )
    steps = []
    for kind, label, known, name, given in rows:
        if name is None:
            continue
        wanted = bits_of(label, known, name, given)

        def misfit(fqn: str, shape: list[int], name: Any = name, group: int = wanted.group) -> None:
            what = f"weight shape {shape} incompatible with {name} (group_size={group})"
            if not skip_incompatible_shapes:
                raise RuntimeError(
                    f"Layer {fqn} has {what}. Use skip_incompatible_shapes=True to skip instead of failing."
                )
            print(f"  Skipping {fqn}: {what}")

        what = f"{name} {kind.__name__.lower()} quantization (group_size={wanted.group})"
        steps.append((what, fitting_layers(module, kind, wanted, misfit), wanted))
    for what, layers, wanted in steps:
        print(f"  Applying {what}...")
        _quantize(layers, wanted)
    if tie_word_embeddings:
        _tie(module)


def _tie(module: nn.Module) -> None:
    """The output layer reads the embedding's weight."""
    heads = [each for name, each in module.named_modules() if name.endswith("lm_head")]
    tables = [each for name, each in module.named_modules() if name.endswith("embed_tokens")]
    if len(heads) != 1 or len(tables) != 1:
        raise ValueError(
            f"tie_word_embeddings: expected one lm_head and one embed_tokens, found {len(heads)} and {len(tables)}"
        )
    heads[0].weight = tables[0].weight
