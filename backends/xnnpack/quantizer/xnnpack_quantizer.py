# SPDX-License-Identifier: BSD-3-Clause
"""`XNNPACKQuantizer`: says which values of a captured model become 8-bit, from the table of ops; torchao's prepare and
convert do the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import QuantizationConfig, Quantizer

from executorch.backends.xnnpack.quantizer.annotate import Annotator
from executorch.backends.xnnpack.quantizer.captured import function_name, numbers_to_tensors
from executorch.backends.xnnpack.quantizer.quantization_config import (
    get_symmetric_quantization_config,
)

__all__ = ["XNNPACKQuantizer", "get_symmetric_quantization_config"]

Config = QuantizationConfig | None


class XNNPACKQuantizer(Quantizer):
    """Of several configurations that apply to an operator the most particular one counts: of its module's name, of
    its module's type, of the operator, the global one. None: stays float."""

    def __init__(self) -> None:
        super().__init__()
        self._global: Config = None
        self._operators: dict[str, Config] = {}
        self._types: dict[str, Config] = {}
        self._names: dict[str, Config] = {}
        self._filter: Callable[[Node], bool] | None = None

    def set_global(self, quantization_config: Config) -> XNNPACKQuantizer:
        self._global = quantization_config
        return self

    def set_operator_type(
        self, operator_type: OpOverloadPacket | OpOverload, quantization_config: Config
    ) -> XNNPACKQuantizer:
        """`operator_type`: such as torch.ops.aten.linear."""
        if isinstance(operator_type, OpOverload):
            operator_type = operator_type.overloadpacket
        self._operators[operator_type.__name__] = quantization_config
        return self

    def set_module_type(
        self, module_type: type[nn.Module], quantization_config: Config
    ) -> XNNPACKQuantizer:
        self._types[f"{module_type.__module__}.{module_type.__qualname__}"] = quantization_config
        return self

    def set_object_type(
        self, object_type: Callable[..., Any], quantization_config: Config
    ) -> XNNPACKQuantizer:
        """A module's class, a function such as torch.nn.functional.linear, or an operator."""
        if isinstance(object_type, OpOverload | OpOverloadPacket):
            return self.set_operator_type(object_type, quantization_config)
        if isinstance(object_type, type):
            return self.set_module_type(object_type, quantization_config)
        self._operators[object_type.__name__] = quantization_config
        return self

    def set_module_name(self, module_name: str, quantization_config: Config) -> XNNPACKQuantizer:
        """The module of that qualified name and all within it."""
        self._names[module_name] = quantization_config
        return self

    def set_filter_function(self, filter_fn: Callable[[Node], bool]) -> XNNPACKQuantizer:
        """Only nodes for which `filter_fn` is true are quantized."""
        self._filter = filter_fn
        return self

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        if self._quantizes_results():
            numbers_to_tensors(model)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        Annotator(model, self._config_of).run()
        return model

    def validate(self, model: GraphModule) -> None:
        """What annotate writes is valid."""

    def _quantizes_results(self) -> bool:
        configs = (self._global, *self._operators.values(), *self._types.values())
        return any(
            config is not None and config.output_activation is not None
            for config in (*configs, *self._names.values())
        )

    def _config_of(self, node: Node) -> Config:
        if self._filter is not None and not self._filter(node):
            return None
        stack = list(node.meta.get("nn_module_stack", {}).values())
        paths = [_without_self(str(path)) for path, _ in stack]
        named = [path for path in reversed(paths) if path in self._names]
        if named:
            return self._names[named[0]]
        types = [kind if isinstance(kind, str) else _qualified(kind) for _, kind in stack]
        typed = [kind for kind in reversed(types) if kind in self._types]
        if typed:
            return self._types[typed[0]]
        return self._operators.get(function_name(node), self._global)


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _without_self(path: str) -> str:
    """`foo.bar` of `L['self'].foo.bar`, too."""
    return path.removeprefix("L['self'].")
