# SPDX-License-Identifier: BSD-3-Clause
"""GGUF weights of K formats with the file's own bits: a linear layer or an embedding of one reads
`torchao::dequantize_gguf`, which computing constants ahead or a backend takes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchao.quantization import IntxUnpackedToInt8Tensor
from torchao.utils import TorchAOBaseTensor

from executorch.extension.llm.checkpoint.blocks import BLOCK_FORMATS, BlockFormat
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.export.int4 import ExportableInt4Tensor, floating

aten = torch.ops.aten
QK_K = 256  # numbers of a block
Q4_K_GROUP_SIZE = QK_K // 8
Q5_K_GROUP_SIZE = QK_K // 8
Q6_K_GROUP_SIZE = QK_K // 16

_HALVES = {"f16": torch.float16, "bf16": torch.bfloat16}
_FORMATS = {
    form.name.lower(): form
    for form in BLOCK_FORMATS.values()
    if form.name in ("Q4_K", "Q5_K", "Q6_K")
}


def _format(ggml_type: str) -> BlockFormat:
    if ggml_type not in _FORMATS:
        raise NotImplementedError(
            f"ExportableGGUFTensor: unsupported quant type {ggml_type!r}; supported: {list(_FORMATS)}"
        )
    return _FORMATS[ggml_type]


def _shape(raw: Tensor, ggml_type: str) -> tuple[int, int]:
    form = _format(ggml_type)
    return raw.shape[0], raw.shape[1] // form.bytes * form.numbers


def _blocks(raw: Tensor, ggml_type: str) -> np.ndarray:
    return raw.detach().contiguous().numpy().reshape(-1, _format(ggml_type).bytes)


@torch.library.custom_op("torchao::dequantize_gguf", mutates_args=())
def dequantize_gguf(
    weight: Tensor, ggml_type: str, output_dtype: torch.dtype = torch.bfloat16
) -> Tensor:
    """The matrix of blocks, uint8 [rows, bytes of a row]."""
    numbers = _format(ggml_type).dequantize(_blocks(weight, ggml_type))
    matrix = torch.from_numpy(np.ascontiguousarray(numbers, np.float32))
    return matrix.view(_shape(weight, ggml_type)).to(output_dtype)


@dequantize_gguf.register_fake
def _(weight: Tensor, ggml_type: str, output_dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return weight.new_empty(_shape(weight, ggml_type), dtype=output_dtype)


class ExportableGGUFTensor(TorchAOBaseTensor):
    """`raw` as `dequantize_gguf` reads it, standing for a matrix of `orig_dtype`."""

    tensor_data_names = ["raw"]
    tensor_attribute_names = ["ggml_type", "orig_dtype"]
    __torch_function__ = torch._C._disabled_torch_function_impl

    def __new__(cls, raw: Tensor, ggml_type: str, orig_dtype: torch.dtype) -> ExportableGGUFTensor:
        return torch.Tensor._make_wrapper_subclass(
            cls,
            _shape(raw, ggml_type),
            dtype=orig_dtype,
            device=raw.device,
            requires_grad=False,
        )

    def __init__(self, raw: Tensor, ggml_type: str, orig_dtype: torch.dtype) -> None:
        super().__init__()
        self.raw, self.ggml_type, self.orig_dtype = raw, ggml_type, orig_dtype

    @classmethod
    def from_raw(
        cls, raw: Tensor, ggml_type: str, orig_dtype: torch.dtype = torch.bfloat16
    ) -> ExportableGGUFTensor:
        """`raw`: uint8 [rows, bytes of a row]; `ggml_type`: "q4_k", "q5_k" or "q6_k"."""
        size = _format(ggml_type).bytes
        if raw.dim() != 2 or raw.dtype != torch.uint8:
            raise ValueError(
                f"ExportableGGUFTensor: expected bytes [rows, bytes of a row], found {raw.dtype} {list(raw.shape)}"
            )
        if raw.shape[1] % size:
            raise ValueError(
                f"ExportableGGUFTensor: row bytes {raw.shape[1]} not a multiple of block bytes {size} for quant type "
                f"{ggml_type!r}"
            )
        return cls(raw, ggml_type, orig_dtype)

    def to(self, *args: Any, **kwargs: Any) -> ExportableGGUFTensor:
        """The type that it stands for may change; the bits do not."""
        kwargs = self._get_to_kwargs(*args, **kwargs)
        raw = self.raw.to(kwargs["device"])
        return type(self)(raw, self.ggml_type, floating(kwargs["dtype"]))

    def dequantize(self, output_dtype: torch.dtype | None = None) -> Tensor:
        dtype = output_dtype or self.orig_dtype
        return torch.ops.torchao.dequantize_gguf(self.raw, self.ggml_type, dtype)

    def to_exportable_int4_tensor(self, output_dtype: torch.dtype | None = None) -> Tensor:
        """The same codes; scales and zero points in `output_dtype`."""
        if self.ggml_type != "q4_k":
            raise NotImplementedError(
                f"to_exportable_int4_tensor only supports q4_k; got {self.ggml_type!r}"
            )
        codes, scales, zeros = self._parts()
        dtype = output_dtype or self.orig_dtype
        packed = (codes[:, ::2] | codes[:, 1::2] << 4).to(torch.uint8)
        scales, zeros = (each.t().contiguous().to(dtype) for each in (scales, zeros))
        return ExportableInt4Tensor(packed, scales, zeros, Q4_K_GROUP_SIZE, dtype)

    def to_intx_unpacked_to_int8_tensor(
        self, max_group_size: int | None = None, scale_dtype: torch.dtype | None = None
    ) -> Tensor:
        """Codes of a byte each, centred at zero, for a matrix of `scale_dtype` (float16 when None, as GGUF has scales),
        which zero points have, too; those of q6_k are int8, and 0. Groups grow up to `max_group_size` where those that
        become one have equal scales and zero points."""
        codes, scales, zeros = self._parts()
        bits = _format(self.ggml_type).code_bits
        if self.ggml_type != "q6_k":
            codes, zeros = codes - (1 << bits - 1), zeros - (1 << bits - 1)
        group = codes.shape[1] // scales.shape[1]
        while max_group_size is not None and 2 * group <= max_group_size and _alike(scales, zeros):
            scales, zeros, group = scales[:, ::2], zeros[:, ::2], 2 * group
        dtype = scale_dtype or torch.float16
        zeros = zeros.to(torch.int8 if self.ggml_type == "q6_k" else dtype)
        return IntxUnpackedToInt8Tensor(
            codes.to(torch.int8),
            scales.to(dtype).contiguous(),
            zeros.contiguous(),
            torch.int8 if self.ggml_type == "q6_k" else getattr(torch, f"int{bits}"),
            (1, group),
            dtype,
            None,
        )

    def _parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """Codes [rows, columns] as they are stored (of 6 bits from -32), scales and zero points [rows, groups]."""
        parts = _format(self.ggml_type).parts(_blocks(self.raw, self.ggml_type))
        rows = self.raw.shape[0]
        scales, codes = (torch.from_numpy(np.ascontiguousarray(part)) for part in parts[:2])
        scales = scales.view(rows, -1)
        if parts[2] is None:
            zeros = torch.zeros_like(scales)
        else:
            minima = torch.from_numpy(np.ascontiguousarray(parts[2])).view(rows, -1)
            constant = scales == 0  # a group of one number: minus its minimum
            codes = codes.view(*scales.shape, -1).masked_fill(constant.unsqueeze(-1), 0)
            scales = torch.where(constant, minima, scales)
            zeros = torch.where(constant, 1, minima / scales).nan_to_num(0)
        return codes.reshape(rows, -1).to(torch.int16), scales, zeros


def _alike(scales: Tensor, zeros: Tensor) -> bool:
    """Whether groups are equal two by two."""
    return scales.shape[1] % 2 == 0 and all(
        torch.equal(each[:, ::2], each[:, 1::2]) for each in (scales, zeros)
    )


@ExportableGGUFTensor.implements(aten.linear.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return torch.nn.functional.linear(args[0], args[1].dequantize(), *args[2:])


@ExportableGGUFTensor.implements(aten.t.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return args[0].dequantize().t()  # a linear layer outside of an export


@ExportableGGUFTensor.implements(aten.embedding.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return torch.nn.functional.embedding(args[1], args[0].dequantize())


def iter_gguf(path: str) -> Iterator[tuple[str, ExportableGGUFTensor | Tensor]]:
    """Weights of K formats with their bits, float16 and bfloat16 as they are stored, all others in float32."""
    file = GGUFFile(path)
    for name, tensor in file.tensors.items():
        kind = tensor.format.name.lower()
        if kind not in _FORMATS:
            yield name, file.read(name).to(_HALVES.get(kind, torch.float32))
            continue
        raw = torch.from_numpy(file.raw(name).reshape(tensor.shape[0], -1).copy())
        yield name, ExportableGGUFTensor.from_raw(raw, kind)
