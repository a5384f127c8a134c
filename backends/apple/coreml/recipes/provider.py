# SPDX-License-Identifier: BSD-3-Clause
"""Recipes of both float precisions and of each way to quantize. Keywords: those of CoreMLPartitioner and
`generate_compile_specs` in COMMON; `group_size`, `bits`, `block_size` and `filter_fn` (which modules) where weights are
quantized by torchao."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.compiler import CoreMLBackend
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.exir import EdgeCompileConfig
from executorch.export.recipe import (
    AOQuantizationConfig,
    ExportRecipe,
    LoweringRecipe,
    QuantizationRecipe,
    RecipeType,
)
from executorch.export.recipe_provider import RecipesOfType

_log = logging.getLogger(__name__)
GROUP_SIZE = 32
Filter = Callable[[torch.nn.Module, str], bool]


class CoreMLRecipeType(RecipeType):
    """Of PT2E, weights have a scale for each channel; static ones quantize what flows between operators, too."""

    FP32 = "coreml_fp32"
    FP16 = "coreml_fp16"
    PT2E_INT8_STATIC = "coreml_pt2e_int8_static"
    PT2E_INT8_WEIGHT_ONLY = "coreml_pt2e_int8_weight_only"
    TORCHAO_INT4_WEIGHT_ONLY_PER_CHANNEL = "coreml_torchao_int4_weight_only_per_channel"
    TORCHAO_INT4_WEIGHT_ONLY_PER_GROUP = "coreml_torchao_int4_weight_only_per_group"
    TORCHAO_INT8_WEIGHT_ONLY_PER_CHANNEL = "coreml_torchao_int8_weight_only_per_channel"
    TORCHAO_INT8_WEIGHT_ONLY_PER_GROUP = "coreml_torchao_int8_weight_only_per_group"
    CODEBOOK_WEIGHT_ONLY = "coreml_codebook_weight_only"

    @classmethod
    def get_backend_name(cls) -> str:
        return "coreml"


# ---- Ways to quantize ----


def eight_bits(activation: torch.dtype) -> Any:
    """The quantizer; of float32 weights alone have 8 bits."""
    from executorch.backends.apple.coreml.quantizer import CoreMLQuantizer

    linear = ct.optimize.torch.quantization
    config = linear.ModuleLinearQuantizerConfig(
        quantization_scheme="symmetric",
        activation_dtype=activation,
        weight_dtype=torch.qint8,
        weight_per_channel=True,
    )
    return CoreMLQuantizer(linear.LinearQuantizerConfig(global_config=config))


def _pt2e(activation: torch.dtype) -> QuantizationRecipe:
    return QuantizationRecipe(quantizers=[eight_bits(activation)])


def _torchao(config: Any, filter_fn: Filter | None) -> QuantizationRecipe:
    configs = [AOQuantizationConfig(config, filter_fn)]
    return QuantizationRecipe(ao_quantization_configs=configs)


def _per_channel(dtype: torch.dtype, filter_fn: Filter | None = None) -> QuantizationRecipe:
    from torchao.quantization import IntxWeightOnlyConfig
    from torchao.quantization.granularity import PerAxis

    return _torchao(IntxWeightOnlyConfig(weight_dtype=dtype, granularity=PerAxis(0)), filter_fn)


def _per_group(
    dtype: torch.dtype, group_size: int = GROUP_SIZE, filter_fn: Filter | None = None
) -> QuantizationRecipe:
    from torchao.quantization import IntxWeightOnlyConfig
    from torchao.quantization.granularity import PerGroup

    _check_whole("group_size", group_size)
    if group_size <= 0:
        raise ValueError(f"Parameter 'group_size' must be positive, got: {group_size}")
    groups = PerGroup(group_size)
    return _torchao(IntxWeightOnlyConfig(weight_dtype=dtype, granularity=groups), filter_fn)


def _has_weights(module: torch.nn.Module, name: str) -> bool:
    return isinstance(module, torch.nn.Linear | torch.nn.Embedding)


def _codebook(
    bits: int | None = None,
    block_size: list[int] | None = None,
    filter_fn: Filter | None = _has_weights,
) -> QuantizationRecipe:
    if bits is None or block_size is None:
        raise ValueError("Parameters 'bits' and 'block_size' must be present for codebook recipes")
    _check_whole("bits", bits)
    if not 1 <= bits <= 8:
        raise ValueError(f"Parameter 'bits' must be between 1 and 8, got: {bits}")
    if not isinstance(block_size, list):
        raise ValueError(
            f"Parameter 'block_size' must be a list, got {type(block_size).__name__}: {block_size}"
        )
    from torchao.prototype.quantization.codebook_coreml import CodebookWeightOnlyConfig

    dtype = getattr(torch, f"uint{bits}")
    return _torchao(CodebookWeightOnlyConfig(dtype=dtype, block_size=block_size), filter_fn)


def _check_whole(name: str, found: Any) -> None:
    if not isinstance(found, int):
        raise ValueError(
            f"Parameter '{name}' must be an integer, got {type(found).__name__}: {found}"
        )


# ---- The table ----


@dataclass(frozen=True)
class _Kind:
    """`least`: the target that it needs; the smallest that the model needs where nothing is said. `takes`: keywords
    beside COMMON, which `quantization` is given."""

    least: ct.target | None = None
    what: str = ""
    quantization: Callable[..., QuantizationRecipe] | None = None
    takes: tuple[str, ...] = ()
    precision: ct.precision = ct.precision.FLOAT16


_iOS16, _iOS17, _iOS18 = ct.target.iOS16, ct.target.iOS17, ct.target.iOS18
_CHANNELS, _GROUPS = ("filter_fn",), ("group_size", "filter_fn")
_KINDS = {
    CoreMLRecipeType[name]: kind
    for name, kind in {
        "FP32": _Kind(precision=ct.precision.FLOAT32),
        "FP16": _Kind(),
        "PT2E_INT8_STATIC": _Kind(_iOS17, "pt2e", partial(_pt2e, torch.quint8)),
        "PT2E_INT8_WEIGHT_ONLY": _Kind(_iOS17, "pt2e", partial(_pt2e, torch.float32)),
        "TORCHAO_INT4_WEIGHT_ONLY_PER_CHANNEL": _Kind(_iOS18, "torchao", partial(_per_channel, torch.int4), _CHANNELS),
        "TORCHAO_INT4_WEIGHT_ONLY_PER_GROUP": _Kind(_iOS18, "torchao", partial(_per_group, torch.int4), _GROUPS),
        "TORCHAO_INT8_WEIGHT_ONLY_PER_CHANNEL": _Kind(_iOS16, "torchao", partial(_per_channel, torch.int8), _CHANNELS),
        "TORCHAO_INT8_WEIGHT_ONLY_PER_GROUP": _Kind(_iOS18, "torchao", partial(_per_group, torch.int8), _GROUPS),
        "CODEBOOK_WEIGHT_ONLY": _Kind(_iOS18, "codebook", _codebook, ("bits", "block_size", "filter_fn")),
    }.items()
}  # fmt: skip
_OF_PARTITIONER = ("lower_full_graph", "skip_ops_for_coreml_delegation", "take_over_constant_data")
COMMON = ("minimum_deployment_target", "compute_unit", *_OF_PARTITIONER)


class CoreMLRecipeProvider(RecipesOfType):
    kinds = CoreMLRecipeType

    def make(self, recipe_type: RecipeType, **kwargs: Any) -> ExportRecipe:
        """ValueError for a keyword that has another type or is out of range, and for a target without what the recipe
        needs; keywords that it does not take are ignored with a warning."""
        kind = _KINDS[recipe_type]
        known = (*COMMON, *kind.takes)
        if unexpected := [name for name in kwargs if name not in known]:
            _log.warning(
                "CoreML recipe '%s' ignoring unexpected parameters: %s. Expected parameters: %s",
                recipe_type.value, unexpected, list(known),
            )  # fmt: skip
        own = {name: kwargs[name] for name in kind.takes if name in kwargs}
        return ExportRecipe(
            name=recipe_type.value,
            quantization_recipe=kind.quantization(**own) if kind.quantization else None,
            lowering_recipe=LoweringRecipe(
                partitioners=[_partitioner(kind, kwargs)],
                edge_compile_config=EdgeCompileConfig(_check_ir_validity=False),
            ),
        )


def _partitioner(kind: _Kind, given: dict[str, Any]) -> CoreMLPartitioner:
    """A target below iOS 18 has no states: buffers that the model writes are inputs and outputs of delegates. Of a
    whole graph the partitioner itself says which buffers those are."""
    target = _chosen(given, "minimum_deployment_target", ct.target, "ct.target") or kind.least
    if kind.least is not None and target < kind.least:
        raise ValueError(
            f"minimum_deployment_target must be {kind.least.name} or higher for {kind.what} quantization, got "
            f"{target.name}"
        )
    unit = _chosen(given, "compute_unit", ct.ComputeUnit, "ct.ComputeUnit")
    specs = CoreMLBackend.generate_compile_specs(
        compute_unit=unit or ct.ComputeUnit.ALL,
        minimum_deployment_target=target,
        compute_precision=kind.precision,
    )
    options = {name: given[name] for name in _OF_PARTITIONER if name in given}
    whole = bool(options.get("lower_full_graph"))
    return CoreMLPartitioner(
        compile_specs=specs,
        take_over_mutable_buffer=whole or target is None or target >= ct.target.iOS18,
        **options,
    )


def _chosen(given: dict[str, Any], name: str, kind: type, called: str) -> Any:
    found = given.get(name)
    if found is not None and not isinstance(found, kind):
        raise ValueError(f"Parameter '{name}' must be an enum of type {called}, got {type(found)}")
    return found
