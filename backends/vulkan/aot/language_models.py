# SPDX-License-Identifier: BSD-3-Clause
"""What `export_llm` asks of Vulkan (LANGUAGE_MODELS of exir/backend/lowering/manifest.py)."""

from __future__ import annotations

from typing import Any

from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner

PREFIX = "vulkan_"  # of the file's name


def partitioner(
    dtype_override: str | None = None, enable_dynamic_shape: bool = False, force_fp16: bool = False
) -> VulkanPartitioner:
    assert dtype_override in (None, "fp32"), (
        f"dtype_override: expected fp32, found {dtype_override}; force_fp16 computes in half precision"
    )
    options = {"require_dynamic_shapes": enable_dynamic_shape, "force_fp16": force_fp16}
    return VulkanPartitioner(options)


def partitioners(config: Any) -> list[Any]:
    dtype = str(getattr(config.model.dtype_override, "value", config.model.dtype_override))
    return [partitioner(dtype, config.model.enable_dynamic_shape, config.backend.vulkan.force_fp16)]


def quantizers(name: str) -> list[Any]:
    if name != "vulkan_8w":
        raise ValueError(f"expected vulkan_8w, 8-bit weights of linear layers, found {name}")
    from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
        VulkanQuantizer,
        get_symmetric_quantization_config,
    )

    return [VulkanQuantizer().set_global(get_symmetric_quantization_config())]
