# SPDX-License-Identifier: BSD-3-Clause
"""`AotiBackend`: how a program becomes a library that AOTInductor wrote, beside its constants. What a backend's device
asks for otherwise are its hooks, whose names third parties override."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import Enum
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.nn.attention import SDPBackend, sdpa_kernel

from executorch.backends.aoti import inductor, payload
from executorch.backends.aoti.passes.replace_view_copy_with_view import ReplaceViewCopyWithViewPass
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import PreprocessResult
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
    def get_decomposition_table(cls) -> dict[Any, Callable[..., Any]]:
        """Run before the compiler has its own."""
        return {}

    @classmethod
    def get_aoti_compile_options(cls, compile_specs: Sequence[CompileSpec]) -> dict[str, Any]:
        """What `torch._inductor.aot_compile` is told."""
        return dict(inductor.OPTIONS)

    @classmethod
    def get_custom_passes(cls, compile_specs: Sequence[CompileSpec]) -> list[Any]:
        return []

    @classmethod
    def save_data_externally(cls) -> bool:
        """Whether constants go to a data file of their own."""
        return False

    @classmethod
    @contextlib.contextmanager
    def get_extra_aoti_compile_context_manager(
        cls, compile_specs: Sequence[CompileSpec] | None = None
    ) -> Iterator[None]:
        yield

    @classmethod
    def codesign_so(cls, so_path: str, compile_specs: Sequence[CompileSpec]) -> None:
        """Signs the library, where a system wants that."""

    @classmethod
    def move_program_to_device(
        cls, edge_program: ExportedProgram, device: str, compile_specs: Sequence[CompileSpec]
    ) -> ExportedProgram:
        from torch.export.passes import move_to_device_pass

        return move_to_device_pass(edge_program, device)

    @classmethod
    def release_moved_tensors(
        cls, program: ExportedProgram, compile_specs: Sequence[CompileSpec]
    ) -> None:
        """Gives the device's memory back behind the compiler."""

    @classmethod
    def check_ready(cls, compile_specs: Sequence[CompileSpec]) -> None:
        """ExportError for what is missing to compile for this device, before any work is done."""

    @classmethod
    def link(cls, files: list[str], compile_specs: Sequence[CompileSpec]) -> tuple[str, str]:
        """Of the files that inductor wrote, the library and the constants."""
        return inductor.library_and_constants(files)

    @classmethod
    def collect_unsupported_fallback_kernels(
        cls, missing: set[str]
    ) -> contextlib.AbstractContextManager[None]:
        """While it is open, external kernels that compiled code calls and the runtime lacks are added to `missing`."""
        return inductor.collect_external_kernels(missing, cls.get_supported_fallback_kernels())

    @classmethod
    def check_fallback_kernels(cls, method: str, called: Collection[str]) -> None:
        missing = sorted(set(called) - set(cls.get_supported_fallback_kernels()))
        if missing:
            raise MissingFallbackKernels(
                ExportErrorType.NOT_SUPPORTED,
                f"Method {method} missing fallback kernels ({len(missing)} total): {', '.join(missing)}",
            )

    @classmethod
    def preprocess(
        cls, edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        cls.check_ready(compile_specs)
        moved = cls.move_program_to_device(edge_program, cls.get_device_name(), compile_specs)
        for each in (ReplaceViewCopyWithViewPass(), *cls.get_custom_passes(compile_specs)):
            each(moved.graph_module)
        missing: set[str] = set()
        with (
            inductor.scratch_folder() as folder,
            cls.get_extra_aoti_compile_context_manager(compile_specs),
            torch.no_grad(),
            # Attention as matmuls: its fused kernels are PyTorch's.
            sdpa_kernel([SDPBackend.MATH]),
        ):
            with cls.collect_unsupported_fallback_kernels(missing):
                options = cls.get_aoti_compile_options(compile_specs)
                files = inductor.compile_program(
                    moved, cls.get_decomposition_table(), options, folder
                )
            cls.check_fallback_kernels(_method_of(compile_specs), missing)
            library_path, constants_path = cls.link(files, compile_specs)
            cls.codesign_so(library_path, compile_specs)
            library, constants = map(inductor.taken, (library_path, constants_path))
        cls.release_moved_tensors(moved, compile_specs)
        return cls._result(library, constants)

    @classmethod
    def _result(cls, library: bytes, constants: bytes) -> PreprocessResult:
        store = NamedDataStore()
        keys = payload.Keys(
            hashlib.sha256(library).hexdigest() + payload.LIBRARY_ENDING,
            hashlib.sha256(constants).hexdigest() + payload.CONSTANTS_ENDING,
        )
        tag = f"aoti_{cls.get_device_name()}_blob" if cls.save_data_externally() else None
        store.add_named_data(keys.library, library)
        store.add_named_data(keys.constants, constants, external_tag=tag)
        return PreprocessResult(keys.pack(), data_store_output=store.get_named_data_store_output())

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


def _method_of(compile_specs: Sequence[CompileSpec]) -> str:
    """For messages."""
    try:
        return AotiBackend.method_name_from_compile_specs(compile_specs)
    except RuntimeError:
        return "without a name"
