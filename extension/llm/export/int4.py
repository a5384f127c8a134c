# SPDX-License-Identifier: BSD-3-Clause
"""4-bit weights that torch.export takes: a linear layer or an embedding of one reads
`torchao::dequantize_int4_tensor`, which computing constants ahead or a backend takes out."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torchao.quantization import IntxUnpackedToInt8Tensor
from torchao.utils import TorchAOBaseTensor

aten = torch.ops.aten
_MIDDLE = 8  # the code that is zero in signed integers of 4 bits


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


def floating(dtype: torch.dtype) -> torch.dtype:
    assert dtype.is_floating_point, f"expected a floating dtype; got {dtype}"
    return dtype


class ExportableInt4Tensor(TorchAOBaseTensor):
    """As `dequantize_int4_tensor` reads it, standing for a matrix of `orig_dtype`."""

    tensor_data_names = ["qdata", "scale", "zero_point"]
    tensor_attribute_names = ["group_size", "orig_dtype"]
    __torch_function__ = torch._C._disabled_torch_function_impl

    def __new__(
        cls,
        qdata: Tensor,
        scale: Tensor,
        zero_point: Tensor,
        group_size: int,
        orig_dtype: torch.dtype,
    ) -> ExportableInt4Tensor:
        shape = (qdata.shape[0], 2 * qdata.shape[1])
        return torch.Tensor._make_wrapper_subclass(
            cls, shape, dtype=orig_dtype, device=qdata.device, requires_grad=False
        )

    def __init__(
        self,
        qdata: Tensor,
        scale: Tensor,
        zero_point: Tensor,
        group_size: int,
        orig_dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.qdata, self.scale, self.zero_point = qdata, scale, zero_point
        self.group_size, self.orig_dtype = group_size, orig_dtype

    @classmethod
    def from_int4_tensor(cls, w: Tensor) -> ExportableInt4Tensor:
        """From torchao's Int4Tensor, which adds its zero point to a code less 8 times the scale."""
        scale = w.scale.float()
        zeros = _MIDDLE - torch.where(scale != 0, w.zero_point.float() / scale, 0)
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
        codes = (w.qdata + _MIDDLE).to(torch.uint8)
        packed = codes[:, ::2] | codes[:, 1::2] << 4
        points = (w.zero_point.to(w.scale.dtype) + _MIDDLE).t().contiguous()
        return cls(packed, w.scale.t().contiguous(), points, w.block_size[-1], w.dtype)

    def dequantize(self, output_dtype: torch.dtype | None = None) -> Tensor:
        return torch.ops.torchao.dequantize_int4_tensor(
            self.qdata,
            self.scale,
            self.zero_point,
            self.group_size,
            output_dtype or self.orig_dtype,
        )

    def to(self, *args: Any, **kwargs: Any) -> ExportableInt4Tensor:
        """The type that it stands for may change, and that of scales and zero points with it; the codes do not."""
        kwargs = self._get_to_kwargs(*args, **kwargs)
        device, dtype = kwargs["device"], floating(kwargs["dtype"])
        parts = (each.to(device, dtype) for each in (self.scale, self.zero_point))
        return type(self)(self.qdata.to(device), *parts, self.group_size, dtype)


@ExportableInt4Tensor.implements(aten.linear.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    weight = args[1].dequantize()
    return torch.nn.functional.linear(args[0], weight, *args[2:])


@ExportableInt4Tensor.implements(aten.t.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return args[0].dequantize().t()  # a linear layer outside of an export


@ExportableInt4Tensor.implements(aten.embedding.default)
def _(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return torch.nn.functional.embedding(args[1], args[0].dequantize())
