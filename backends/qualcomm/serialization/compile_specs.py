# SPDX-License-Identifier: BSD-3-Clause
"""The functions that make compile specs, and what reads them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from packaging.version import Version

from executorch.backends.qualcomm.aot import sdk
from executorch.backends.qualcomm.serialization.qc_schema import (
    HtpArch,
    LpaiHardwareVersion,
    QcomChipset,
    QnnExecuTorchBackendOptions,
    QnnExecuTorchBackendType,
    QnnExecuTorchGpuBackendOptions,
    QnnExecuTorchGpuPrecision,
    QnnExecuTorchHtpBackendOptions,
    QnnExecuTorchHtpPerformanceMode,
    QnnExecuTorchHtpPrecision,
    QnnExecuTorchLogLevel,
    QnnExecuTorchLpaiBackendOptions,
    QnnExecuTorchLpaiClientPerf,
    QnnExecuTorchLpaiCoreAffinity,
    QnnExecuTorchLpaiTargetEnv,
    QnnExecuTorchOpPackageOptions,
    QnnExecuTorchOptions,
    QnnExecuTorchProfileLevel,
    SocInfo,
    _soc_info_table,
)
from executorch.backends.qualcomm.serialization.qc_schema_serialize import (
    flatbuffer_to_option,
    option_to_flatbuffer,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.payload.options import OptionError
from executorch.exir.error import ExportErrorType

KEY = "qnn_compile_spec"
_LPAI_SDK = "2.39"


def generate_htp_compiler_spec(
    use_fp16: bool,
    use_dlbc: bool = False,
    use_multi_contexts: bool = False,
    use_weight_sharing: bool = False,
    use_slc_allocator: bool = False,
    htp_performance_mode: QnnExecuTorchHtpPerformanceMode = QnnExecuTorchHtpPerformanceMode.kHtpBurst,
) -> QnnExecuTorchBackendOptions:
    """Of the NPU. `use_fp16`: floats are computed in halves; without it, it is for quantized networks."""
    precision = (
        QnnExecuTorchHtpPrecision.kHtpFp16 if use_fp16 else QnnExecuTorchHtpPrecision.kHtpQuantized
    )
    options = QnnExecuTorchHtpBackendOptions(
        performance_mode=htp_performance_mode,
        precision=precision,
        use_dlbc=use_dlbc,
        use_multi_contexts=use_multi_contexts,
        use_weight_sharing=use_weight_sharing,
        use_slc_allocator=use_slc_allocator,
    )
    return QnnExecuTorchBackendOptions(QnnExecuTorchBackendType.kHtpBackend, htp_options=options)


def generate_gpu_compiler_spec(
    precision: QnnExecuTorchGpuPrecision = QnnExecuTorchGpuPrecision.kGpuPrecisionUserProvided,
    use_memory_optimizations: bool = True,
    use_node_optimizations: bool = True,
    use_queue_recording: bool = True,
    use_weight_sharing: bool = False,
) -> QnnExecuTorchBackendOptions:
    """Of the GPU."""
    options = QnnExecuTorchGpuBackendOptions(
        precision=precision,
        use_memory_optimizations=use_memory_optimizations,
        use_node_optimizations=use_node_optimizations,
        use_queue_recording=use_queue_recording,
        use_weight_sharing=use_weight_sharing,
    )
    return QnnExecuTorchBackendOptions(QnnExecuTorchBackendType.kGpuBackend, gpu_options=options)


def generate_lpai_compiler_spec(
    fps: int = 1,
    ftrt_ratio: int = 10,
    client_perf_type: QnnExecuTorchLpaiClientPerf = QnnExecuTorchLpaiClientPerf.kRealTime,
    affinity: QnnExecuTorchLpaiCoreAffinity = QnnExecuTorchLpaiCoreAffinity.kSoft,
    core_selection: int = 0,
    target_env: QnnExecuTorchLpaiTargetEnv = QnnExecuTorchLpaiTargetEnv.kArm,
) -> QnnExecuTorchBackendOptions:
    """Of the low-power AI processor."""
    options = QnnExecuTorchLpaiBackendOptions(
        fps, ftrt_ratio, client_perf_type, affinity, core_selection, target_env
    )
    return QnnExecuTorchBackendOptions(QnnExecuTorchBackendType.kLpaiBackend, lpai_options=options)


def generate_qnn_executorch_compiler_spec(
    soc_model: QcomChipset,
    backend_options: QnnExecuTorchBackendOptions,
    debug: bool = False,
    saver: bool = False,
    online_prepare: bool = False,
    dump_intermediate_outputs: bool = False,
    profile_level: int = 0,
    shared_buffer: bool = False,
    is_from_context_binary: bool = False,
    op_package_options: QnnExecuTorchOpPackageOptions | None = None,
    use_mha2sha: bool = False,
) -> list[CompileSpec]:
    """One spec, of the key qnn_compile_spec. `profile_level`: 3 of each cycle, 2 detailed. ValueError for options that
    do not go together, and for an unknown SoC."""
    if soc_model not in _soc_info_table:
        raise ValueError(f"unknown SoC model for QNN: {soc_model}")
    _check(soc_model, backend_options, online_prepare)
    options = QnnExecuTorchOptions(
        _soc_info_table[soc_model],
        backend_options,
        log_level=QnnExecuTorchLogLevel.kLogLevelDebug
        if debug
        else QnnExecuTorchLogLevel.kLogLevelError,
        online_prepare=online_prepare,
        dump_intermediate_outputs=dump_intermediate_outputs,
        profile_level=_profile_level(profile_level),
        shared_buffer=shared_buffer,
        is_from_context_binary=is_from_context_binary,
        saver=saver,
        use_mha2sha=use_mha2sha,
    )
    if saver:
        options.library_path = "libQnnSaver.so"
    if op_package_options is not None and op_package_options.op_package_infos:
        options.op_package_options = op_package_options
    return [CompileSpec(KEY, option_to_flatbuffer(options))]


def _check(soc: QcomChipset, backend: QnnExecuTorchBackendOptions, online_prepare: bool) -> None:
    htp = backend.htp_options
    if online_prepare and htp is not None and htp.use_multi_contexts:
        raise ValueError(
            "'use_multi_context' could not function in online prepare mode, please set 'online_prepare' to False"
        )
    if backend.backend_type != QnnExecuTorchBackendType.kLpaiBackend:
        return
    if online_prepare:
        raise ValueError("LPAI does not support online prepare.")
    known = [each.name for each, info in _soc_info_table.items() if info.lpai_info is not None]
    if soc.name not in known:
        raise ValueError(
            f"Target soc_model({soc.name}) doesn't support LPAI backend. \nPlease choose the following SOC: {known}"
        )
    found = sdk.version()
    if found and Version(found) < Version(_LPAI_SDK):
        raise ValueError(f"LPAI needs the SDK of version {_LPAI_SDK} or later, found {found}")


def _profile_level(level: int) -> QnnExecuTorchProfileLevel:
    if level == QnnExecuTorchProfileLevel.kProfileBasic:
        warnings.warn(
            "profile_level 1 is deprecated and is off: 2 is detailed, 3 of each cycle",
            UserWarning,
            stacklevel=3,
        )
        return QnnExecuTorchProfileLevel.kProfileOff
    return QnnExecuTorchProfileLevel(level)


def options_in(specs: Iterable[CompileSpec]) -> QnnExecuTorchOptions:
    """OptionError for another key, and where there is none."""
    found = None
    for spec in specs:
        if spec.key != KEY:
            raise OptionError(
                ExportErrorType.NOT_SUPPORTED,
                f"unknown compiler spec key value: {spec.key}, expected {KEY}",
            )
        found = flatbuffer_to_option(spec.value)
    if found is None:
        raise OptionError(
            ExportErrorType.MISSING_PROPERTY,
            f"expected a compile spec {KEY}: generate_qnn_executorch_compiler_spec() makes it",
        )
    return found


def get_soc_to_chipset_map() -> dict[str, QcomChipset]:
    return {each.name: each for each in _soc_info_table}


def get_soc_to_htp_arch_map() -> dict[str, HtpArch]:
    return {each.name: info.htp_info.htp_arch for each, info in _soc_info_table.items()}


def get_soc_to_lpai_hw_ver_map() -> dict[str, LpaiHardwareVersion]:
    """Of those SoCs that have the processor."""
    return {each.name: _lpai(info) for each, info in _soc_info_table.items() if info.lpai_info}


def _lpai(info: SocInfo) -> LpaiHardwareVersion:
    return (
        LpaiHardwareVersion.NONE if info.lpai_info is None else info.lpai_info.lpai_hardware_version
    )
