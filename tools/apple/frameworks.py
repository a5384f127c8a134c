# SPDX-License-Identifier: BSD-3-Clause
"""The frameworks for Apple's systems: one row each, from which come the Swift package, what its targets link, the plan
of the build and its options."""

from __future__ import annotations

from dataclasses import dataclass

_KERNELS = "_ZN10executorch7kernels{}register_{}Ev"


def _registers(library: str) -> str:
    """The C++ symbol of executorch::kernels::register_LIBRARY()."""
    return _KERNELS.format(len(f"register_{library}"), library)


@dataclass(frozen=True)
class Framework:
    name: str
    libraries: tuple[str, ...]  # targets of CMake, merged into one
    symbol: str = ""  # what the package's target refers to, so that the linker takes the library
    option: str = ""  # flag of build_apple_frameworks.sh, and NAME of EXECUTORCH_BUILD_NAME
    headers: str = ""  # folder of headers and module map that goes in
    swift_module: str = ""
    system_frameworks: tuple[str, ...] = ()
    system_libraries: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # other frameworks
    is_product: bool = True
    missing: str = ""  # why this tree cannot build it


FRAMEWORKS = (
    Framework(
        "executorch",
        ("executorch", "executorch_c_static", "executorch_core", "extension_apple", "extension_data_loader",
         "extension_flat_tensor", "extension_memory_allocator", "extension_module_static",
         "extension_named_data_map", "extension_tensor"),
        symbol="executorch_get_api", headers="executorch", swift_module="ExecuTorch",
        system_frameworks=("Foundation",), system_libraries=("c++",), needs=("threadpool",),
    ),
    Framework(
        "executorch_llm",
        ("executorch_c_text", "extension_llm_apple", "extension_llm_runner",
         "extension_llm_sampler", "extension_text_grammar",
         "pcre2", "tokenizers", "utf8proc"),
        symbol="executorch_link_text", headers="executorch_llm",
        swift_module="ExecuTorchLLM", needs=("executorch",),
    ),
    Framework(
        # Threads, and what more than one framework of kernels computes with.
        "threadpool",
        ("cpuinfo", "extension_threadpool", "hwy", "kernels_util_all_deps", "optimized_gemm", "pthreadpool"),
        is_product=False,
    ),
    Framework(
        "backend_coreml", ("backend_disk_cache", "coreml_inmemoryfs", "coreml_util", "coremldelegate"),
        symbol="executorch_coremldelegate", option="coreml",
        system_frameworks=("Accelerate", "CoreML"), system_libraries=("sqlite3",),
    ),
    Framework(
        "backend_mps", ("mpsdelegate",),
        symbol="executorch_mpsdelegate", option="mps",
        missing="the MPS delegate is a later part",
        system_frameworks=("Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph"),
    ),
    Framework(
        "backend_xnnpack",
        ("executorch_xnnpack", "executorch_xnnpack_microkernels", "xnnpack_backend"),
        symbol="executorch_xnnpack_backend", option="xnnpack",
        needs=("threadpool",),
    ),
    Framework(
        "kernels_llm", ("custom_ops", "custom_ops_kernels", "transformer_kernels"),
        symbol=_registers("custom_ops"), option="llm", needs=("kernels_optimized",),
    ),
    Framework(
        "kernels_optimized",
        ("optimized_kernels", "optimized_native_cpu_ops_lib", "portable_kernels"),
        symbol=_registers("optimized_native_cpu_ops_lib"), option="optimized",
        system_frameworks=("Accelerate",), needs=("threadpool",),
    ),
    Framework(
        "kernels_quantized", ("quantized_kernels", "quantized_ops_lib"),
        symbol=_registers("quantized_ops_lib"), option="quantized", needs=("threadpool",),
    ),
    Framework(
        "kernels_torchao", ("torchao_kernels", "torchao_ops_executorch"),
        symbol=_registers("torchao_ops_executorch"), option="torchao", needs=("threadpool",),
    ),
)  # fmt: skip

AVAILABLE = tuple(each for each in FRAMEWORKS if not each.missing)
BUILD_TYPES = ("Release", "Debug")
# Presets of CMake, the folders they are built in, and what Xcode calls the slice.
PLATFORMS = {
    "ios": ("ios", "ios-arm64"),
    "ios-simulator": ("simulator", "ios-arm64-simulator"),
    "macos": ("macos", "macos-arm64"),
}


def named(name: str) -> Framework:
    return next(framework for framework in FRAMEWORKS if framework.name == name)
