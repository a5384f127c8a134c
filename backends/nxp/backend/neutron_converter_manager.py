# SPDX-License-Identifier: BSD-3-Clause
"""The door to NXP's SDK: `eiq_neutron_sdk` is imported when a model is converted, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from executorch.backends.nxp.backend.convert_model import converted
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.error import ExportErrorType

SDK, DISTRIBUTION, VERSIONS = "eiq_neutron_sdk", "eiq-neutron-sdk", ">=3.1,<4"
INDEX_VARIABLE = "EIQ_PYPI_URL"
GET_SDK = (
    f"pip install --index-url ${INDEX_VARIABLE} '{DISTRIBUTION}{VERSIONS}', from the package index that NXP names to "
    "its users"
)
_SCRIPT = Path(__file__).with_name("convert_model.py")
_LEFT_OUT_PASSES = "HoistSliceAboveTranspose,MergeTranspose"
_KERNELS = "_kernel_selection"


def is_installed() -> bool:
    return SDK in sys.modules or find_spec(SDK) is not None


class NeutronConverterManager:
    """`dump_kernel_selection_code`: leaves _kernel_selection_TAG.c in the working folder. `in_process`: the converter,
    which may crash, runs in this process."""

    in_process: ClassVar[bool] = False

    def __init__(self, dump_kernel_selection_code: bool = False) -> None:
        self.dump_kernel_selection_code = dump_kernel_selection_code

    def get_converter(self) -> Any:
        return self._module("neutron_converter")

    def get_library_utils(self) -> Any:
        return self._module("neutron_library_utils")

    def verify_target(self, target: str) -> None:
        """ValueError for a target that the SDK does not have: its converter would crash."""
        library = self.get_library_utils()
        if not library.isNeutronTarget(target):
            known = [each.name for each in library.getNeutronTargets()]
            raise ValueError(f"Target `{target}` is not a valid target. Must be one of `{known}`.")

    def convert(
        self,
        tflite_model: bytes,
        target: str,
        delegation_tag: str,
        fetch_constants_to_sram: bool = False,
        use_profiling: bool = False,
    ) -> bytes:
        """RuntimeError where the converter ends without a result."""
        self.verify_target(target)
        settings = {
            "target": target,
            "options": {
                "minNumOpsPerGraph": 1,
                "excludeGraphPasses": _LEFT_OUT_PASSES,
                "fetchConstantsToSRAM": fetch_constants_to_sram,
                "dumpKernelSelectionCode": self.dump_kernel_selection_code,
            },
            "profiling": _PROFILING if use_profiling else {},
        }
        if self.in_process:
            return converted(self.get_converter(), bytes(tflite_model), settings)
        with tempfile.TemporaryDirectory(prefix="executorch-neutron-") as folder:
            made = self._converted(Path(folder), settings, bytes(tflite_model))
            code = Path(folder, f"{_KERNELS}.c")
            if self.dump_kernel_selection_code and code.is_file():
                shutil.move(code, Path.cwd() / f"{_KERNELS}_{delegation_tag}.c")
        return made

    def _converted(self, folder: Path, settings: dict[str, Any], model: bytes) -> bytes:
        files = [folder / name for name in ("settings.json", "in.tflite", "out.tflite")]
        files[0].write_text(json.dumps(settings))
        files[1].write_bytes(model)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        ran = subprocess.run(
            [sys.executable, str(_SCRIPT), *map(str, files)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if ran.returncode or not files[2].is_file():
            last = [line.strip() for line in ran.stderr.splitlines() if line.strip()][-1:]
            raise RuntimeError(
                f"Neutron converter module terminated unexpectedly with exit code {ran.returncode}"
                + "".join(f": {line}" for line in last)
            )
        return files[2].read_bytes()

    def _module(self, name: str) -> Any:
        if not is_installed():
            raise MissingCompiler(
                ExportErrorType.MISSING_PROPERTY, f"the eIQ Neutron SDK is not installed: {GET_SDK}"
            )
        return import_module(f"{SDK}.{name}")


_PROFILING = {
    "useProfiling": True,
    "dumpAfterImport": "console",
    "dumpAfterGenerate": "console",
    "verbose": True,
}
