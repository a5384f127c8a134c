# SPDX-License-Identifier: BSD-3-Clause
# compat
"""`build_executorch_binary`: a model, calibrated on data, as a file for one SoC."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch.export import export
from torchao.quantization.pt2e import MovingAverageMinMaxObserver
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.qualcomm.aot.compiler import get_qnn_context_binary_alignment
from executorch.backends.qualcomm.aot.lower import to_edge_transform_and_lower_to_qnn
from executorch.backends.qualcomm.device.config import QnnConfig, get_backend_type
from executorch.backends.qualcomm.quantizer.quantizer import QnnQuantizer, QuantDtype
from executorch.backends.qualcomm.serialization.compile_specs import (
    generate_gpu_compiler_spec,
    generate_htp_compiler_spec,
    generate_lpai_compiler_spec,
    generate_qnn_executorch_compiler_spec,
    get_soc_to_chipset_map,
)
from executorch.backends.qualcomm.serialization.qc_schema import (
    QnnExecuTorchBackendType,
    QnnExecuTorchHtpPerformanceMode,
)
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType

Sample = tuple[torch.Tensor, ...]


def make_quantizer(
    quant_dtype: QuantDtype | None = QuantDtype.use_8a8w,
    custom_annotations: Iterable[Any] = (),
    per_channel_conv: bool = True,
    per_channel_linear: bool = False,
    per_channel_embedding: bool = False,
    act_observer: Any = MovingAverageMinMaxObserver,
    act_symmetric: bool = False,
    is_qat: bool = False,
    submodule_qconfig_list: list[Any] | None = None,
    backend: QnnExecuTorchBackendType = QnnExecuTorchBackendType.kHtpBackend,
    soc_model: str = "SM8750",
    eps: float | None = None,
) -> QnnQuantizer:
    """One whose defaults are those of scripts: convolutions have a scale for each channel."""
    quantizer = QnnQuantizer(backend=backend, soc_model=get_soc_to_chipset_map()[soc_model])
    quantizer.add_custom_quant_annotations(custom_annotations)
    quantizer.set_default_quant_config(
        quant_dtype,
        is_qat=is_qat,
        is_conv_per_channel=per_channel_conv,
        is_linear_per_channel=per_channel_linear,
        is_embedding_per_channel=per_channel_embedding,
        act_observer=act_observer,
        act_symmetric=act_symmetric,
        eps=eps,
    )
    if submodule_qconfig_list:
        quantizer.set_submodule_qconfig_list(submodule_qconfig_list)
    return quantizer


def build_executorch_binary(
    model: torch.nn.Module,
    qnn_config: QnnConfig,
    file_name: str,
    dataset: Iterable[Sample],
    quant_dtype: QuantDtype | None = None,
    custom_quantizer: QnnQuantizer | None = None,
    metadata: dict[str, Any] | None = None,
    qnn_intermediate_debugger: Any = None,
    passes_job: Any = None,
    passes_dependency: Any = None,
    qat_training_data: Any = None,
    op_package_options: Any = None,
) -> None:
    """Writes {file_name}.pte. `dataset`: samples to calibrate on, of which the first one is the example. With
    compile_only the process ends here, with exit code 0. ExportError for what is not here."""
    _check_given(
        qnn_intermediate_debugger=qnn_intermediate_debugger, qat_training_data=qat_training_data
    )
    samples = list(dataset)
    if quant_dtype is not None or custom_quantizer is not None:
        quantizer = custom_quantizer or make_quantizer(
            quant_dtype,
            backend=get_backend_type(qnn_config.backend),
            soc_model=qnn_config.soc_model,
        )
        model = _quantized(model, quantizer, samples)
        is_quantized = True
    else:
        is_quantized = False
    manager = to_edge_transform_and_lower_to_qnn(
        model,
        samples[0],
        _specs(qnn_config, is_quantized, op_package_options),
        constant_methods=metadata,
        passes_job=passes_job,
        dep_table=passes_dependency,
        skip_node_id_set=_names(qnn_config.skip_delegate_node_ids),
        skip_node_op_set=_names(qnn_config.skip_delegate_node_ops),
    )
    config = ExecutorchBackendConfig(segment_alignment=get_qnn_context_binary_alignment())
    program = manager.to_executorch(config)
    path = Path(f"{file_name}.pte")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(program.buffer)
    if qnn_config.compile_only:
        sys.exit(0)


def _check_given(**given: Any) -> None:
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"{', '.join(named)}: expected none, this is not here yet",
        )


def _names(text: str | None) -> set[str] | None:
    return {each.strip() for each in text.split(",")} if text else None


def _quantized(
    model: torch.nn.Module, quantizer: QnnQuantizer, samples: list[Sample]
) -> torch.nn.Module:
    prepared = prepare_pt2e(export(model, samples[0], strict=True).module(), quantizer)
    for sample in samples:
        prepared(*sample)
    return convert_pt2e(prepared)


def _specs(config: QnnConfig, is_quantized: bool, op_package_options: Any) -> list[CompileSpec]:
    kind = get_backend_type(config.backend)
    if kind is QnnExecuTorchBackendType.kHtpBackend:
        mode = QnnExecuTorchHtpPerformanceMode(config.htp_performance_mode)
        options = generate_htp_compiler_spec(not is_quantized, htp_performance_mode=mode)
    elif kind is QnnExecuTorchBackendType.kGpuBackend:
        options = generate_gpu_compiler_spec()
    else:
        options = generate_lpai_compiler_spec()
    return generate_qnn_executorch_compiler_spec(
        get_soc_to_chipset_map()[config.soc_model],
        options,
        online_prepare=config.online_prepare,
        dump_intermediate_outputs=config.dump_intermediate_outputs,
        profile_level=config.profile_level,
        shared_buffer=config.shared_buffer,
        op_package_options=op_package_options,
    )
