# SPDX-License-Identifier: BSD-3-Clause
"""The build's stand-ins of the SDK: programs are compiled by them, and run on them in the Python runtime."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import export

from executorch.backends import qualcomm
from executorch.backends.qualcomm.aot import native, sdk
from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.serialization.compile_specs import KEY, options_in
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchBackendType
from executorch.backends.qualcomm.serialization.qc_schema_serialize import option_to_flatbuffer
from executorch.backends.qualcomm.utils.utils import (
    QcomChipset,
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
)
from executorch.backends.test.built import build_folder, use_build
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.extension.pybindings import libraries
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

Models = nn.Module | Mapping[str, nn.Module]


def root() -> str:
    return str(build_folder() / "qnn_stand_in_sdk")


def why_missing() -> str:
    """Why the build has none; empty when it has."""
    use_build(qualcomm)
    before = os.environ.get(sdk.VARIABLE)
    os.environ[sdk.VARIABLE] = root()
    try:
        backend = QnnExecuTorchBackendType.kHtpBackend
        return sdk.why_missing() or native.why_missing(sdk.library(backend))
    finally:
        os.environ.pop(sdk.VARIABLE)
        if before is not None:
            os.environ[sdk.VARIABLE] = before


@pytest.fixture
def stand_in_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sdk.VARIABLE, root())


def specs(use_fp16: bool = True, weight_sharing: bool = False, **options: Any) -> list[CompileSpec]:
    htp = generate_htp_compiler_spec(use_fp16, use_weight_sharing=weight_sharing)
    return generate_qnn_executorch_compiler_spec(QcomChipset.SM8650, htp, **options)


def specs_with_library(path: str = "", **options: Any) -> list[CompileSpec]:
    """Which name the library, the stand-in's if it is not given: no variable has to be set."""
    named = options_in(specs(**options))
    named.library_path = path or str(Path(root()) / sdk.HOST / "libQnnHtp.so")
    return [CompileSpec(KEY, option_to_flatbuffer(named))]


def lowered(
    models: Models, inputs: Sequence[torch.Tensor], compile_specs: list[CompileSpec] | None = None
) -> EdgeProgramManager:
    methods = models if isinstance(models, Mapping) else {"forward": models}
    programs = {name: export(each, tuple(inputs), strict=True) for name, each in methods.items()}
    partitioner = QnnPartitioner(specs() if compile_specs is None else compile_specs)
    return to_edge_transform_and_lower(programs, partitioner=[partitioner])


def run(
    manager: EdgeProgramManager, inputs: Sequence[torch.Tensor], method: str = "forward"
) -> list[torch.Tensor]:
    libraries.load(build_folder() / "libqnn_executorch_backend.so")
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    return list(program.run_method(method, tuple(inputs)))
