# SPDX-License-Identifier: BSD-3-Clause
"""Which backends this machine can lower to."""

import importlib.util
import platform


def is_fbcode() -> bool:
    """False: this package is built outside of that repository."""
    return False


def is_supported_platform_for_coreml_lowering() -> bool:
    """Core ML's compiler runs on macOS and, to lower alone, on Linux; its backend must be installed."""
    return platform.system() in ("Darwin", "Linux") and _is_installed(
        "executorch.backends.apple.coreml"
    )


def is_supported_platform_for_qnn_lowering() -> bool:
    """Qualcomm's compiler runs on Linux on x86; its backend must be installed."""
    return (
        platform.system() == "Linux"
        and platform.machine().lower() in ("x86_64", "amd64")
        and _is_installed("executorch.backends.qualcomm")
    )


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False
