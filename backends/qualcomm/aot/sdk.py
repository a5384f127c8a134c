# SPDX-License-Identifier: BSD-3-Clause
"""The user's installation of the SDK: found when it is asked for, never at import."""

from __future__ import annotations

import os
import re
from pathlib import Path

from packaging.version import Version

from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchBackendType

VARIABLE = "QNN_SDK_ROOT"
LEAST_VERSION = "2.28"
HOST = "lib/x86_64-linux-clang"
LIBRARIES = {
    QnnExecuTorchBackendType.kHtpBackend: "libQnnHtp.so",
    QnnExecuTorchBackendType.kGpuBackend: "libQnnGpu.so",
    QnnExecuTorchBackendType.kDspBackend: "libQnnDsp.so",
    QnnExecuTorchBackendType.kLpaiBackend: "libQnnLpai.so",
}
GET_SDK = (
    "install Qualcomm's AI Engine Direct SDK (2.37 is recommended) and set QNN_SDK_ROOT to the folder that has "
    "QNN_README.txt"
)
_VERSION = re.compile(r"\b(\d+\.\d+\.\d+(?:\.\d+)*)")
_SAYS_VERSION = ("sdk.yaml", "include/QNN/QnnSdkBuildId.h")


def root() -> Path | None:
    """The folder that the variable names."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def version() -> str:
    """Such as 2.37.0.250724, as a file of the SDK or its folder's name has it; empty for what is no SDK."""
    folder = root()
    if folder is None or not folder.is_dir():
        return ""
    files = [folder / each for each in _SAYS_VERSION]
    texts = [each.read_text(errors="replace") for each in files if each.is_file()]
    found = filter(None, map(_VERSION.search, [*texts, folder.resolve().name]))
    return next((each.group(1) for each in found), "")


def library(backend: QnnExecuTorchBackendType) -> Path:
    """Of a backend on this computer; the variable must be set."""
    return root() / HOST / LIBRARIES[backend]


def why_missing(backend: QnnExecuTorchBackendType = QnnExecuTorchBackendType.kHtpBackend) -> str:
    """Which variable, file or version is missing to compile for a backend, and how to get it; else empty."""
    folder = root()
    if folder is None:
        return f"{VARIABLE} is not set: {GET_SDK}"
    file = library(backend)
    if not file.is_file():
        return f"{VARIABLE} is {folder}, where {file.relative_to(folder)} is not: {GET_SDK}"
    found = version()
    if not found or Version(found) < Version(LEAST_VERSION):
        return f"{VARIABLE} is {folder}, of version {found or 'unknown'}, expected at least {LEAST_VERSION}: {GET_SDK}"
    return ""
