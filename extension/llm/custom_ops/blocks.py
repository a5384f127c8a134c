# SPDX-License-Identifier: BSD-3-Clause
"""What the operators on weights of GGUF blocks compute (kernels/optimized/blocks), in operators of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from executorch.extension.llm.formats.blocks import BLOCK_FORMATS, BlockFormat
from executorch.extension.llm.formats.panels import ROWS, UNIT, panel_bytes, unpack_panels

MAX_WEIGHTS = 4  # weights of a call
_LEAST = 1e-30  # a largest magnitude that counts as 0


def _format(name: str, number: int) -> BlockFormat:
    form = BLOCK_FORMATS.get(number)
    if form is None or form.fields is None:
        raise ValueError(
            f"{name}: expected a block format of GGUF such as 2 (Q4_0), found {number}"
        )
    return form


def _check_weight(name: str, weight: Tensor, number: int, size: int, columns: int) -> BlockFormat:
    form = _format(name, number)
    fits = (
        weight.dtype == torch.uint8
        and columns > 0
        and columns % form.numbers == 0
        and tuple(weight.shape) == (-(-size // ROWS), panel_bytes(form, columns))
    )
    if not fits:
        raise ValueError(
            f"{name}: expected a {form.name} weight of {size} rows and {columns} columns (a multiple of "
            f"{form.numbers}) in panels of {ROWS} rows, found {weight.dtype} {list(weight.shape)}"
        )
    return form


def columns_of(weight: Tensor, number: int) -> int:
    form = _format("embedding_of_blocks", number)
    return weight.shape[1] // panel_bytes(form, form.numbers) * form.numbers


def matrix(weight: Tensor, number: int, size: int) -> Tensor:
    form = _format("blocks", number)
    return torch.from_numpy(unpack_panels(form, weight.detach().contiguous().numpy(), size))


def linear_meta(
    x: Tensor,
    weights: Sequence[Tensor],
    formats: Sequence[int],
    sizes: Sequence[int],
    biases: Sequence[Tensor | None],
    activation_bits: int = 8,
) -> list[Tensor]:
    name, counts = "linear_of_blocks", {len(weights), len(formats), len(sizes), len(biases)}
    if len(counts) > 1 or not 0 < len(weights) <= MAX_WEIGHTS:
        raise ValueError(
            f"{name}: expected 1 to {MAX_WEIGHTS} weights with as many formats, sizes and biases, found "
            f"{sorted(counts)}"
        )
    if x.dtype != torch.float32 or activation_bits not in (8, 16):
        raise ValueError(
            f"{name}: expected x float32 and activation_bits of 8 or 16, found {x.dtype} and {activation_bits}"
        )
    for weight, number, size in zip(weights, formats, sizes, strict=True):
        _check_weight(name, weight, number, size, x.shape[-1])
    return [x.new_empty((*x.shape[:-1], size)) for size in sizes]


def rounded(x: Tensor) -> Tensor:
    """Each 32 numbers of a row as the kernel has them: integers up to 127 times largest / 127."""
    units = x.reshape(*x.shape[:-1], -1, UNIT)
    largest = units.abs().amax(-1, keepdim=True)
    largest = torch.where(largest < _LEAST, 0.0, largest)
    most = torch.full_like(largest, 127.0)  # a number divided by a tensor is rounded twice
    codes = torch.round(units * (most / largest)).clamp(-127, 127)
    codes = torch.where(largest == 0, 0.0, codes)
    whole = units.isfinite().all(-1, keepdim=True)
    return torch.where(whole, codes * (largest / most), torch.nan).reshape(x.shape)


def linear(
    x: Tensor,
    weights: Sequence[Tensor],
    formats: Sequence[int],
    sizes: Sequence[int],
    biases: Sequence[Tensor | None],
    activation_bits: int = 8,
) -> list[Tensor]:
    near = rounded(x)
    if activation_bits == 16:
        near = near + rounded(x - near)
    return [
        torch.nn.functional.linear(near, matrix(weight, number, size), bias)
        for weight, number, size, bias in zip(weights, formats, sizes, biases, strict=True)
    ]


def embedding_meta(weight: Tensor, format: int, size: int, indices: Tensor) -> Tensor:
    columns = columns_of(weight, format)
    _check_weight("embedding_of_blocks", weight, format, size, columns)
    return torch.empty((*indices.shape, columns), dtype=torch.float32, device=indices.device)


def embedding(weight: Tensor, format: int, size: int, indices: Tensor) -> Tensor:
    used, place = torch.unique(indices, return_inverse=True)
    if used.numel() and not 0 <= int(used[0]) <= int(used[-1]) < size:
        raise ValueError(
            f"embedding_of_blocks: expected indices in [0, {size}), found {int(used[0])} to {int(used[-1])}"
        )
    panels, where = torch.unique(used.long() // ROWS, return_inverse=True)
    table = matrix(weight[panels], format, len(panels) * ROWS)
    return table[where * ROWS + used.long() % ROWS][place]
