# SPDX-License-Identifier: BSD-3-Clause
"""`XNNPACKQuantizer`: says which values of a captured model become 8-bit, from the table of ops; torchao's prepare and
convert do the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import (
    OperatorConfig,
    QuantizationConfig,
    Quantizer,
)

from executorch.backends.xnnpack.quantizer.annotate import DYNAMIC, Annotator
from executorch.backends.xnnpack.quantizer.captured import (
    function_name,
    quantized_operators,
)
from executorch.backends.xnnpack.quantizer.quantization_config import (
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.quantizer.rewrites import (
    computed_weights_to_tensors,
    numbers_to_tensors,
    paddings_to_numbers,
    products_to_linear,
)

__all__ = ["XNNPACKQuantizer", "get_symmetric_quantization_config"]

Config = QuantizationConfig | None


class XNNPACKQuantizer(Quantizer):
    """Of several configurations that apply to an operator the most particular one counts: of its module's name, of
    its module's type, of the operator, the global one. None: stays float."""

    def __init__(self) -> None:
        super().__init__()
        self.global_config: Config = None
        # by what the user gave: an operator or function, a class of modules
        self.operator_type_config: dict[Callable[..., Any], Config] = {}
        self.module_type_config: dict[type[nn.Module], Config] = {}
        self.module_name_config: dict[str, Config] = {}
        self.filter_fn: Callable[[Node], bool] | None = None

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        """Weights by tensor and by channel, activations of fixed ranges and of those of each run."""
        return [
            get_symmetric_quantization_config(is_per_channel=by_channel, is_dynamic=is_dynamic)
            for by_channel in (False, True)
            for is_dynamic in (False, True)
        ]

    @classmethod
    def get_supported_operator_for_quantization_config(
        cls, quantization_config: Config
    ) -> list[list[OpOverload]]:
        """Patterns of one operator each, as a captured graph has it; None: of any configuration."""
        is_dynamic = quantization_config is not None and not quantization_config.output_activation
        return [[each] for each in (DYNAMIC if is_dynamic else quantized_operators())]

    @classmethod
    def get_supported_operators(cls) -> list[OperatorConfig]:
        return [
            OperatorConfig(config, cls.get_supported_operator_for_quantization_config(config))
            for config in cls.get_supported_quantization_configs()
        ]

    def set_global(self, quantization_config: Config) -> XNNPACKQuantizer:
        self.global_config = quantization_config
        return self

    def set_operator_type(
        self, operator_type: OpOverloadPacket | OpOverload, quantization_config: Config
    ) -> XNNPACKQuantizer:
        """`operator_type`: such as torch.ops.aten.linear."""
        self.operator_type_config[operator_type] = quantization_config
        return self

    def set_module_type(
        self, module_type: type[nn.Module], quantization_config: Config
    ) -> XNNPACKQuantizer:
        self.module_type_config[module_type] = quantization_config
        return self

    def set_object_type(
        self, object_type: Callable[..., Any], quantization_config: Config
    ) -> XNNPACKQuantizer:
        """A module's class, a function such as torch.nn.functional.linear, or an operator."""
        if isinstance(object_type, OpOverload | OpOverloadPacket):
            return self.set_operator_type(object_type, quantization_config)
        if isinstance(object_type, type):
            return self.set_module_type(object_type, quantization_config)
        self.operator_type_config[object_type] = quantization_config
        return self

    def set_module_name(self, module_name: str, quantization_config: Config) -> XNNPACKQuantizer:
        """The module of that qualified name and all within it."""
        self.module_name_config[module_name] = quantization_config
        return self

    def set_filter_function(self, filter_fn: Callable[[Node], bool]) -> XNNPACKQuantizer:
        """Only nodes for which `filter_fn` is true are quantized."""
        self.filter_fn = filter_fn
        return self

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        paddings_to_numbers(model)
        if any(config.output_activation is not None for config in self._configs()):
            numbers_to_tensors(model)
        if not any(config.is_qat for config in self._configs()):
            products_to_linear(model)
            computed_weights_to_tensors(model)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        Annotator(model, self._config_of).run()
        return model

    def validate(self, model: GraphModule) -> None:
        """What annotate writes is valid."""

    def _configs(self) -> list[QuantizationConfig]:
        particular = (self.operator_type_config, self.module_type_config, self.module_name_config)
        every = [self.global_config, *(config for each in particular for config in each.values())]
        return [config for config in every if config is not None]

    def _config_of(self, node: Node) -> Config:
        if self.filter_fn is not None and not self.filter_fn(node):
            return None
        stack = list(node.meta.get("nn_module_stack", {}).values())
        paths = [_without_self(str(path)) for path, _ in stack]
        named = [path for path in reversed(paths) if path in self.module_name_config]
        if named:
            return self.module_name_config[named[0]]
        by_type = {_qualified(kind): config for kind, config in self.module_type_config.items()}
        types = [kind if isinstance(kind, str) else _qualified(kind) for _, kind in stack]
        typed = [kind for kind in reversed(types) if kind in by_type]
        if typed:
            return by_type[typed[0]]
        by_name = {_function(kind): config for kind, config in self.operator_type_config.items()}
        return by_name.get(function_name(node), self.global_config)


def _function(kind: Callable[..., Any]) -> str:
    """`linear` of an operator, one of its overloads, or torch.nn.functional.linear."""
    return (kind.overloadpacket if isinstance(kind, OpOverload) else kind).__name__


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _without_self(path: str) -> str:
    """`foo.bar` of `L['self'].foo.bar`, too."""
    return path.removeprefix("L['self'].")
