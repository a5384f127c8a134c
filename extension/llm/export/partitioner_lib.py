# SPDX-License-Identifier: BSD-3-Clause
"""The partitioner that an export asks for. Backends that are not in this package say so."""

from __future__ import annotations

from typing import Any, NoReturn


def get_xnnpack_partitioner(dynamic_quant_only_partitioner: bool = True) -> Any:
    """Linear layers that quantize their inputs while running, or everything that XNNPACK computes."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
        XnnpackDynamicallyQuantizedPartitioner,
        XnnpackPartitioner,
    )

    if dynamic_quant_only_partitioner:
        return XnnpackDynamicallyQuantizedPartitioner()
    return XnnpackPartitioner()


def _absent(name: str) -> NoReturn:
    raise RuntimeError(
        f"the {name} backend is not in this package; for language models here are: xnnpack, openvino"
    )


def get_vulkan_partitioner(
    dtype_override: str | None = None, enable_dynamic_shape: bool = False, force_fp16: bool = False
) -> Any:
    _absent("Vulkan")


def get_mps_partitioner(use_kv_cache: bool = False) -> Any:
    _absent("MPS")


def get_openvino_partitioner(device: str) -> Any:
    from executorch.backends.openvino.partitioner import OpenvinoPartitioner
    from executorch.exir.backend.compile_spec_schema import CompileSpec

    return OpenvinoPartitioner([CompileSpec("device", device.encode())])


def get_coreml_partitioner(
    ios: int = 15,
    embedding_quantize: str | None = None,
    pt2e_quantize: str | None = None,
    coreml_quantize: str | None = None,
    coreml_compute_units: str | None = None,
) -> Any:
    _absent("Core ML")


def get_qnn_partitioner(
    use_kv_cache: bool = False,
    pt2e_quantize: str | None = None,
    num_sharding: int = 0,
    soc_model: str = "SM8650",
) -> Any:
    _absent("QNN")


def get_tosa_partitioner(version: str) -> Any:
    _absent("TOSA")


def get_ethosu_partitioner(
    target: str,
    system_config: str | None = None,
    memory_mode: str | None = None,
    extra_flags: list[str] | None = None,
) -> Any:
    _absent("Ethos-U")


def get_vgf_partitioner(compile_spec: str | None, compiler_flags: list[str] | None) -> Any:
    _absent("VGF")
