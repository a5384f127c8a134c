# SPDX-License-Identifier: BSD-3-Clause
"""Recipes by what the program will run on. Each takes a backend that must be installed."""

from __future__ import annotations

from typing import Any

from executorch.backends.discovery import all_backends, backends
from executorch.export.recipe import ExportRecipe
from executorch.export.utils import (
    is_supported_platform_for_coreml_lowering,
    is_supported_platform_for_qnn_lowering,
)

_IOS = ("ios-arm64-coreml-fp32", "ios-arm64-coreml-fp16", "ios-arm64-coreml-int8")
_ANDROID = ("android-arm64-snapdragon-fp16",)


def get_ios_recipe(target_config: str = "ios-arm64-coreml-fp16", **kwargs: Any) -> ExportRecipe:
    """Core ML's recipe for the configuration, which `kwargs` go to; in float, what Core ML leaves is XNNPACK's."""
    _check("iOS", target_config, _IOS)
    if not is_supported_platform_for_coreml_lowering():
        raise ValueError(
            "CoreML is not supported on this platform: expected the package executorch.backends.apple.coreml, which "
            "this installation does not have; XNNPACK's recipes run on iOS as well"
        )
    coreml = _recipes("coreml")
    name = target_config.rpartition("-")[2]
    if name == "int8":
        return ExportRecipe.get_recipe(coreml.PT2E_INT8_STATIC, **kwargs)
    first = ExportRecipe.get_recipe(coreml[name.upper()], **kwargs)
    second = ExportRecipe.get_recipe(_recipes("xnnpack").FP32)
    return ExportRecipe.combine([first, second], target_config)


def _recipes(backend: str) -> Any:
    """The RecipeType of a backend."""
    manifest = backends()[backend]
    return manifest.load(manifest.recipes)


def get_android_recipe(
    target_config: str = "android-arm64-snapdragon-fp16", **kwargs: Any
) -> ExportRecipe:
    """Qualcomm's recipe for the configuration; `kwargs` are its keywords, of which `soc_model` has no default."""
    _check("Android", target_config, _ANDROID)
    if not is_supported_platform_for_qnn_lowering():
        raise ValueError(
            "QNN is not supported on this platform: expected the package executorch.backends.qualcomm, which this "
            "installation does not have; XNNPACK's recipes run on Android as well"
        )
    qnn = all_backends()["qualcomm"].load("recipes:QNNRecipeType")
    return ExportRecipe.get_recipe(qnn.FP16, **kwargs)


def _check(system: str, found: str, known: tuple[str, ...]) -> None:
    if found not in known:
        raise ValueError(f"Unsupported {system} configuration: {found!r}. Supported: {list(known)}")
