# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Documented path: the version of the SDK that QNN_SDK_ROOT names."""

from __future__ import annotations

from packaging.version import Version

from executorch.backends.qualcomm.aot import sdk
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchBackendType


def get_qnn_lib_name(backend_type: QnnExecuTorchBackendType) -> str:
    """Such as libQnnHtp.so."""
    return sdk.LIBRARIES[backend_type]


def get_sdk_build_id() -> str:
    """Such as 2.37.0.250724. EnvironmentError without the SDK."""
    found = sdk.version()
    if not found:
        raise OSError(sdk.why_missing() or f"no file in {sdk.root()} has the SDK's version")
    return found


def is_qnn_sdk_version_less_than(target_version: str) -> bool:
    return Version(get_sdk_build_id()) < Version(target_version)


def is_qnn_sdk_version_greater_than(target_version: str) -> bool:
    return Version(get_sdk_build_id()) > Version(target_version)
