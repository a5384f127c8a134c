# SPDX-License-Identifier: BSD-3-Clause
"""Compile specs of CudaBackend, all of them text, and what inductor is told for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from executorch.backends.aoti import inductor
from executorch.exir.backend.compile_spec_schema import CompileSpec

TARGET_DEVICE = "target_device"
# A switch of inductor's each: what `ON` and `OFF` are said to, and what it is when nobody says.
_SWITCHES: Mapping[str, tuple[str, bool | None]] = {
    "emulate_precision_casts": ("emulate_precision_casts", True),
    "max_autotune": ("max_autotune", True),
    "autotune_at_compile_time": ("triton.autotune_at_compile_time", None),
    "autotune_pointwise": ("triton.autotune_pointwise", None),
}
_MODES = ("ON", "OFF")


def text_of(specs: Sequence[CompileSpec]) -> dict[str, str]:
    return {spec.key: bytes(spec.value).decode() for spec in specs}


def is_on(specs: Sequence[CompileSpec], key: str, default: bool) -> bool:
    """ValueError for what is neither ON nor OFF."""
    value = text_of(specs).get(key, _MODES[not default])
    if value.upper() not in _MODES:
        raise ValueError(f"Invalid {key}: {value}. Expected 'ON' or 'OFF'.")
    return value.upper() == "ON"


def inductor_options(specs: Sequence[CompileSpec], has_ptxas: bool) -> dict[str, Any]:
    """`has_ptxas`: whether code for several kinds of GPUs can be made."""
    given = text_of(specs)
    switches = {
        key: is_on(specs, name, bool(default))
        for name, (key, default) in _SWITCHES.items()
        if name in given or default is not None
    }
    return {
        **inductor.OPTIONS,
        **switches,
        "aot_inductor.emit_multi_arch_kernel": has_ptxas,
        "max_autotune_gemm_backends": "TRITON",
        "max_autotune_conv_backends": "TRITON",
        **_platform_options(given),
    }


def _platform_options(given: Mapping[str, str]) -> dict[str, Any]:
    platform, shims = given.get("platform", "linux"), given.get("shim_library_path")
    if platform == "linux":
        assert shims is None, "shim_library_path is of platform=windows: leave it out"
        return {}
    if platform != "windows":
        raise ValueError(f"Invalid platform: {platform}. Expected 'linux' or 'windows'.")
    if shims is None:
        raise ValueError(
            "platform=windows needs shim_library_path, the folder of aoti_cuda_shims.lib"
        )
    return {
        "aot_inductor.cross_target_platform": "windows",
        "aot_inductor.aoti_shim_library": "aoti_cuda_shims",
        "aot_inductor.aoti_shim_library_path": shims,
        "aot_inductor.precompile_headers": False,
    }
