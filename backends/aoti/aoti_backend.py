# SPDX-License-Identifier: BSD-3-Clause
"""`AotiBackend`: what a backend that compiles with AOTInductor says of itself, and the compile specs that all have."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from typing import Any

from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType


class COMPILE_SPEC_KEYS(Enum):
    METHOD_NAME = "method_name"


class MissingFallbackKernels(ExportError, RuntimeError):
    """Kernels that a compiled method would call, and that the runtime half does not have."""


class AotiBackend:
    """A mixin beside BackendDetails."""

    @classmethod
    def get_device_name(cls) -> str:
        raise NotImplementedError(f"{cls.__name__}.get_device_name")

    @classmethod
    def get_supported_fallback_kernels(cls) -> Collection[str]:
        """Of inductor's external kernels those that the runtime half has, by their names in its wrapper."""
        raise NotImplementedError(f"{cls.__name__}.get_supported_fallback_kernels")

    @classmethod
    def get_decomposition_table(cls) -> dict[Any, Any]:
        return {}

    @classmethod
    def get_custom_passes(cls, compile_specs: Sequence[CompileSpec]) -> list[Any]:
        return []

    @classmethod
    def save_data_externally(cls) -> bool:
        """Whether weights go to a file beside the program."""
        return False

    @classmethod
    def check_fallback_kernels(cls, method: str, called: Collection[str]) -> None:
        missing = sorted(set(called) - set(cls.get_supported_fallback_kernels()))
        if missing:
            raise MissingFallbackKernels(
                ExportErrorType.NOT_SUPPORTED,
                f"Method {method} missing fallback kernels ({len(missing)} total): {', '.join(missing)}",
            )

    @staticmethod
    def generate_method_name_compile_spec(method_name: str) -> CompileSpec:
        return CompileSpec(COMPILE_SPEC_KEYS.METHOD_NAME.value, method_name.encode())

    @staticmethod
    def method_name_from_compile_specs(compile_specs: Sequence[CompileSpec]) -> str:
        """RuntimeError where none says it."""
        for spec in compile_specs:
            if spec.key == COMPILE_SPEC_KEYS.METHOD_NAME.value:
                return bytes(spec.value).decode()
        raise RuntimeError(f"Could not find method name in compile specs: {compile_specs}")
