# SPDX-License-Identifier: BSD-3-Clause
"""`NeutronQuantizer`: which values are quantized, as the annotations of the table's rows say: activations int8, weights
int8 around 0, biases int32."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.observer import MinMaxObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantizer import (
    QuantizationAnnotation,
    QuantizationConfig,
    QuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.nxp.aot.ops import TABLES
from executorch.backends.nxp.aten_passes.neutron_aten_pass_manager import (
    NeutronAtenPassManager,
    _get_default_passes,
)
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
from executorch.exir.backend.lowering.quantizer.captured import function_name, is_float
from executorch.exir.backend.lowering.quantizer.configs import AROUND_ZERO, quantization_config
from executorch.exir.backend.lowering.quantizer.table_quantizer import Config, TableQuantizer

_PRODUCTS = frozenset({"bmm", "matmul"})


@functools.cache
def _config(is_qat: bool, is_per_channel: bool) -> QuantizationConfig:
    """In training, observers of weights are the kit's; else they have no least scale but PyTorch's own."""
    made = quantization_config(is_per_channel=is_per_channel, is_qat=is_qat, has_int32_bias=True)
    if is_qat:
        return made
    observer = PerChannelMinMaxObserver if is_per_channel else MinMaxObserver
    return replace(made, weight=replace(made.weight, observer_or_fake_quant_ctr=observer))


@functools.cache
def _product_config(is_qat: bool) -> QuantizationConfig:
    """The NPU multiplies values with zero points of 0 alone."""
    made = quantization_config(is_qat=is_qat)
    around_zero = quantization_config(AROUND_ZERO, is_symmetric=True, is_qat=is_qat)
    return replace(made, input_activation=around_zero.input_activation)


def act_qspec(is_qat: bool) -> QuantizationSpec:
    return _config(is_qat, False).input_activation


def wgt_qspec(is_qat: bool) -> QuantizationSpec:
    """Of convolutions: a scale for each output channel."""
    return _config(is_qat, True).weight


def wgt_fc_qspec(is_qat: bool) -> QuantizationSpec:
    return _config(is_qat, False).weight


bias_qspec = None


class NeutronQuantizer(TableQuantizer):
    """`is_qat`: of a model that is trained with quantized values. A configuration that is set for an operator, module
    or name counts before this one's; None leaves floats."""

    everywhere = True
    table = TABLES["imxrt700"]

    def __init__(
        self, neutron_target_spec: NeutronTargetSpec | None = None, is_qat: bool = False
    ) -> None:
        super().__init__()
        self.neutron_target_spec = neutron_target_spec or NeutronTargetSpec("imxrt700")
        self.table = TABLES[self.neutron_target_spec.get_name()]  # type: ignore[misc]
        self.is_qat = is_qat
        self.set_global(_config(is_qat, False))

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        passes = _get_default_passes(self.neutron_target_spec, self.is_qat)
        NeutronAtenPassManager(self.neutron_target_spec, passes)(model)
        return super().transform_for_annotation(model)

    def annotate(self, model: GraphModule) -> GraphModule:
        """The model's inputs, too."""
        if self.global_config is not None:
            for node in model.graph.find_nodes(op="placeholder"):
                if node.users and is_float(node):
                    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
                        output_qspec=act_qspec(self.is_qat), _annotated=True
                    )
        return super().annotate(model)

    def _config_of(self, node: Node) -> Config:
        found = super()._config_of(node)
        if found is not _config(self.is_qat, False):
            return found
        name = function_name(node)
        if name.startswith("conv"):
            return _config(self.is_qat, True)
        return _product_config(self.is_qat) if name in _PRODUCTS else found

    @classmethod
    def get_supported_quantization_configs(cls) -> list[Any]:
        return [_config(False, False), _config(True, False)]
