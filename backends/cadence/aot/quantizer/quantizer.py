# SPDX-License-Identifier: BSD-3-Clause
"""The quantizers: which patterns each takes and how, as tables over the one table of ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.backends.cadence.aot.quantizer import patterns as p
from executorch.backends.cadence.aot.table import TABLE
from executorch.backends.transforms.decompose_sdpa import DecomposeScaledDotProductAttention
from executorch.exir.backend.lowering.quantizer.annotate import CLAMPS
from executorch.exir.backend.lowering.quantizer.captured import function_name
from executorch.exir.backend.lowering.quantizer.configs import (
    INT8,
    limits_of,
    quantization_config,
)
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

_EPS = 2**-12


def _affine_weights(config: QuantizationConfig) -> QuantizationConfig:
    return replace(config, weight=replace(config.weight, qscheme=torch.per_tensor_affine))


# Activations affine; weights symmetric, or affine too; biases of linear and convolutions int32.
qconfig_A8W8sym = quantization_config(weight=INT8, has_int32_bias=True, smallest_scale=_EPS)
qconfig_A8W8 = _affine_weights(qconfig_A8W8sym)
qconfig_A8W8sym_qat = quantization_config(
    weight=INT8, has_int32_bias=True, smallest_scale=_EPS, is_qat=True
)
qconfig_A8W8_qat = _affine_weights(qconfig_A8W8sym_qat)
qconfig_A16 = _affine_weights(
    quantization_config(
        activation=limits_of(16), weight=INT8, has_int32_bias=True, smallest_scale=_EPS
    )
)
qconfig_A32W8sym = quantization_config(activation=None, weight=INT8, smallest_scale=_EPS)

act_qspec_asym8s, wgt_qspec_asym8s = qconfig_A8W8.input_activation, qconfig_A8W8.weight
wgt_qspec_sym8s, act_qspec_asym16s = qconfig_A8W8sym.weight, qconfig_A16.input_activation
act_qat_qspec_asym8s, wgt_qat_qspec_asym8s = (
    qconfig_A8W8_qat.input_activation,
    qconfig_A8W8_qat.weight,
)
wgt_qat_qspec_sym8s = qconfig_A8W8sym_qat.weight
bias_qspec = None


@dataclass(frozen=True)
class CadenceAtenQuantizer:
    """One row of a quantizer."""

    pattern: p.QuantizationPattern
    quantization_config: QuantizationConfig


Rows = Sequence[CadenceAtenQuantizer]


def _rows(
    config: QuantizationConfig, *kinds: type[p.QuantizationPattern]
) -> list[CadenceAtenQuantizer]:
    return [CadenceAtenQuantizer(kind(), config) for kind in kinds]


def get_cadence_default_quantizers(is_qat: bool = False) -> list[CadenceAtenQuantizer]:
    affine, symmetric = (
        (qconfig_A8W8_qat, qconfig_A8W8sym_qat) if is_qat else (qconfig_A8W8, qconfig_A8W8sym)
    )
    return [
        *_rows(affine, p.AddmmPattern, p.BmmPattern),
        *_rows(symmetric, p.Conv1dPattern, p.Conv2dPattern),
        *_rows(affine, p.LinearPattern, p.MatmulPattern, p.MaxPool2dPattern),
        *_rows(affine, p.ReluPattern0, p.ReluPattern1),
    ]


class CadenceQuantizer(TableQuantizer):
    """Takes what its rows name; what a user sets by the methods of TableQuantizer counts before."""

    table = TABLE
    everywhere = True
    kept: ClassVar[tuple[OpOverload, ...]] = ()

    def __init__(self, quantizers: Rows) -> None:
        super().__init__()
        self.quantizers = list(quantizers)
        self.folded = CLAMPS if any(each.pattern.folds for each in self.quantizers) else frozenset()
        self._by_function: Mapping[str, QuantizationConfig] = {
            name: each.quantization_config
            for each in reversed(self.quantizers)
            for name in each.pattern.functions
        }

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        return [qconfig_A8W8, qconfig_A8W8sym]

    def get_ops_to_preserve_from_decomposition(self) -> list[OpOverload]:
        return list(self.kept)

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """Attention becomes its two matmuls, where those are taken: each of them has a range."""
        if not self._by_function.keys().isdisjoint(p.MatmulPattern.functions):
            DecomposeScaledDotProductAttention()(model)
        return super().transform_for_annotation(model)

    def _configs(self) -> list[QuantizationConfig]:
        return [*super()._configs(), *self._by_function.values()]

    def _config_of(self, node: Node) -> QuantizationConfig | None:
        config = super()._config_of(node)
        return self._by_function.get(function_name(node)) if config is None else config


class CadenceDefaultQuantizer(CadenceQuantizer):
    def __init__(self, quantizers: Rows | None = None, is_qat: bool = False) -> None:
        super().__init__(
            get_cadence_default_quantizers(is_qat) if quantizers is None else quantizers
        )


class CadenceNopQuantizer(CadenceQuantizer):
    def __init__(self) -> None:
        super().__init__([])


class CadenceRmsNormNopQuantizer(CadenceQuantizer):
    """Quantizes nothing; rms_norm stays one call."""

    kept = (torch.ops.aten.rms_norm.default,)

    def __init__(self) -> None:
        super().__init__([])


class _WithMore(CadenceQuantizer):
    """The default rows, or those given, with `more` behind."""

    more: ClassVar[tuple[type[p.QuantizationPattern], ...]] = ()
    config: ClassVar[QuantizationConfig] = qconfig_A8W8

    def __init__(self, quantizers: Rows | None = None, is_qat: bool = False) -> None:
        rows = get_cadence_default_quantizers(is_qat) if quantizers is None else quantizers
        config = qconfig_A8W8_qat if is_qat and self.config is qconfig_A8W8 else self.config
        super().__init__([*rows, *_rows(config, *self.more)])


class CadenceWithLayerNormQuantizer(_WithMore):
    more = (p.LayerNormPattern,)


class CadenceWakeWordQuantizer(_WithMore):
    more = (p.AddPattern, p.CatPattern)


class CadenceWithSoftmaxQuantizer(_WithMore):
    more = (p.SoftmaxPattern,)
    config = qconfig_A16


class CadenceFusedConvReluQuantizer(_WithMore):
    """A relu behind a convolution or a sum becomes part of it. Batch norms are folded when the model is prepared."""

    more = (p.Conv1dReluPattern, p.Conv2dReluPattern, p.AddReluPattern, p.AddPattern, p.CatPattern)


class CadenceW8A32MixedQuantizer(CadenceQuantizer):
    """int8 weights of linear layers beside float activations."""

    def __init__(self) -> None:
        super().__init__(_rows(qconfig_A32W8sym, p.MixedW8A32LinearPattern))


class CadenceWith16BitLinearActivationsQuantizer(CadenceQuantizer):
    def __init__(self) -> None:
        super().__init__(_rows(qconfig_A16, p.LinearPattern))


class CadenceWith16BitConvActivationsQuantizer(CadenceQuantizer):
    def __init__(self) -> None:
        super().__init__(_rows(qconfig_A16, p.Conv1dPattern, p.Conv2dPattern))


class CadenceWith16BitMatmulActivationsQuantizer(CadenceQuantizer):
    def __init__(self) -> None:
        super().__init__(_rows(qconfig_A16, p.MatmulPattern))
