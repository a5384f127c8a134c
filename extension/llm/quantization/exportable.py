# SPDX-License-Identifier: BSD-3-Clause
"""Weights of few bits that torch.export takes packed: a linear layer or an embedding of one reads an operator
`torchao::dequantize_*`, which computing constants ahead or a backend takes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torchao.quantization import Int4Tensor, IntxUnpackedToInt8Tensor
from torchao.utils import TorchAOBaseTensor

from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.formats.blocks import BLOCK_FORMATS, BlockFormat

aten = torch.ops.aten
functional = torch.nn.functional


class Exportable(TorchAOBaseTensor):
    """Stands for a matrix of `orig_dtype`, its last attribute, which dequantize() computes."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    orig_dtype: torch.dtype

    @classmethod
    def _of(cls, shape: tuple[int, int], **held: Any) -> Any:
        device, dtype = next(iter(held.values())).device, held["orig_dtype"]
        found = torch.Tensor._make_wrapper_subclass(
            cls, shape, dtype=dtype, device=device, requires_grad=False
        )
        for name, value in held.items():
            setattr(found, name, value)
        return found

    def dequantize(self, output_dtype: torch.dtype | None = None) -> Tensor:
        raise NotImplementedError

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The type that it stands for may change, and that of scales and zero points with it; codes do not."""
        kwargs = self._get_to_kwargs(*args, **kwargs)
        device, dtype = kwargs["device"], kwargs["dtype"]
        assert dtype.is_floating_point, f"expected a floating dtype; got {dtype}"
        parts = (getattr(self, name) for name in self.tensor_data_names)
        parts = (x.to(device, dtype if x.is_floating_point() else x.dtype) for x in parts)
        return type(self)(*parts, *list(_attributes(self).values())[:-1], dtype)


@Exportable.implements(aten.linear.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return functional.linear(args[0], args[1].dequantize(), *args[2:])


@Exportable.implements(aten.t.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return args[0].dequantize().t()  # a linear layer outside of an export


@Exportable.implements(aten.embedding.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return functional.embedding(args[1], args[0].dequantize())


# ---- Codes of 4 bits ----

MIDDLE = 8  # the code that is zero in signed integers of 4 bits


@torch.library.custom_op("torchao::dequantize_int4_tensor", mutates_args=())
def dequantize_int4_tensor(
    qdata: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    group_size: int,
    output_dtype: torch.dtype = torch.bfloat16,
) -> Tensor:
    """(code - zero point) * scale. `qdata`: uint8 [rows, columns / 2], the even column in the low half; scales and zero
    points: [columns / group_size, rows]."""
    rows = qdata.shape[0]
    codes = torch.stack((qdata & 15, qdata >> 4), -1).view(rows, -1, group_size).float()
    scales, zeros = (each.t().float().unsqueeze(-1) for each in (scale, zero_point))
    return ((codes - zeros) * scales).view(rows, -1).to(output_dtype)


@dequantize_int4_tensor.register_fake
def _(
    qdata: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    group_size: int,
    output_dtype: torch.dtype = torch.bfloat16,
) -> Tensor:
    return qdata.new_empty((qdata.shape[0], 2 * qdata.shape[1]), dtype=output_dtype)


def _packed(codes: Tensor) -> Tensor:
    return (codes[:, ::2] | codes[:, 1::2] << 4).to(torch.uint8)


class ExportableInt4Tensor(Exportable):
    """As `dequantize_int4_tensor` reads it."""

    tensor_data_names = ["qdata", "scale", "zero_point"]
    tensor_attribute_names = ["group_size", "orig_dtype"]

    def __new__(
        cls,
        qdata: Tensor,
        scale: Tensor,
        zero_point: Tensor,
        group_size: int,
        orig_dtype: torch.dtype,
    ) -> ExportableInt4Tensor:
        shape = (qdata.shape[0], 2 * qdata.shape[1])
        held = {"qdata": qdata, "scale": scale, "zero_point": zero_point, "group_size": group_size}
        return cls._of(shape, **held, orig_dtype=orig_dtype)

    @classmethod
    def from_int4_tensor(cls, w: Tensor) -> ExportableInt4Tensor:
        """From torchao's Int4Tensor, which adds its zero point to a code less 8 times the scale."""
        scale = w.scale.float()
        zeros = MIDDLE - torch.where(scale != 0, w.zero_point.float() / scale, 0)
        points = zeros.round().to(w.scale.dtype)
        return cls(w.qdata, w.scale, points, w.block_size[-1], w.dtype)

    @classmethod
    def from_intx_unpacked_to_int8_tensor(cls, w: Tensor) -> ExportableInt4Tensor:
        """From codes of -8 to 7, one to a byte, in groups along rows."""
        if not isinstance(w, IntxUnpackedToInt8Tensor) or w.target_dtype != torch.int4:
            found = getattr(w, "target_dtype", w.dtype)
            raise ValueError(f"expected an IntxUnpackedToInt8Tensor of 4 bits, found {found}")
        if w.activation_quantization is not None or w.block_size[0] != 1:
            raise ValueError(
                "expected a weight alone with groups along rows, found activations quantized as "
                f"{w.activation_quantization} and blocks of {list(w.block_size)}"
            )
        packed = _packed((w.qdata + MIDDLE).to(torch.uint8))
        points = (w.zero_point.to(w.scale.dtype) + MIDDLE).t().contiguous()
        return cls(packed, w.scale.t().contiguous(), points, w.block_size[-1], w.dtype)

    def dequantize(self, output_dtype: torch.dtype | None = None) -> Tensor:
        held = (self.qdata, self.scale, self.zero_point, self.group_size)
        return torch.ops.torchao.dequantize_int4_tensor(*held, output_dtype or self.orig_dtype)


# ---- Blocks of K formats as the file has them ----

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


class ExportableGGUFTensor(Exportable):
    """`raw` as `dequantize_gguf` reads it."""

    tensor_data_names = ["raw"]
    tensor_attribute_names = ["ggml_type", "orig_dtype"]

    def __new__(cls, raw: Tensor, ggml_type: str, orig_dtype: torch.dtype) -> ExportableGGUFTensor:
        return cls._of(_shape(raw, ggml_type), raw=raw, ggml_type=ggml_type, orig_dtype=orig_dtype)

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
        scales, zeros = (each.t().contiguous().to(dtype) for each in (scales, zeros))
        return ExportableInt4Tensor(_packed(codes), scales, zeros, Q4_K_GROUP_SIZE, dtype)

    def to_intx_unpacked_to_int8_tensor(
        self, max_group_size: int | None = None, scale_dtype: torch.dtype | None = None
    ) -> Tensor:
        """Codes of a byte each, centred at zero, for a matrix of `scale_dtype` (float16 when None, as GGUF has scales),
        which zero points have, too; those of q6_k are int8, and 0. Groups grow up to `max_group_size` where those that
        become one have equal scales and zero points."""
        codes, scales, zeros = self._parts()
        bits, has_points = _format(self.ggml_type).code_bits, self.ggml_type != "q6_k"
        if has_points:
            codes, zeros = codes - (1 << bits - 1), zeros - (1 << bits - 1)
        group = codes.shape[1] // scales.shape[1]
        while max_group_size is not None and 2 * group <= max_group_size and _alike(scales, zeros):
            scales, zeros, group = scales[:, ::2], zeros[:, ::2], 2 * group
        dtype = scale_dtype or torch.float16
        zeros = zeros.to(dtype if has_points else torch.int8)
        return IntxUnpackedToInt8Tensor(
            codes.to(torch.int8),
            scales.to(dtype).contiguous(),
            zeros.contiguous(),
            getattr(torch, f"int{bits}") if has_points else torch.int8,
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


# ---- From tensors that quantizing gives to those that torch.export takes, name by name ----

Convert = Callable[[str, Tensor], Tensor]


def identity(fqn: str, w: Tensor) -> Tensor:
    return w


def to_exportable(fqn: str, w: Tensor) -> Tensor:
    """Int4Tensor, which computes with kernels of GPUs only, becomes ExportableInt4Tensor."""
    return ExportableInt4Tensor.from_int4_tensor(w) if isinstance(w, Int4Tensor) else w


def to_default(fqn: str, w: Tensor) -> Tensor:
    """What is loaded where nothing else is asked for: `to_exportable`, and codes of 4 bits that have a byte each become
    half as large. One whose activations are quantized, too, is exported as it is."""
    if isinstance(w, IntxUnpackedToInt8Tensor) and _fits_int4(w):
        return ExportableInt4Tensor.from_intx_unpacked_to_int8_tensor(w)
    return to_exportable(fqn, w)


def _fits_int4(w: IntxUnpackedToInt8Tensor) -> bool:
    return (
        w.target_dtype == torch.int4
        and w.activation_quantization is None
        and len(w.block_size) == 2
        and w.block_size[0] == 1
    )


# Class -> along which dimension its tensors hold outputs.
_OUTPUT_DIMS: dict[type[Tensor], dict[str, int]] = {
    ExportableInt4Tensor: {"qdata": 0, "scale": 1, "zero_point": 1},
    ExportableGGUFTensor: {"raw": 0},
    IntxUnpackedToInt8Tensor: {"qdata": 0, "scale": 0, "zero_point": 0},
}


def fuse_along_output(tensors: Sequence[Tensor]) -> Tensor:
    """Weights of layers that read the same input as one weight, rows after rows; one alone is given back.

    Raises ValueError for none, and for weights quantized in different ways; TypeError for tensors that cannot be
    joined, or are not of one class.
    """
    if not tensors:
        raise ValueError("fuse_along_output: expected at least one tensor, found none")
    first = tensors[0]
    if len(tensors) == 1:
        return first
    if not any(map(_is_quantized, tensors)):
        return torch.cat(list(tensors))
    if any(type(each) is not type(first) for each in tensors):
        found = sorted({type(each).__name__ for each in tensors})
        raise TypeError(f"fuse_along_output: expected tensors of one class, found {found}")
    if type(first) not in _OUTPUT_DIMS:
        raise TypeError(f"fuse_along_output cannot fuse tensors of type {type(first).__name__}")
    attributes = _attributes(first)
    for each in tensors[1:]:
        for name, value in _attributes(each).items():
            if value != attributes[name]:
                raise ValueError(
                    f"fuse_along_output: expected weights quantized alike, found {name} {attributes[name]} and {value}"
                )
    parts = (
        torch.cat([getattr(each, name) for each in tensors], dim)
        for name, dim in _OUTPUT_DIMS[type(first)].items()
    )
    return type(first)(*parts, **attributes)


def _attributes(weight: Tensor) -> dict[str, object]:
    return {name: getattr(weight, name) for name in weight.tensor_attribute_names}


def _is_quantized(value: Tensor) -> bool:
    return is_traceable_wrapper_subclass(value)


def maybe_cast(value: Tensor, dtype: torch.dtype | None) -> Tensor:
    """Floats in `dtype`, where one is given; integers and quantized tensors as they are."""
    if dtype is None or _is_quantized(value) or not value.is_floating_point():
        return value
    return value.to(dtype)
