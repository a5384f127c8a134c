# SPDX-License-Identifier: BSD-3-Clause
"""Importing this registers torchao's operators on weights of 1 to 8 bits with PyTorch: packing, linear with activations
of 8 bits, embeddings. torchao's own library of them exists for Arm only; what is there already stays."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from executorch.kernels.torchao import bit_blocks

_library = torch.library.Library("torchao", "FRAGMENT")
_MAGIC, _LINEAR, _EMBEDDING = 6712, 1, 2
_HEADER_BYTES = 64
_ROWS, _COLUMNS = 8, 16  # of a chunk of a linear's weight


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _header(kind: int, *parameters: int) -> Tensor:
    numbers = [_MAGIC, kind, *parameters, *[0] * (14 - len(parameters))]
    return torch.tensor(list(struct.pack("<16i", *numbers)), dtype=torch.uint8)


def _unsigned(values: Tensor, bits: int) -> Tensor:
    """As they are packed: moved to begin at 0, but 8 bits as they are."""
    shifted = values.to(torch.int16) + (0 if bits == 8 else 1 << bits - 1)
    return shifted.to(torch.uint8) if bits < 8 else values.view(torch.uint8)


def _signed(codes: Tensor, bits: int) -> Tensor:
    if bits == 8:
        return codes.view(torch.int8)
    return (codes.to(torch.int16) - (1 << bits - 1)).to(torch.int8)


def _check_values(name: str, values: Tensor, bits: int) -> None:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    _expect(
        values.dim() == 2 and values.dtype == torch.int8,
        f"{name}: expected int8 values of 2 dims, found {values.dtype} of {values.dim()}",
    )
    _expect(
        values.numel() == 0 or bool(low <= values.min() and values.max() <= high),
        f"{name}: expected values in [{low}, {high}]",
    )


def pack_linear(
    bits: int,
    values: Tensor,
    scales: Tensor,
    zeros: Tensor | None,
    group_size: int,
    bias: Tensor | None,
    target: str | None,
) -> Tensor:
    """Values [n, k] with a scale (and zero point) per group of columns, as the bytes that the linear operator reads."""
    name = f"_pack_8bit_act_{bits}bit_weight"
    _check_values(name, values, bits)
    n, k = values.shape
    _expect(
        target in (None, "universal"),
        f"{name}: expected target None or 'universal', found {target!r}",
    )
    _expect(
        group_size > 0 and group_size % _COLUMNS == 0 and k % group_size == 0,
        f"{name}: expected a group size that is a multiple of {_COLUMNS} and divides {k}, found {group_size}",
    )
    groups = k // group_size
    for label, tensor, count in (
        ("weight_scales", scales, n * groups), ("weight_zeros", zeros, n * groups), ("bias", bias, n),
    ):  # fmt: skip
        _expect(
            tensor is None or tensor.numel() == count,
            f"{name}: expected {count} entries of {label}, found {0 if tensor is None else tensor.numel()}",
        )
    blocks = -(-n // _ROWS)

    def by_block(tensor: Tensor, columns: int) -> Tensor:
        padded = tensor.new_zeros(blocks * _ROWS, columns)
        padded[:n] = tensor.reshape(n, columns)
        return padded.reshape(blocks, _ROWS, columns).transpose(1, 2).contiguous()

    codes = torch.zeros(blocks * _ROWS, k, dtype=torch.int8)
    codes[:n] = values
    sums = codes.reshape(blocks * _ROWS, groups, group_size).sum(-1, dtype=torch.int32)
    codes = codes.reshape(blocks, _ROWS, groups, group_size // _COLUMNS, 2, _COLUMNS // 2)
    codes = codes.permute(0, 2, 3, 4, 1, 5).reshape(blocks, groups, -1, _ROWS * _COLUMNS)
    packed = bit_blocks.pack(_unsigned(codes, bits), bits).reshape(blocks, groups, -1)
    sums = sums.reshape(blocks, _ROWS, groups).transpose(1, 2).contiguous()
    parts = [packed, by_block(scales.float(), groups).view(torch.uint8), sums.view(torch.uint8)]
    if zeros is not None:
        parts.append(by_block(zeros.to(torch.int32), groups).view(torch.uint8))
    body = torch.cat(parts, 2).reshape(blocks, -1)
    if bias is not None:
        body = torch.cat([body, by_block(bias.float(), 1).reshape(blocks, _ROWS).view(torch.uint8)], 1)  # fmt: skip
    header = _header(_LINEAR, bits, zeros is not None, bias is not None, _ROWS, _COLUMNS, 2)
    return torch.cat([header, body.flatten()]).view(torch.int8)


class Linear:
    """What the bytes of pack_linear hold: values [n, k] int8, scales, zeros and sums [n, groups], bias [n] or None."""

    def __init__(
        self, name: str, bits: int, packed: Tensor, group_size: int, n: int, k: int
    ) -> None:
        data = packed.detach().contiguous().view(torch.uint8)
        _expect(
            data.numel() >= _HEADER_BYTES, f"{name}: expected packed weights, found too few bytes"
        )
        header = struct.unpack("<16i", bytes(data[:_HEADER_BYTES].tolist()))
        _expect(
            header[:3] == (_MAGIC, _LINEAR, bits) and header[5:8] == (_ROWS, _COLUMNS, 2),
            f"{name}: expected packed weights of {bits} bits, found header {header[:8]}",
        )
        _expect(
            n > 0
            and k > 0
            and group_size > 0
            and k % group_size == 0
            and group_size % _COLUMNS == 0,
            f"{name}: expected positive sizes and a group size that divides k, found n {n}, k {k}, group {group_size}",
        )
        has_zeros, has_bias = bool(header[3]), bool(header[4])
        groups, blocks = k // group_size, -(-n // _ROWS)
        code_bytes = group_size * bits  # of 8 rows
        group_bytes = code_bytes + 4 * _ROWS * (2 + has_zeros)
        block_bytes = groups * group_bytes + 4 * _ROWS * has_bias
        body = data[_HEADER_BYTES:]
        _expect(
            body.numel() == blocks * block_bytes,
            f"{name}: expected {blocks * block_bytes} bytes after the header, found {body.numel()}",
        )
        body = body.reshape(blocks, block_bytes)
        by_group = body[:, : groups * group_bytes].reshape(blocks, groups, group_bytes)
        chunks = by_group[..., :code_bytes].reshape(blocks, groups, -1, _COLUMNS * bits)
        codes = _signed(bit_blocks.unpack(chunks, bits), bits)
        codes = codes.reshape(blocks, groups, -1, 2, _ROWS, _COLUMNS // 2)
        codes = codes.permute(0, 4, 1, 2, 3, 5).reshape(blocks * _ROWS, k)
        self.values = codes[:n]

        def numbers(place: int, dtype: torch.dtype) -> Tensor:
            start = code_bytes + 4 * _ROWS * place
            part = by_group[..., start : start + 4 * _ROWS].contiguous().view(dtype)
            return part.transpose(1, 2).reshape(blocks * _ROWS, groups)[:n]

        self.scales = numbers(0, torch.float32)
        self.zeros = numbers(2, torch.int32) if has_zeros else torch.zeros(n, groups, dtype=torch.int32)  # fmt: skip
        self.bias = None
        if has_bias:
            self.bias = body[:, -4 * _ROWS :].contiguous().view(torch.float32).flatten()[:n]

    def weight(self, rows: Tensor | None = None) -> Tensor:
        """Dequantized rows."""
        pick = slice(None) if rows is None else rows
        scales, zeros = self.scales[pick], self.zeros[pick]
        groups = scales.size(1)
        values = self.values[pick].float().reshape(len(scales), groups, -1)
        return ((values - zeros[..., None]) * scales[..., None]).flatten(1)


def linear(
    bits: int, activations: Tensor, packed: Tensor, group_size: int, n: int, k: int
) -> Tensor:
    """Rows of activations [m, k] are quantized to 8 bits each, asymmetrically; sums over groups are exact."""
    name = f"_linear_8bit_act_{bits}bit_weight"
    _expect(
        activations.dim() == 2 and activations.size(1) == k and activations.dtype == torch.float32,
        f"{name}: expected activations float32 [m, {k}], found {activations.dtype} {tuple(activations.shape)}",
    )
    weight = Linear(name, bits, packed, group_size, n, k)
    codes, scale, zero = quantize_rows(activations)
    groups = k // group_size
    left = (codes - zero).double().reshape(-1, groups, group_size)
    right = weight.values.double().reshape(n, groups, group_size) - weight.zeros[..., None]
    sums = torch.einsum("mgk,ngk->mng", left, right)
    out = (sums * weight.scales.double()).sum(-1) * scale.double()
    if weight.bias is not None:
        out = out + weight.bias.double()
    return out.float()


def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Codes in [-128, 127], scale and zero point [m, 1] of each row: x is about (code - zero) * scale."""
    low, high = torch.aminmax(x, dim=1, keepdim=True)
    low, high = low.clamp(max=0.0), high.clamp(min=0.0)
    scale = (high - low) / 255.0
    scale = torch.where(scale == 0.0, torch.ones_like(scale), scale)
    zero = -128 + torch.floor(0.5 - low / scale)  # halves away from 0
    codes = (torch.round(x / scale) + zero).clamp(-128, 127)
    return codes, scale, zero


def pack_embedding(bits: int, values: Tensor) -> Tensor:
    name = f"_pack_embedding_{bits}bit"
    _check_values(name, values, bits)
    count, columns = values.shape
    _expect(columns % 32 == 0, f"{name}: expected a multiple of 32 columns, found {columns}")
    codes, parts, at = _unsigned(values.contiguous(), bits), [], 0
    for size in bit_blocks.split_row(columns):
        parts.append(bit_blocks.pack(codes[:, at : at + size], bits))
        at += size
    body = torch.cat(parts, 1) if parts else codes.new_zeros(count, 0)
    return torch.cat([_header(_EMBEDDING, 1, bits, 32, 128), body.flatten()]).view(torch.int8)


def embedding(
    bits: int,
    packed: Tensor,
    num_embeddings: int,
    embedding_dim: int,
    scales: Tensor,
    zeros: Tensor,
    indices: Tensor,
) -> Tensor:
    """(value - zero) * scale of the rows `indices`; scales and zeros [num_embeddings, groups]."""
    name = f"_embedding_{bits}bit"
    row_bytes = embedding_dim * bits // 8
    data = packed.detach().contiguous().view(torch.uint8)
    _expect(
        data.numel() == _HEADER_BYTES + num_embeddings * row_bytes and embedding_dim % 32 == 0,
        f"{name}: expected a header and {num_embeddings} rows of {row_bytes} bytes, found {data.numel()} bytes",
    )
    header = struct.unpack("<16i", bytes(data[:_HEADER_BYTES].tolist()))
    _expect(
        header[:6] == (_MAGIC, _EMBEDDING, 1, bits, 32, 128),
        f"{name}: expected an embedding of {bits} bits, found header {header[:6]}",
    )
    _expect(
        scales.shape == zeros.shape
        and scales.size(0) == num_embeddings
        and embedding_dim % scales.size(1) == 0,
        f"{name}: expected scales and zeros [{num_embeddings}, groups], found {tuple(scales.shape)} and "
        f"{tuple(zeros.shape)}",
    )
    rows, parts, at = data[_HEADER_BYTES:].reshape(num_embeddings, row_bytes)[indices.long()], [], 0
    for size in bit_blocks.split_row(embedding_dim):
        parts.append(_signed(bit_blocks.unpack(rows[:, at : at + size * bits // 8], bits), bits))
        at += size * bits // 8
    values = torch.cat(parts, 1).float().reshape(len(rows), scales.size(1), -1)
    values = (values - zeros[indices.long()].float()[..., None]) * scales[indices.long()][..., None]
    return values.flatten(1)


def shared_embedding(
    bits: int, packed: Tensor, group_size: int, n: int, k: int, indices: Tensor
) -> Tensor:
    """Rows of a linear's weight."""
    weight = Linear(f"_shared_embedding_{bits}bit", bits, packed, group_size, n, k)
    return weight.weight(indices.long())


def _of_packing(bits: int, values: Tensor, *rest: Any) -> Tensor:
    scales, zeros, group_size, bias = rest[:4]
    n, k = values.shape
    blocks, groups = -(-n // _ROWS), k // group_size
    per_block = groups * (group_size * bits + 4 * _ROWS * (2 + (zeros is not None)))
    per_block += 4 * _ROWS * (bias is not None)
    return values.new_empty(_HEADER_BYTES + blocks * per_block)


# name, with N for the bits: (schema without outputs, implementation, rule for the result)
_OPERATORS: dict[str, tuple[str, Callable[..., Tensor], Callable[..., Tensor]]] = {
    "_pack_8bit_act_Nbit_weight": (
        "(Tensor weight_qvals, Tensor weight_scales, Tensor? weight_zeros, int group_size, Tensor? bias, str? target)",
        pack_linear,
        _of_packing,
    ),
    "_pack_embedding_Nbit": (
        "(Tensor weight_qvals)",
        pack_embedding,
        lambda bits, v: v.new_empty(_HEADER_BYTES + v.size(0) * v.size(1) * bits // 8),
    ),
    "_linear_8bit_act_Nbit_weight": (
        "(Tensor activations, Tensor packed_weights, int group_size, int n, int k)",
        linear,
        lambda bits, x, packed, group_size, n, k: x.new_empty(x.size(0), n),
    ),
    "_embedding_Nbit": (
        "(Tensor packed_weight_qvals, int num_embeddings, int embedding_dim, Tensor weight_scales, "
        "Tensor weight_zeros, Tensor indices)",
        embedding,
        lambda bits, packed, num, dim, scales, zeros, at: scales.new_empty(at.size(0), dim),
    ),
    "_shared_embedding_Nbit": (
        "(Tensor packed_weights, int group_size, int n, int k, Tensor indices)",
        shared_embedding,
        lambda bits, packed, group_size, n, k, at: torch.empty(
            at.size(0), k, dtype=torch.float32, device=at.device
        ),
    ),
}


def _bind(bits: int, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda *args, **kwargs: function(bits, *args, **kwargs)


def _bind_out(bits: int, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def write(*args: Any, out: Tensor, **kwargs: Any) -> Tensor:
        result = function(bits, *args, **kwargs)
        return out.resize_(result.shape).copy_(result)

    return write


def _define(name: str, schema: str, compute: Any, rule: Any) -> None:
    qualified = f"torchao::{name}"
    overload = qualified.partition(".")[2]
    known = torch._C._jit_get_schemas_for_operator(qualified.partition(".")[0])
    if overload in {each.overload_name for each in known}:
        return
    _library.define(name + schema)
    _library.impl(name, compute, "CompositeExplicitAutograd")
    torch.library.register_fake(qualified, rule, lib=_library)


def _register() -> None:
    table = yaml.safe_load(Path(__file__).with_name("torchao.yaml").read_text())
    served = {re.sub(r"[(].*", "", row["func"]).removeprefix("torchao::") for row in table}
    for pattern, (arguments, compute, rule) in _OPERATORS.items():
        for bits in range(1, 9):
            name = pattern.replace("Nbit", f"{bits}bit")
            _define(name, f"{arguments} -> Tensor", _bind(bits, compute), _bind(bits, rule))
            if f"{name}.out" in served:
                schema = f"{arguments[:-1]}, *, Tensor(a!) out) -> Tensor(a!)"
                _define(f"{name}.out", schema, _bind_out(bits, compute), _bind_out(bits, rule))


_register()
