# SPDX-License-Identifier: BSD-3-Clause
"""Whole programs through CudaBackend without a GPU: a library of the build (stand_in/compiled.cpp, y = x * scale +
calls before) stands in for what inductor writes, and stand_in/cudart.cpp for NVIDIA's CUDA runtime, whose memory the
host cannot follow."""

from __future__ import annotations

import ctypes
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.aoti import inductor
from executorch.backends.cuda.cuda_backend import CudaBackend
from executorch.backends.cuda.cuda_partitioner import CudaPartitioner
from executorch.backends.test.built import build_folder
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes.propagate_device_config import PropagateDeviceConfig
from executorch.extension.pybindings.portable_lib import (
    _load_for_executorch_from_buffer,
    _set_backend_options,
)
from executorch.test.e2e.build_tree import load_backend

FOLDER = build_folder() / "backends/cuda"
CUDART, COMPILED = FOLDER / "libcudart_stand_in.so", FOLDER / "libcuda_compiled_stand_in.so"
CONSTANTS = struct.pack("8f", 3, 0, 0, 0, 0, 0, 0, 0)

pytestmark = pytest.mark.skipif(
    not COMPILED.exists(), reason="a build without EXECUTORCH_BUILD_CUDA"
)


class Scaled(torch.nn.Module):
    """What the library computes, at its first call."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 3


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ctypes.CDLL:
    """The stand-in's functions, with all that needs a GPU replaced."""

    def compile_program(program: Any, table: Any, options: Any, folder: str) -> list[str]:
        library, constants = Path(folder, "a.wrapper.so"), Path(folder, "a.wrapper_weights.blob")
        shutil.copy(COMPILED, library)
        constants.write_bytes(CONSTANTS)
        return [str(library), str(constants)]

    monkeypatch.setattr(inductor, "compile_program", compile_program)
    monkeypatch.setattr(CudaBackend, "check_ready", lambda specs: None)
    monkeypatch.setattr(
        CudaBackend, "move_program_to_device", lambda program, device, specs: program
    )
    monkeypatch.setenv("EXECUTORCH_CUDA_RUNTIME", str(CUDART))
    load_backend("aoti_cuda_backend")
    return ctypes.CDLL(str(CUDART))


def count(gpu: ctypes.CDLL, what: str) -> int:
    return gpu.cudart_stand_in_count(what.encode())


def lowered(config: ExecutorchBackendConfig | None = None) -> tuple[bytes, bytes]:
    """A program of two methods, and its data file."""
    programs = {name: export(Scaled(), (torch.ones(2),)) for name in ("prefill", "decode")}
    manager = to_edge_transform_and_lower(programs, partitioner=[CudaPartitioner()]).to_executorch(
        config
    )
    (name,) = manager._tensor_data
    assert name == "aoti_cuda_blob"
    return manager.buffer, bytes(manager._tensor_data[name])


def test_programs_run_on_the_device_and_give_all_back(gpu: ctypes.CDLL) -> None:
    program, data = lowered()
    x = torch.tensor([1.0, 2.0])
    for _ in range(3):
        loaded = _load_for_executorch_from_buffer(program, data)
        for calls in range(2):  # each method counts its own
            assert torch.equal(loaded.run_method("prefill", (x,))[0], 3 * x + calls)
        assert torch.equal(loaded.run_method("decode", (x,))[0], 3 * x)
        assert count(gpu, "blocks") > 4 and count(gpu, "streams") == 2
        del loaded
        assert [count(gpu, left) for left in ("blocks", "streams", "wrong")] == [0, 0, 0]


def test_methods_share_weights_and_state_when_asked(gpu: ctypes.CDLL) -> None:
    program, data = lowered()
    x = torch.tensor([1.0, 2.0])
    options = ("weight_sharing_across_methods", "use_shared_cuda_stream")
    _set_backend_options({"CudaBackend": dict.fromkeys(options, True)})
    try:
        loaded = _load_for_executorch_from_buffer(program, data)
        assert torch.equal(loaded.run_method("prefill", (x,))[0], 3 * x)
        assert torch.equal(loaded.run_method("decode", (x,))[0], 3 * x + 1)
    finally:
        _set_backend_options({"CudaBackend": dict.fromkeys(options, False)})
    assert count(gpu, "streams") == 1
    del loaded
    assert count(gpu, "blocks") == 0


def test_the_methods_that_are_named_run_as_graphs(gpu: ctypes.CDLL) -> None:
    program, data = lowered()
    launched = count(gpu, "cudaGraphLaunch")
    _set_backend_options({"CudaBackend": {"enable_cuda_graph_for_method": "decode"}})
    try:
        loaded = _load_for_executorch_from_buffer(program, data)
        for call in range(6):
            x = torch.tensor([float(call), 2.0])
            for method in ("prefill", "decode"):
                assert torch.equal(loaded.run_method(method, (x,))[0], 3 * x + call)
    finally:
        _set_backend_options({"CudaBackend": {"enable_cuda_graph_for_method": ""}})
    assert count(gpu, "cudaGraphLaunch") == launched + 3  # the fourth call of decode is the first
    del loaded
    assert count(gpu, "graphs") == count(gpu, "blocks") == 0


def test_weights_that_are_missing_are_named(gpu: ctypes.CDLL) -> None:
    program, _ = lowered()
    loaded = _load_for_executorch_from_buffer(program)
    with pytest.raises(RuntimeError, match=r"load aoti_cuda_blob.ptd of the same export"):
        loaded.run_method("prefill", (torch.ones(2),))
    del loaded
    assert count(gpu, "blocks") == 0


def test_calls_of_cuda_that_fail_are_named(gpu: ctypes.CDLL) -> None:
    program, data = lowered()
    for function, text in (
        ("cudaMalloc", "cudaMalloc of [0-9]+ bytes on cuda:0: cudaErrorMemoryAllocation"),
        ("cudaStreamCreateWithFlags", "cudaStreamCreateWithFlags: cudaErrorMemoryAllocation"),
        ("cudaMemcpyAsync", "cudaMemcpyAsync of [0-9]+ bytes on cuda:0"),
    ):
        gpu.cudart_stand_in_fail(function.encode(), 1, 2)
        loaded = _load_for_executorch_from_buffer(program, data)
        with pytest.raises(RuntimeError, match=text):
            loaded.run_method("prefill", (torch.ones(2),))
        del loaded
        assert count(gpu, "blocks") == 0


@pytest.mark.parametrize(
    ("skipped", "text"),
    [
        ("skip_h2d_for_method_inputs", "expected a tensor on device 1:0, got one on 0:0"),
        ("skip_d2h_for_method_outputs", "is in the memory of another device"),
    ],
)
def test_copies_at_the_borders_may_be_left_to_the_caller(
    gpu: ctypes.CDLL, skipped: str, text: str
) -> None:
    """Python has no memory of the device, and says so."""
    borders = PropagateDeviceConfig(**{skipped: True})
    program, data = lowered(ExecutorchBackendConfig(propagate_device_config=borders))
    loaded = _load_for_executorch_from_buffer(program, data)
    with pytest.raises((RuntimeError, ValueError), match=text):
        loaded.run_method("prefill", (torch.ones(2),))
