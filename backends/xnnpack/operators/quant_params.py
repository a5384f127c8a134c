# SPDX-License-Identifier: BSD-3-Clause
# compat
"""How one value of a payload is quantized, read off the quantize or dequantize node next to it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.transforms.utils import get_param_tensor, is_param_node
from executorch.backends.xnnpack.utils import quant_utils
from executorch.exir.backend.lowering.quantized import quantization_of


def _data(
    value: Node | float | None, program: ExportedProgram | None
) -> torch.Tensor | float | Node:
    """The number, or the tensor of a node that is data."""
    if isinstance(value, Node) and program is not None and is_param_node(program, value):
        return get_param_tensor(program, value)
    return 0 if value is None else value


@dataclass
class QuantParams:
    """`axis`: of per-channel parameters. `group_size`: columns that share parameters, 0 for none. `q_input`: what the
    quantize node reads."""

    per_channel: bool
    q_input: Node
    scale: torch.Tensor | float
    zp: torch.Tensor | float
    axis: int
    dtype: torch.dtype
    qmax: int
    qmin: int
    is_output: bool
    is_input: bool
    is_dynamic: bool = False
    num_nonbatch_dims: int = 1
    group_size: int = 0

    @property
    def per_channel_group(self) -> bool:
        return self.per_channel and self.group_size > 0

    @property
    def is_qc4w(self) -> bool:
        return self.qmin in (0, -8) and self.qmax in (15, 7) and self.dtype == torch.int8

    def quantize_tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        """round(tensor / scale) + zero point, within the limits; parameters lie along `axis`, or along groups."""
        scale, point = torch.as_tensor(self.scale), torch.as_tensor(self.zp)
        if self.per_channel_group:
            scale = scale.reshape(tensor.shape[0], -1).repeat_interleave(self.group_size, 1)
            point = point.reshape(tensor.shape[0], -1).repeat_interleave(self.group_size, 1)
        elif self.per_channel:
            shape = [-1 if dim == self.axis % tensor.dim() else 1 for dim in range(tensor.dim())]
            scale, point = scale.reshape(shape), point.reshape(shape)
        stored = torch.round(tensor / scale) + point
        return stored.clamp(self.qmin, self.qmax).to(self.dtype)

    @classmethod
    def from_q_dq_node(cls, quant_node: Node, ep: ExportedProgram | None = None) -> QuantParams:
        """ValueError for a node that is neither quantize nor dequantize, and for parameters that XNNPACK refuses."""
        if not (quant_utils.is_quant(quant_node) or quant_utils.is_dequant(quant_node)):
            raise ValueError(f"{quant_node.name} is neither a quantize nor a dequantize node")
        is_output = quant_utils.is_quant(quant_node)
        common = {"q_input": quant_node.args[0], "is_output": is_output, "is_input": not is_output}
        if quant_utils.is_dynamic_qdq(quant_node):
            return cls._dynamic(quant_node, common)
        qparams = quantization_of(quant_node)
        group = qparams.group_size or 0
        if quant_utils.is_affine_qdq(quant_node) and group == qparams.source.meta["val"].shape[-1]:
            group = 0
        by_channel = quant_utils.is_per_channel(quant_node) or quant_utils.is_per_channel_group(
            quant_node
        )
        made = cls(
            per_channel=by_channel, scale=_data(qparams.scale, ep), zp=_data(qparams.zero_point, ep),
            axis=qparams.axis or 0, dtype=qparams.dtype, qmax=qparams.quant_max, qmin=qparams.quant_min,
            group_size=group, **common,
        )  # fmt: skip
        if not isinstance(made.scale, Node):
            quant_utils.validate_quant_scales(made.scale)
            quant_utils.validate_quant_zeropoints(made.zp, qparams.dtype, made.is_qc4w)
        return made

    @classmethod
    def _dynamic(cls, node: Node, common: dict) -> QuantParams:
        per_row = quant_utils.is_per_token(node)
        source = node.args[0].meta["val"]
        dims = 1 if per_row else source.dim()
        qparams = quantization_of(node)
        return cls(
            per_channel=False, scale=0.0, zp=0, axis=0, dtype=qparams.dtype, qmax=qparams.quant_max,
            qmin=qparams.quant_min, is_dynamic=True, num_nonbatch_dims=dims, **common,
        )  # fmt: skip

    @classmethod
    def from_weights(
        cls, tensor_node: Node, ep: ExportedProgram | None = None
    ) -> QuantParams | None:
        """Of a weight: what a dequantize node reads. None for a float one."""
        if not quant_utils.is_dequant(tensor_node):
            return None
        before = tensor_node.args[0]
        return cls.from_q_dq_node(
            before if isinstance(before, Node) and quant_utils.is_quant(before) else tensor_node, ep
        )

    @classmethod
    def from_inputs(cls, tensor_node: Node, ep: ExportedProgram) -> QuantParams | None:
        """Of an operand that a dequantize node gives; None for a float one."""
        if not quant_utils.is_dequant(tensor_node):
            return None
        made = cls.from_q_dq_node(tensor_node, ep)
        source = tensor_node.args[0]
        made.q_input = source.args[0] if quant_utils.is_quant(source) else source
        return made

    @classmethod
    def from_outputs(cls, tensor_node: Node) -> QuantParams | None:
        """Of a result that one quantize node reads, or a relu and then one; None for a float one."""
        readers = list(tensor_node.users)
        if len(readers) == 1 and "relu" in str(readers[0].target):
            readers = list(readers[0].users)
        if len(readers) != 1 or not quant_utils.is_quant(readers[0]):
            return None
        return cls.from_q_dq_node(readers[0])

    @classmethod
    def from_bias(
        cls,
        bias: Node,
        weight_quantizer: QuantParams | None,
        input_quantizer: QuantParams | None,
    ) -> QuantParams | None:
        """Biases of quantized operators are int32 with scale(weight) * scale(input); None where either is float, or
        the input quantized while running."""
        if weight_quantizer is None or input_quantizer is None or input_quantizer.is_dynamic:
            return None
        if weight_quantizer.per_channel and not isinstance(weight_quantizer.scale, torch.Tensor):
            raise ValueError("the scales of a weight by channel must be a tensor of the program")
        scale = weight_quantizer.scale * input_quantizer.scale
        return cls(
            per_channel=weight_quantizer.per_channel, q_input=bias, scale=scale,
            zp=torch.zeros_like(scale) if isinstance(scale, torch.Tensor) else 0,
            axis=0, dtype=torch.int32, qmax=2**31 - 1, qmin=-(2**31),
            is_output=False, is_input=False,
        )  # fmt: skip
