# SPDX-License-Identifier: BSD-3-Clause
"""What the compile spec says, as users write it, and the SoCs. qc_compiler_spec.fbs has the same names in bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class HtpArch(IntEnum):
    NONE = 0
    V68 = 68
    V69 = 69
    V73 = 73
    V75 = 75
    V79 = 79
    V81 = 81


class LpaiHardwareVersion(IntEnum):
    NONE = 0
    V6 = 6
    V7 = 7


class QcomChipset(IntEnum):
    UNKNOWN_SM = 0
    SM8350 = 30
    SM8450 = 36
    SA8295 = 39
    SM8475 = 42
    SM8550 = 43
    SXR1230P = 45
    SSG2115P = 46
    SA8255 = 52
    SXR2230P = 53
    SM8650 = 57
    SSG2125P = 58
    SM8750 = 69
    SA8797 = 72
    SXR2330P = 75
    QCS9100 = 77
    SM8850 = 87
    QCM6490 = 93
    SAR2230P = 95
    SW6100 = 96
    SM8845 = 97


class QnnExecuTorchGpuPerformanceMode(IntEnum):
    kGpuPerfHintHigh = 0
    kGpuPerfHintNormal = 1
    kGpuPerfHintLow = 2


class QnnExecuTorchGpuPrecision(IntEnum):
    kGpuPrecisionFp32 = 0
    kGpuPrecisionFp16 = 1
    kGpuPrecisionHybrid = 2
    kGpuPrecisionUserProvided = 3


class QnnExecuTorchHtpPerformanceMode(IntEnum):
    kHtpDefault = 0
    kHtpSustainedHighPerformance = 1
    kHtpBurst = 2
    kHtpHighPerformance = 3
    kHtpPowerSaver = 4
    kHtpLowPowerSaver = 5
    kHtpHighPowerSaver = 6
    kHtpLowBalanced = 7
    kHtpBalanced = 8


class QnnExecuTorchHtpPrecision(IntEnum):
    kHtpQuantized = 0
    kHtpFp16 = 1


class QnnExecuTorchHtpPdSession(IntEnum):
    kHtpUnsignedPd = 0
    kHtpSignedPd = 1


class QnnExecuTorchBackendType(IntEnum):
    """Its text is gpu, htp, dsp, lpai or undefined."""

    kUndefinedBackend = 0
    kGpuBackend = 1
    kHtpBackend = 2
    kDspBackend = 3
    kLpaiBackend = 4

    def __str__(self) -> str:
        return self.name.removeprefix("k").removesuffix("Backend").lower()


class QnnExecuTorchLpaiClientPerf(IntEnum):
    kUndefined = 0
    kRealTime = 1
    kNonRealTime = 2


class QnnExecuTorchLpaiCoreAffinity(IntEnum):
    kUndefined = 0
    kSoft = 1
    kHard = 2


class QnnExecuTorchLpaiTargetEnv(IntEnum):
    kX86 = 0
    kArm = 1
    kAdsp = 2


class QnnExecuTorchLogLevel(IntEnum):
    kLogOff = 0
    kLogLevelError = 1
    kLogLevelWarn = 2
    kLogLevelInfo = 3
    kLogLevelVerbose = 4
    kLogLevelDebug = 5


class QnnExecuTorchProfileLevel(IntEnum):
    kProfileOff = 0
    kProfileBasic = 1
    kProfileDetailed = 2
    kProfileOptrace = 3


class QnnExecuTorchOpPackageTarget(IntEnum):
    UNKNOWN = 0
    CPU = 1
    HTP = 2


class QnnExecuTorchOpPackagePlatform(IntEnum):
    UNKNOWN = 0
    X86_64 = 1
    AARCH64_ANDROID = 2


@dataclass
class HtpInfo:
    htp_arch: HtpArch = HtpArch.NONE
    vtcm_size_in_mb: int = 0


@dataclass
class LpaiInfo:
    lpai_hardware_version: LpaiHardwareVersion = LpaiHardwareVersion.NONE


@dataclass
class SocInfo:
    soc_model: QcomChipset = QcomChipset.UNKNOWN_SM
    htp_info: HtpInfo = field(default_factory=HtpInfo)
    lpai_info: LpaiInfo | None = None


@dataclass
class QnnExecuTorchGpuBackendOptions:
    performance_mode: QnnExecuTorchGpuPerformanceMode = (
        QnnExecuTorchGpuPerformanceMode.kGpuPerfHintHigh
    )
    precision: QnnExecuTorchGpuPrecision = QnnExecuTorchGpuPrecision.kGpuPrecisionUserProvided
    use_memory_optimizations: bool = True
    use_node_optimizations: bool = True
    use_queue_recording: bool = True
    use_weight_sharing: bool = False


@dataclass
class QnnExecuTorchHtpBackendOptions:
    """`max_sf_buf_size`: of the spill and fill buffer that several contexts share."""

    max_sf_buf_size: int = 0
    performance_mode: QnnExecuTorchHtpPerformanceMode = QnnExecuTorchHtpPerformanceMode.kHtpDefault
    precision: QnnExecuTorchHtpPrecision = QnnExecuTorchHtpPrecision.kHtpQuantized
    pd_session: QnnExecuTorchHtpPdSession = QnnExecuTorchHtpPdSession.kHtpUnsignedPd
    use_conv_hmx: bool = True
    use_dlbc: bool = False
    use_fold_relu: bool = True
    use_multi_contexts: bool = False
    use_weight_sharing: bool = False
    use_slc_allocator: bool = False


@dataclass
class QnnExecuTorchLpaiBackendOptions:
    fps: int = 1
    ftrt_ratio: int = 10
    client_perf_type: QnnExecuTorchLpaiClientPerf = QnnExecuTorchLpaiClientPerf.kRealTime
    affinity: QnnExecuTorchLpaiCoreAffinity = QnnExecuTorchLpaiCoreAffinity.kSoft
    core_selection: int = 0
    target_env: QnnExecuTorchLpaiTargetEnv = QnnExecuTorchLpaiTargetEnv.kArm


@dataclass
class QnnExecuTorchBackendOptions:
    """One of the last three, of the type."""

    backend_type: QnnExecuTorchBackendType
    htp_options: QnnExecuTorchHtpBackendOptions | None = None
    gpu_options: QnnExecuTorchGpuBackendOptions | None = None
    lpai_options: QnnExecuTorchLpaiBackendOptions | None = None


@dataclass
class QnnExecuTorchOpPackageInfo:
    """`custom_op_name`: of torch; `qnn_op_type_name`: of the package's operator."""

    op_package_name: str = ""
    op_package_path: str = ""
    interface_provider: str = ""
    target: QnnExecuTorchOpPackageTarget = QnnExecuTorchOpPackageTarget.UNKNOWN
    custom_op_name: str = ""
    qnn_op_type_name: str = ""
    platform: QnnExecuTorchOpPackagePlatform = QnnExecuTorchOpPackagePlatform.UNKNOWN


@dataclass
class QnnExecuTorchOpPackageOptions:
    op_package_infos: list[QnnExecuTorchOpPackageInfo] = field(default_factory=list)


@dataclass
class QnnExecuTorchOptions:
    soc_info: SocInfo
    backend_options: QnnExecuTorchBackendOptions
    library_path: str = ""
    log_level: QnnExecuTorchLogLevel = QnnExecuTorchLogLevel.kLogOff
    online_prepare: bool = False
    dump_intermediate_outputs: bool = False
    profile_level: QnnExecuTorchProfileLevel = QnnExecuTorchProfileLevel.kProfileOff
    shared_buffer: bool = False
    is_from_context_binary: bool = False
    saver: bool = False
    saver_output_dir: str = "saver_output"
    op_package_options: QnnExecuTorchOpPackageOptions = field(
        default_factory=QnnExecuTorchOpPackageOptions
    )
    use_mha2sha: bool = False


_LPAI_V6 = LpaiInfo(LpaiHardwareVersion.V6)
# SoC, its NPU, its memory on the chip in MB, its low-power AI processor
_SOCS = (
    (QcomChipset.SA8295, HtpArch.V68, 8, None),
    (QcomChipset.SA8797, HtpArch.V81, 16, None),
    (QcomChipset.SM8350, HtpArch.V68, 4, None),
    (QcomChipset.SM8450, HtpArch.V69, 8, None),
    (QcomChipset.SM8475, HtpArch.V69, 8, None),
    (QcomChipset.SM8550, HtpArch.V73, 8, None),
    (QcomChipset.SA8255, HtpArch.V73, 8, None),
    (QcomChipset.SM8650, HtpArch.V75, 8, None),
    (QcomChipset.SM8750, HtpArch.V79, 8, None),
    (QcomChipset.SM8850, HtpArch.V81, 8, _LPAI_V6),
    (QcomChipset.SSG2115P, HtpArch.V73, 2, None),
    (QcomChipset.SSG2125P, HtpArch.V73, 2, None),
    (QcomChipset.SXR1230P, HtpArch.V73, 2, None),
    (QcomChipset.SXR2230P, HtpArch.V69, 8, None),
    (QcomChipset.SXR2330P, HtpArch.V79, 8, None),
    (QcomChipset.QCS9100, HtpArch.V73, 8, None),
    (QcomChipset.SAR2230P, HtpArch.V81, 4, _LPAI_V6),
    (QcomChipset.SW6100, HtpArch.V81, 4, None),
    (QcomChipset.QCM6490, HtpArch.V68, 2, None),
    (QcomChipset.SM8845, HtpArch.V81, 8, None),
)
_soc_info_table = {soc: SocInfo(soc, HtpInfo(arch, vtcm), lpai) for soc, arch, vtcm, lpai in _SOCS}
