# SPDX-License-Identifier: BSD-3-Clause
"""`ArmCompileSpec`: what users tell the compiler, as an object and as the compile specs of a program.

Keys and their order are those of programs of ExecuTorch 1.4."""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from typing_extensions import Self

from executorch.backends.arm.common.pipeline_config import (
    ArmPassPipelineConfig,
    SoftmaxDecompositionConfig,
)
from executorch.backends.arm.tosa.specification import TosaSpecification
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.payload.options import OptionError
from executorch.exir.error import ExportErrorType

_TRUE = ("1", "true", "yes")


@dataclass(init=False)
class ArmCompileSpec(ABC):
    class DebugMode(Enum):
        JSON = 1
        TOSA = 2

    tosa_spec: TosaSpecification
    compiler_flags: list[str] = field(default_factory=list)
    path_for_intermediates: str | None = None
    tosa_debug_mode: DebugMode | None = None
    preserve_io_quantization: bool = False
    tosa_dev_mode: bool = False
    _pipeline_config: ArmPassPipelineConfig | None = field(default=None, compare=False)
    _output_order_workaround: bool = False

    def _set_compile_specs(
        self,
        tosa_spec: TosaSpecification,
        compiler_flags: Sequence[str] = (),
        tosa_dev_mode: bool = False,
    ) -> None:
        self.tosa_spec = tosa_spec
        self.compiler_flags = list(compiler_flags)
        self.path_for_intermediates = None
        self.tosa_debug_mode = None
        self.preserve_io_quantization = False
        self.tosa_dev_mode = tosa_dev_mode
        self._pipeline_config = None
        self._output_order_workaround = False
        self._validate()

    # ---- What a kind of spec says ----

    @classmethod
    @abstractmethod
    def _get_output_format(cls) -> str:
        """The name of what is written."""

    @abstractmethod
    def _validate(self) -> None:
        """Raises ValueError for what makes no sense together."""

    def _more(self) -> Iterator[CompileSpec]:
        """Compile specs of this kind alone."""
        return iter(())

    def _take(self, key: str, value: str) -> None:
        """A compile spec of this kind alone."""
        raise _wrong(f"Unknown key in compile spec: {key}={value}")

    # ---- For users ----

    @classmethod
    def get_output_format(cls) -> str:
        return cls._get_output_format()

    def dump_intermediate_artifacts_to(self, output_path: str | None) -> Self:
        """A folder for the TOSA file and what comes of it."""
        self.path_for_intermediates = output_path
        return self

    def dump_debug_info(self, debug_mode: DebugMode | None) -> Self:
        self.tosa_debug_mode = debug_mode
        return self

    def get_intermediate_path(self) -> str | None:
        return self.path_for_intermediates

    def _get_intermediate_path(self) -> str | None:
        return self.path_for_intermediates

    def set_pass_pipeline_config(self, config: ArmPassPipelineConfig) -> None:
        self._pipeline_config = config

    def _get_pass_pipeline_config(self) -> ArmPassPipelineConfig:
        if self._pipeline_config is None:
            self._pipeline_config = ArmPassPipelineConfig()
            if self.tosa_spec.is_U55_subset:
                self._pipeline_config.softmax = SoftmaxDecompositionConfig.STABLE
        return self._pipeline_config

    def set_output_order_workaround(self, output_order_workaround: bool) -> Self:
        self._output_order_workaround = output_order_workaround
        return self

    def get_output_order_workaround(self) -> bool:
        return self._output_order_workaround

    def _set_preserve_io_quantization(self, enabled: bool) -> Self:
        self.preserve_io_quantization = enabled
        if enabled and not self.tosa_spec.support_float():
            warnings.warn(
                f"preserve_io_quantization is redundant for INT-only TOSA ({self.tosa_spec})",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _set_tosa_dev_mode(self, enabled: bool) -> Self:
        self.tosa_dev_mode = enabled
        return self

    # ---- As compile specs ----

    def _to_list(self) -> list[CompileSpec]:
        return [
            CompileSpec(
                each.key, each.value.encode() if isinstance(each.value, str) else each.value
            )
            for each in self._texts()
        ]

    def _texts(self) -> Iterator[CompileSpec]:
        yield CompileSpec("tosa_spec", str(self.tosa_spec))
        if self.compiler_flags:
            yield CompileSpec("compile_flags", " ".join(self.compiler_flags))
        yield CompileSpec("output_format", self._get_output_format())
        if self.path_for_intermediates is not None:
            yield CompileSpec("debug_artifact_path", self.path_for_intermediates)
        if self.tosa_debug_mode is not None:
            if not self.path_for_intermediates:
                raise ValueError(
                    "dump_debug_info needs a folder: call dump_intermediate_artifacts_to(path), too"
                )
            yield CompileSpec("dump_debug_info", self.tosa_debug_mode.name)
        if not self._output_order_workaround:
            yield CompileSpec("ouput_reorder_workaround", b"")  # spelled as programs have it
        config = self._pipeline_config
        if config is not None and not config.is_default():
            yield CompileSpec("transform_pipeline_config", config.serialize())
        yield CompileSpec("preserve_io_quantization", str(self.preserve_io_quantization))
        if self.tosa_dev_mode:
            yield CompileSpec("tosa_sw_dev_mode", "True")
        yield from self._more()

    @classmethod
    def _from_list(cls, compile_specs: list[CompileSpec]) -> Self:
        found: dict[str, str] = {}
        for each in compile_specs:
            if each.key in found:
                raise _wrong(f"More than one {each.key} entry in compile spec.")
            found[each.key] = bytes(each.value).decode()
        if "tosa_spec" not in found:
            raise _wrong("No tosa_spec in compile spec.")
        wanted = cls._get_output_format()
        if "output_format" not in found:
            raise _wrong(f"No output_format in compile spec, expected '{wanted}'")
        if found["output_format"] != wanted:
            raise _wrong(
                f"Incorrect output format '{found['output_format']}' for {cls.__name__}, expected '{wanted}'"
            )
        made = cls.__new__(cls)
        flags = found.pop("compile_flags", "")
        ArmCompileSpec._set_compile_specs(
            made,
            TosaSpecification.create_from_string(found.pop("tosa_spec")),
            flags.split(" ") if flags else (),
        )
        del found["output_format"]
        made._read(found)
        return made

    def _read(self, found: dict[str, str]) -> None:
        self.path_for_intermediates = found.pop("debug_artifact_path", None)
        mode = found.pop("dump_debug_info", None)
        self.tosa_debug_mode = None if mode is None else self.DebugMode[mode]
        self._output_order_workaround = found.pop("ouput_reorder_workaround", None) is None
        config = found.pop("transform_pipeline_config", None)
        if config is not None:
            self._pipeline_config = ArmPassPipelineConfig.from_dict(json.loads(config))
        self.preserve_io_quantization = _is_true(found.pop("preserve_io_quantization", ""))
        self.tosa_dev_mode = _is_true(found.pop("tosa_sw_dev_mode", ""))
        for key, value in found.items():
            self._take(key, value)


def _wrong(what: str) -> OptionError:
    return OptionError(ExportErrorType.NOT_SUPPORTED, what)


def _is_true(text: str) -> bool:
    return text.lower() in _TRUE
