# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of CudaBackend beside PyTorch: their code, compiled for the host, in loops over blocks and threads
(stand_in/cuda_driver.cpp); and nvcc compiles them for the GPUs that the build names."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from executorch.backends.test.built import build_folder

DRIVER = build_folder() / "backends/cuda/libcuda_driver_stand_in.so"
SOURCES = Path(__file__).resolve().parents[1] / "kernels"
DTYPES = {
    "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "f16": torch.float16, "f32": torch.float32, "f64": torch.float64, "bool": torch.bool, "bf16": torch.bfloat16,
}  # fmt: skip

needs_build = pytest.mark.skipif(
    not DRIVER.exists(), reason="a build without EXECUTORCH_BUILD_CUDA"
)


class PlainMatmul(ctypes.Structure):
    """As in kernels/plain_matmul.h."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in
          ("x", "low", "high", "scale", "scale_step", "zero", "zero_step", "out")),
        *((name, ctypes.c_int64) for name in ("m", "n", "k", "group")),
    ]  # fmt: skip


class SortPass(ctypes.Structure):
    """As in kernels/sort.h."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in
          ("in_values", "in_places", "out_values", "out_places")),
        *((name, ctypes.c_int64) for name in ("rows", "length", "inner", "run")),
        ("is_descending", ctypes.c_bool),
    ]  # fmt: skip


def launch(kernel: str, x: int, y: int, arguments: ctypes.Structure) -> None:
    driver = ctypes.CDLL(str(DRIVER))
    function = ctypes.c_void_p()
    assert driver.cuModuleGetFunction(ctypes.byref(function), None, kernel.encode()) == 0
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(arguments))
    assert driver.cuLaunchKernel(function, x, y, 1, 32, 4, 1, 0, None, pointers, None) == 0


def bytes_of(rows: Tensor, bits: int) -> Tensor:
    """Codes of `bits` bits, side by side in bytes, the first in the lowest bits."""
    each = 8 // bits
    codes = rows.view(rows.shape[0], -1, each).to(torch.int64)
    return (codes << (torch.arange(each) * bits)).sum(-1).to(torch.uint8)


def multiply(bits: int, x: Tensor, parts: dict[str, Tensor], n: int, group: int) -> Tensor:
    (m, k), out = x.shape, torch.empty(x.shape[0], n, dtype=torch.bfloat16)
    parts = {"x": x, "out": out, **{name: part.contiguous() for name, part in parts.items()}}
    pointers = {name: part.data_ptr() for name, part in parts.items()}
    arguments = PlainMatmul(**pointers, m=m, n=n, k=k, group=group)
    launch(f"int{bits}_plain_mm", (n + 3) // 4, (m + 7) // 8, arguments)
    return out


@needs_build
@pytest.mark.parametrize("bits", [4, 5, 6, 8])
@pytest.mark.parametrize(("m", "n", "k", "group"), [(1, 5, 512, 32), (9, 3, 256, 16)])
def test_matmuls_are_those_of_dequantized_weights(
    bits: int, m: int, n: int, k: int, group: int
) -> None:
    random = torch.Generator().manual_seed(bits)

    def codes(low: int, high: int, columns: int) -> Tensor:
        return torch.randint(low, high, (n, columns), generator=random)

    x = torch.randn(m, k, generator=random).bfloat16()
    groups, steps = k // group, k // 256
    signed = bits == 8
    q = codes(-128 if signed else 0, 128 if signed else 1 << bits, k)
    scale, zero = codes(0, 64, groups), codes(0, 64, groups)
    scale_step, zero_step = ((torch.rand(n, steps, generator=random) / 64).half() for _ in range(2))
    parts = {"scale_step": scale_step, "low": bytes_of(q & 15, 4)}
    if bits < 6:
        parts |= {"scale": scale.byte(), "zero": zero.byte(), "zero_step": zero_step}
        offset = zero * zero_step.float().repeat_interleave(groups // steps, 1)
    elif bits == 6:
        scale -= 32
        parts |= {"scale": scale.char()}
        offset = torch.full((n, groups), 32.0)
    else:
        zero -= 32
        values = (scale / 64).bfloat16()
        parts = {"low": q.char(), "scale": values, "zero": zero.char()}
        offset = zero.float()
    if bits in (5, 6):
        parts["high"] = bytes_of(q >> 4, bits - 4)
    factor = (
        values.float()
        if signed
        else scale * scale_step.float().repeat_interleave(groups // steps, 1)
    )
    weight = (q - offset.repeat_interleave(group, 1)) * factor.repeat_interleave(group, 1)
    expected = torch.nn.functional.linear(x.double(), weight.double())
    torch.testing.assert_close(
        multiply(bits, x, parts, n, group).double(), expected, rtol=2**-8, atol=1e-3
    )


def sort(x: Tensor, name: str, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    values, places = [x.clone(), torch.empty_like(x)], [torch.empty_like(x, dtype=torch.int64)] * 2
    places[1] = places[0].clone()
    length, inner, run = x.shape[dim], x[(0,) * (dim + 1)].numel(), 1
    while run == 1 or run < length:
        pointers = [
            values[0].data_ptr(), None if run == 1 else places[0].data_ptr(),
            values[1].data_ptr(), places[1].data_ptr(),
        ]  # fmt: skip
        arguments = SortPass(*pointers, x.numel() // length, length, inner, run, descending)
        launch(f"sort_{name}", (x.numel() + 255) // 256, 1, arguments)
        values.reverse(), places.reverse()
        run *= 2
    return values[0], places[0]


@needs_build
@pytest.mark.parametrize("name", DTYPES)
def test_sorts_are_pytorchs(name: str) -> None:
    random = torch.Generator().manual_seed(3)
    for shape, dim in (((7,), 0), ((3, 100), 1), ((5, 33, 2), 1), ((4, 3), 0), ((1,), 0)):
        x = (torch.rand(shape, generator=random) * 9 - 2).to(DTYPES[name])  # many equal ones
        if x.dtype.is_floating_point:
            x.view(-1)[::5] = torch.nan
        for descending in (False, True):
            found = sort(x, name, dim, descending)
            expected = torch.sort(x, dim=dim, descending=descending, stable=True)
            assert torch.equal(found[1], expected.indices)
            torch.testing.assert_close(found[0], expected.values, rtol=0, atol=0, equal_nan=True)


def nvcc(folder: Path) -> str:
    """That on PATH, else that of nvcc-requirements.txt, some 450 MB, in an environment of its own in `folder`."""
    on_path = shutil.which("nvcc")
    if on_path is None:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        wanted = SOURCES.parent / "nvcc-requirements.txt"
        subprocess.run(
            [folder / "bin" / "python", "-m", "pip", "install", "-q", "-r", wanted], check=True
        )
    return on_path or str(next(folder.glob("lib/python*/site-packages/nvidia/cu*/bin/nvcc")))


@pytest.mark.full
@pytest.mark.skipif(not SOURCES.exists(), reason="needs the sources of the kernels")
def test_kernels_compile_for_the_gpus_that_the_build_names(tmp_path: Path) -> None:
    compiler = nvcc(tmp_path / "nvcc")
    for architecture in ("sm_80", "sm_90"):
        out = tmp_path / f"{architecture}.cubin"
        command = [
            compiler, "-std=c++17", f"-I{SOURCES.parents[2] / 'src'}", "-Werror", "all-warnings", "-cubin",
            f"-arch={architecture}", "-o", out, SOURCES / "kernels.cu",
        ]  # fmt: skip
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        code = out.read_bytes()
        for bits in (4, 5, 6, 8):
            assert f"int{bits}_plain_mm".encode() in code
        for name in DTYPES:
            assert f"sort_{name}".encode() in code
        for name in ("f32", "bf16", "i64"):
            assert f"random_{name}".encode() in code
