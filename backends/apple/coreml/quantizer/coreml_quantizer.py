# SPDX-License-Identifier: BSD-3-Clause
"""`CoreMLQuantizer`: 8 bits, as a LinearQuantizerConfig of coremltools says. Core ML computes on quantized values from
iOS 17 on."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import torch
from torch.fx import Node
from torchao.quantization.pt2e.fake_quantize import FakeQuantize
from torchao.quantization.pt2e.observer import (
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer import QuantizationConfig, QuantizationSpec

from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.aot.ops import QUANTIZED
from executorch.exir.backend.lowering.quantizer.captured import function_name
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

_INTEGERS = {torch.quint8: torch.uint8, torch.qint8: torch.int8}
# By the observer's name: of a tensor, and of each channel of one.
_OBSERVERS = {
    "moving_average_min_max": (MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver),
    "min_max": (MinMaxObserver, PerChannelMinMaxObserver),
}
_POOLS = ("max_", "avg_", "adaptive_avg_")
# Their results, from 0 on, are affine whatever the scheme is: half of a symmetric range would stay unused.
_FROM_ZERO = frozenset({"relu", "relu_", "relu6", "sigmoid", "hardsigmoid", "hardsigmoid_"})
_DATA_MOVEMENT = frozenset({"flatten"} | {f"{kind}pool{n}d" for kind in _POOLS for n in (1, 2, 3)})
# Core ML computes these with what is before them.
_ACTIVATIONS = _FROM_ZERO | frozenset(
    "leaky_relu leaky_relu_ silu silu_ elu elu_ celu celu_ selu selu_ mish mish_ hardtanh hardtanh_ hardswish "
    "hardswish_ gelu log_sigmoid tanh relu6_ sigmoid_ tanh_".split()
)


class CoreMLQuantizer(TableQuantizer):
    """`config`: coremltools' LinearQuantizerConfig; the most particular part counts, of a module's name, of its type,
    the global one. For prepare_pt2e and prepare_qat_pt2e."""

    table = QUANTIZED
    everywhere = True
    folded = _ACTIVATIONS

    def __init__(
        self, config: ct.optimize.torch.quantization.LinearQuantizerConfig | None = None
    ) -> None:
        super().__init__()
        config = config or ct.optimize.torch.quantization.LinearQuantizerConfig()
        self.set_global(_config_of(config.global_config))
        for kind, config_given in config.module_type_configs.items():
            self.set_object_type(kind, _config_of(config_given))
        for name, config_given in config.module_name_configs.items():
            self.set_module_name(name, _config_of(config_given))

    def _config_of(self, node: Node) -> QuantizationConfig | None:
        found = super()._config_of(node)
        if found is None or found.output_activation is None:
            return found
        source = node.all_input_nodes[0] if node.all_input_nodes else node
        given, gives = found.input_activation, found.output_activation
        return replace(
            found,
            input_activation=_affine(given) if _gives_from_zero(source) else given,
            output_activation=_affine(gives) if _gives_from_zero(node) else gives,
        )


def _gives_from_zero(node: Node) -> bool:
    """Whether it is, or is computed with, a function that gives nothing below zero; moves keep what they are given."""
    if function_name(node) in _DATA_MOVEMENT:
        return _gives_from_zero(node.all_input_nodes[0])
    users = [user for user in node.users if user.op == "call_function"]
    last = users[0] if len(users) == 1 and function_name(users[0]) in _ACTIVATIONS else node
    name = function_name(last)
    is_relu6 = name in ("hardtanh", "hardtanh_") and tuple(last.args[1:3]) == (0.0, 6.0)
    return name in _FROM_ZERO or is_relu6


def _config_of(config_given: Any) -> QuantizationConfig | None:
    """`config_given`: a ModuleLinearQuantizerConfig; None stays float."""
    if config_given is None or config_given.weight_dtype == torch.float32:
        return None
    is_symmetric = config_given.quantization_scheme.value == "symmetric"
    activation = None
    if config_given.activation_dtype != torch.float32:
        dtype, observer = (
            _INTEGERS[config_given.activation_dtype],
            _observer(config_given.activation_observer, 0),
        )
        activation = _spec(dtype, observer, is_symmetric, is_per_channel=False)
    by_channel = bool(config_given.weight_per_channel)
    observer = _observer(config_given.weight_observer, int(by_channel))
    weight = _spec(_INTEGERS[config_given.weight_dtype], observer, is_symmetric, by_channel)
    return QuantizationConfig(activation, activation, weight, None)


def _observer(config_given: Any, place: int) -> Any:
    name = getattr(config_given, "value", config_given)
    if name not in _OBSERVERS:
        raise ValueError(
            f"Unsupported observer type: {name}; expected one of {', '.join(_OBSERVERS)}"
        )
    return _OBSERVERS[name][place]


@functools.cache
def _spec(
    dtype: torch.dtype, observer: Any, is_symmetric: bool, is_per_channel: bool
) -> QuantizationSpec:
    """Equal ones are one object, so that configurations can be compared."""
    of = "per_channel" if is_per_channel else "per_tensor"
    scheme = getattr(torch, f"{of}_{'symmetric' if is_symmetric else 'affine'}")
    limits = torch.iinfo(dtype)
    return QuantizationSpec(
        dtype=dtype,
        quant_min=limits.min,
        quant_max=limits.max,
        qscheme=scheme,
        ch_axis=0 if is_per_channel else None,
        observer_or_fake_quant_ctr=FakeQuantize.with_args(observer=observer),
    )


@functools.cache
def _affine(spec: QuantizationSpec) -> QuantizationSpec:
    return replace(spec, qscheme=torch.per_tensor_affine)
