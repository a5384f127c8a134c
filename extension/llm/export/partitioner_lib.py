# SPDX-License-Identifier: BSD-3-Clause
"""The partitioner that an export asks for. Backends that are not in this package say so."""

from __future__ import annotations

from typing import Any

from executorch.backends import discovery


def language_models(name: str) -> Any:
    """What a backend has for language models. Raises RuntimeError for one that is not in this package, and where its
    SDK is missing."""
    found = discovery.language_models()
    if name not in found:
        raise RuntimeError(
            f"the {_TITLES.get(name, name)} backend is not in this package, or not for language models; those are: "
            f"{', '.join(found)}"
        )
    return found[name].load(found[name].language_models)


# Of documented backends, as their makers write them.
_TITLES = {
    "vulkan": "Vulkan",
    "mps": "MPS",
    "openvino": "OpenVINO",
    "coreml": "Core ML",
    "qnn": "QNN",
    "tosa": "TOSA",
    "ethosu": "Ethos-U",
    "vgf": "VGF",
}


def get_xnnpack_partitioner(dynamic_quant_only_partitioner: bool = True) -> Any:
    """Linear layers that quantize their inputs while running, or everything that XNNPACK computes."""
    return language_models("xnnpack").partitioner(dynamic_quant_only_partitioner)


def get_vulkan_partitioner(
    dtype_override: str | None = None, enable_dynamic_shape: bool = False, force_fp16: bool = False
) -> Any:
    return language_models("vulkan").partitioner(dtype_override, enable_dynamic_shape, force_fp16)


def get_mps_partitioner(use_kv_cache: bool = False) -> Any:
    return language_models("mps").partitioner(use_kv_cache)


def get_openvino_partitioner(device: str) -> Any:
    return language_models("openvino").partitioner(device)


def get_coreml_partitioner(
    ios: int = 15,
    embedding_quantize: str | None = None,
    pt2e_quantize: str | None = None,
    coreml_quantize: str | None = None,
    coreml_compute_units: str | None = None,
) -> Any:
    return language_models("coreml").partitioner(
        ios, embedding_quantize, pt2e_quantize, coreml_quantize, coreml_compute_units
    )


def get_qnn_partitioner(
    use_kv_cache: bool = False,
    pt2e_quantize: str | None = None,
    num_sharding: int = 0,
    soc_model: str = "SM8650",
) -> Any:
    return language_models("qnn").partitioner(use_kv_cache, pt2e_quantize, num_sharding, soc_model)


def get_tosa_partitioner(version: str) -> Any:
    return language_models("tosa").partitioner(version)


def get_ethosu_partitioner(
    target: str,
    system_config: str | None = None,
    memory_mode: str | None = None,
    extra_flags: list[str] | None = None,
) -> Any:
    return language_models("ethosu").partitioner(target, system_config, memory_mode, extra_flags)


def get_vgf_partitioner(compile_spec: str | None, compiler_flags: list[str] | None) -> Any:
    return language_models("vgf").partitioner(compile_spec, compiler_flags)
