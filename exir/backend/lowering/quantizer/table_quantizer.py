# SPDX-License-Identifier: BSD-3-Clause
"""`TableQuantizer`: says which values of a captured model are quantized, from the annotations of a backend's table;
torchao's prepare and convert do the rest."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from torch import nn
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import OperatorConfig, QuantizationConfig, Quantizer
from typing_extensions import Self

from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.quantizer.annotate import CLAMPS, Annotator
from executorch.exir.backend.lowering.quantizer.captured import (
    CapturedTable,
    function_name,
    module_paths,
    module_types,
    qualified,
)
from executorch.exir.backend.lowering.quantizer.rewrites import (
    computed_weights_to_tensors,
    matmul_to_linear,
    numbers_to_tensors,
    paddings_to_numbers,
)
from executorch.exir.graph_module import get_control_flow_submodules

Config = QuantizationConfig | None
_IS_INNER = "is_inner"  # meta of a graph in another one


class TableQuantizer(Quantizer):
    """A backend gives its `table`; `everywhere` where it computes on quantized values alone, so that each call of a row
    is quantized whatever its neighbours are; `folded`, names of functions that it makes part of the operator before
    them; and the configurations that it supports.

    Of several configurations that apply to an operator the most particular one counts: of its module's name, of its
    module's type, of the operator, the global one. None: stays float."""

    table: ClassVar[OpTable[Any]]
    everywhere: ClassVar[bool] = False
    folded: ClassVar[frozenset[str]] = CLAMPS

    def __init__(self) -> None:
        super().__init__()
        self.global_config: Config = None
        self.io_config: Config = None
        # by what the user gave: an operator or function, a class of modules
        self.operator_type_config: dict[Callable[..., Any], Config] = {}
        self.module_type_config: dict[type[nn.Module], Config] = {}
        self.module_name_config: dict[str, Config] = {}
        self.filter_fn: Callable[[Node], bool] | None = None

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        """Of which get_supported_operators() tells."""
        return []

    @classmethod
    def get_supported_operator_for_quantization_config(
        cls, quantization_config: Config
    ) -> list[list[OpOverload]]:
        """Patterns of one operator each, as a captured graph has it; None: of any configuration."""
        captured = CapturedTable(cls.table)
        is_dynamic = quantization_config is not None and not quantization_config.output_activation
        found = captured.dynamic_operators() if is_dynamic else captured.operators()
        return [[each] for each in found]

    @classmethod
    def get_supported_operators(cls) -> list[OperatorConfig]:
        return [
            OperatorConfig(config, cls.get_supported_operator_for_quantization_config(config))
            for config in cls.get_supported_quantization_configs()
        ]

    def set_global(self, quantization_config: Config) -> Self:
        self.global_config = _checked(quantization_config)
        return self

    def set_io(self, quantization_config: Config) -> Self:
        """Of the model's inputs and outputs; None: as what reads and gives them has it."""
        self.io_config = _checked(quantization_config)
        return self

    def set_operator_type(
        self, operator_type: OpOverloadPacket | OpOverload, quantization_config: Config
    ) -> Self:
        """`operator_type`: such as torch.ops.aten.linear."""
        self.operator_type_config[operator_type] = _checked(quantization_config)
        return self

    def set_module_type(self, module_type: type[nn.Module], quantization_config: Config) -> Self:
        self.module_type_config[module_type] = _checked(quantization_config)
        return self

    def set_object_type(self, object_type: Callable[..., Any], quantization_config: Config) -> Self:
        """A module's class, a function such as torch.nn.functional.linear, or an operator."""
        if isinstance(object_type, OpOverload | OpOverloadPacket):
            return self.set_operator_type(object_type, quantization_config)
        if isinstance(object_type, type):
            return self.set_module_type(object_type, quantization_config)
        self.operator_type_config[object_type] = _checked(quantization_config)
        return self

    def set_module_name(self, module_name: str, quantization_config: Config) -> Self:
        """The module of that qualified name and all within it."""
        self.module_name_config[module_name] = _checked(quantization_config)
        return self

    def set_filter_function(self, filter_fn: Callable[[Node], bool]) -> Self:
        """Only nodes for which `filter_fn` is true are quantized."""
        self.filter_fn = filter_fn
        return self

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """torchao asks of a loop's body behind the graph around it. Numbers in it stay numbers: torch.export would keep
        no data of the tensors."""
        for _, body, _ in get_control_flow_submodules(model):
            body.meta[_IS_INNER] = True
        captured = CapturedTable(self.table)
        paddings_to_numbers(model, captured)
        has_activations = any(config.output_activation is not None for config in self._configs())
        if has_activations and _IS_INNER not in model.meta:
            numbers_to_tensors(model, captured)
        if not any(config.is_qat for config in self._configs()):
            matmul_to_linear(model, captured)
            computed_weights_to_tensors(model, captured)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        self._warn_of_unknown_names(model)
        table = CapturedTable(self.table)
        annotator = Annotator(model, table, self._config_of, self.everywhere, self.folded)
        if self.io_config is not None:
            annotator.annotate_io(self.io_config)
        annotator.run()
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
        named = [path for path in reversed(module_paths(node)) if path in self.module_name_config]
        if named:
            return self.module_name_config[named[0]]
        by_type = {qualified(kind): config for kind, config in self.module_type_config.items()}
        typed = [kind for kind in reversed(module_types(node)) if kind in by_type]
        if typed:
            return by_type[typed[0]]
        by_name = {_function(kind): config for kind, config in self.operator_type_config.items()}
        return by_name.get(function_name(node), self.global_config)

    def _warn_of_unknown_names(self, model: GraphModule) -> None:
        """A name with a slip would leave its module to the other configurations, in silence."""
        known = {path for node in model.graph.nodes for path in module_paths(node)}
        unknown = [name for name in self.module_name_config if name not in known]
        if unknown:
            warnings.warn(
                f"set_module_name: no operator of the model is in {', '.join(map(repr, unknown))}; expected names of "
                f"modules as named_modules() gives them, such as {', '.join(map(repr, sorted(known - {''})[:4]))}",
                UserWarning,
                stacklevel=2,
            )


def _checked(config: Any) -> Config:
    fields = ("input_activation", "output_activation", "weight", "bias")
    if config is not None and not all(hasattr(config, name) for name in fields):
        raise TypeError(
            f"expected a QuantizationConfig, or None for what stays float, found {type(config).__name__}; "
            "get_symmetric_quantization_config() of the backend makes one"
        )
    return config


def _function(kind: Callable[..., Any]) -> str:
    """`linear` of an operator, one of its overloads, or torch.nn.functional.linear."""
    return (kind.overloadpacket if isinstance(kind, OpOverload) else kind).__name__
