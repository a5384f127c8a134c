# SPDX-License-Identifier: BSD-3-Clause
"""Observers of weights: convert_pt2e has each replace its weight by what NNCF packs, and a module that unpacks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import ObserverBase
from torchao.quantization.pt2e.quantizer import QuantizationSpec

from executorch.exir.graph_facts import attribute_of

# (bits, asymmetric) -> the range of numbers
_RANGES = {(8, False): (-128, 127), (8, True): (0, 255), (4, False): (-8, 7), (4, True): (0, 15)}


def weight_spec(parameters: Any) -> QuantizationSpec:
    """For a weight with NNCF's parameters."""
    configuration = parameters.compression_config
    bits, asymmetric = configuration.num_bits, configuration.is_asym_mode
    low, high = _RANGES[bits, asymmetric]
    observer = INT4WeightObserver if bits == 4 else INT8WeightObserver
    return QuantizationSpec(
        dtype=torch.int8,
        observer_or_fake_quant_ctr=observer.with_args(wc_param=parameters),
        quant_min=low,
        quant_max=high,
        qscheme=torch.per_channel_affine if asymmetric else torch.per_channel_symmetric,
        ch_axis=0,
    )


class WeightObserverBase(ObserverBase, ABC):
    """Looks at nothing while a model is calibrated: `wc_param` are NNCF's parameters of the weight."""

    def __init__(self, wc_param: Any, dtype: torch.dtype = torch.int8, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self._wc_param = wc_param

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ones(1), torch.zeros(1, dtype=torch.int64)

    def convert(self, model: GraphModule, observer_node: Node) -> None:
        from nncf.quantization.algorithms.weight_compression.weight_lowering import compress_weight
        from nncf.tensor import Tensor

        source = observer_node.args[0]
        weight = attribute_of(model, source.target).detach()
        configuration = self._wc_param.compression_config
        made = compress_weight(Tensor(weight), self._wc_param.reduction_axes, configuration)
        unpack = self._decompressor(made, weight)
        name = source.name
        module = f"{unpack.quantization_mode}_weights_decompressor_{name}"
        model.register_buffer(f"{name}_packed", unpack.pack_weight(made.tensor.data))
        model.add_submodule(module, unpack)
        with model.graph.inserting_before(observer_node):
            packed = model.graph.get_attr(f"{name}_packed")
            result = model.graph.call_module(module, (packed,))
            result.meta.update(observer_node.meta)
        observer_node.replace_all_uses_with(result)
        model.graph.erase_node(observer_node)

    @abstractmethod
    def _decompressor(self, made: Any, weight: torch.Tensor) -> torch.nn.Module:
        """The module that gives the weight back."""


class INT8WeightObserver(WeightObserverBase):
    def _decompressor(self, made: Any, weight: torch.Tensor) -> torch.nn.Module:
        from nncf.torch.quantization import layers

        scale = made.scale.data
        if made.zero_point is None:
            return layers.INT8SymmetricWeightsDecompressor(scale, result_dtype=weight.dtype)
        return layers.INT8AsymmetricWeightsDecompressor(
            scale, made.zero_point.data, result_dtype=weight.dtype
        )


class INT4WeightObserver(WeightObserverBase):
    def _decompressor(self, made: Any, weight: torch.Tensor) -> torch.nn.Module:
        from nncf.torch.quantization import layers

        shapes = {
            "compressed_weight_shape": made.tensor.shape,
            "result_shape": tuple(weight.shape),
            "result_dtype": weight.dtype,
        }
        scale = made.scale.data
        if made.zero_point is None:
            return layers.INT4SymmetricWeightsDecompressor(scale=scale, **shapes)
        return layers.INT4AsymmetricWeightsDecompressor(
            scale=scale, zero_point=made.zero_point.data, **shapes
        )
