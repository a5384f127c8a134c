# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays as inputs and outputs of programs."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.pybindings import portable_lib
from executorch.runtime import Runtime


class Same(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clone() if x.dtype.is_floating_point else torch.bitwise_or(x, x)


class Halves(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int, flag: bool) -> Any:
        return x[:, :2] * 2, x + count, flag


def program(model: torch.nn.Module, *inputs: Any, planned: bool = True) -> bytes:
    plan = MemoryPlanningPass(alloc_graph_input=planned, alloc_graph_output=planned)
    edge = to_edge(torch.export.export(model, inputs))
    return edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=plan)).buffer


@pytest.fixture(scope="module")
def float_program() -> bytes:
    return program(Same(), torch.ones(2, 3))


DTYPES = ["float32", "float64", "float16", "uint8", "int8", "int16", "int32", "int64", "bool"]


@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (1,)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_goes_in_and_comes_out(
    dtype: str, shape: tuple[int, ...], planned: bool
) -> None:
    value = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    sample = torch.ones(shape).to(getattr(torch, dtype))
    module = portable_lib._load_for_executorch_from_buffer(program(Same(), sample, planned=planned))
    for inputs in ([value], (value,), value):
        (output,) = module.forward(inputs)
        assert type(output) is np.ndarray and output.dtype == value.dtype
        assert output.shape == value.shape and output.flags.writeable
        np.testing.assert_array_equal(output, value)


def test_outputs_are_of_the_library_of_the_inputs(float_program: bytes) -> None:
    module = portable_lib._load_for_executorch_from_buffer(float_program)
    array = np.ones((2, 3), np.float32)
    assert isinstance(module.forward([array])[0], np.ndarray)
    assert isinstance(module.forward([torch.ones(2, 3)])[0], torch.Tensor)
    assert isinstance(module.forward([array])[0], np.ndarray)
    add = program(torch.nn.Bilinear(2, 2, 2).eval(), torch.ones(1, 2), torch.ones(1, 2))
    mixed = [np.ones((1, 2), np.float32), torch.ones(1, 2)]
    for inputs in (mixed, mixed[::-1]):
        (output,) = portable_lib._load_for_executorch_from_buffer(add).forward(inputs)
        assert isinstance(output, torch.Tensor)


def test_shared_outputs_keep_the_method(float_program: bytes) -> None:
    module = portable_lib._load_for_executorch_from_buffer(float_program)
    (shared,) = module.forward([np.full((2, 3), 7, np.float32)], clone_outputs=False)
    module.forward([np.full((2, 3), 8, np.float32)])
    del module
    gc.collect()
    np.testing.assert_array_equal(shared, np.full((2, 3), 8, np.float32))


def test_channels_last_stays_channels_last() -> None:
    model = torch.nn.Conv2d(3, 4, 1).eval().to(memory_format=torch.channels_last)
    x = torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
    module = portable_lib._load_for_executorch_from_buffer(program(model, x))
    array = x.numpy()
    assert not array.flags.c_contiguous
    (output,) = module.forward([array])
    np.testing.assert_allclose(output, model(x).detach().numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(portable_lib.ExecuTorchError, match="strides"):
        module.forward([np.ascontiguousarray(array)])


def test_numbers_of_numpy() -> None:
    module = portable_lib._load_for_executorch_from_buffer(
        program(Halves(), torch.ones(2, 3), 3, True)
    )
    x = np.ones((2, 3), np.float32)
    for count, flag in ((3, True), (np.int64(3), np.bool_(True)), (np.int8(3), True)):
        half, more, same = module.forward([x, count, flag])
        np.testing.assert_array_equal(half, np.full((2, 2), 2, np.float32))
        np.testing.assert_array_equal(more, x + 3)
        assert same is True


OTHER_ORDER = np.ones((2, 3), ">f4" if sys.byteorder == "little" else "<f4")
MISALIGNED = np.frombuffer(b"\0" * 25, np.float32, 6, offset=1).reshape(2, 3)


@pytest.mark.parametrize(
    "value, words",
    [
        (np.ones((2, 3)), ["Float (numpy.float32)", "Double (numpy.float64)", ".astype(numpy.flo"]),
        (np.ones((3, 2), np.float32).T, ["strides (3, 1)", "(1, 2)", "numpy.ascontiguousarray"]),
        (np.ones((2, 6), np.float32)[:, ::2], ["strides (3, 1)", "(6, 2)"]),
        (np.ones((2, 3), np.float32)[::-1], ["strides", "(-3, 1)"]),
        (np.ones((2, 3), "f4,f4")["f0"], ["strides (3, 1)", "(6, 2)"]),
        (np.ones(3, np.float32), ["2 dimensions (2, 3)", "got 1 (3,)"]),
        (np.ones((2, 4), np.float32), ["(2, 3)", "(2, 4)"]),
        (OTHER_ORDER, ["byte order", "astype"]),
        (MISALIGNED, ["not aligned"]),
        (np.array([["a"]]), ["Float", "numpy.str"]),
        (np.ones((2, 3), object), ["Float", "object"]),
        (np.float32(1), ["Tensor (torch.Tensor or numpy.ndarray)", "float32", "numpy.asarray"]),
        (1.5, ["Tensor", "float", "torch.tensor"]),
        ([[1.0]], ["Tensor", "list", "tree_leaves"]),
    ],
)
def test_arrays_that_do_not_fit_are_explained(
    float_program: bytes, value: Any, words: list[str]
) -> None:
    module = portable_lib._load_for_executorch_from_buffer(float_program)
    with pytest.raises(portable_lib.ExecuTorchError) as caught:
        module.forward([value])
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_type_that_numpy_lacks() -> None:
    class ToBFloat16(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(torch.bfloat16)

    module = portable_lib._load_for_executorch_from_buffer(program(ToBFloat16(), torch.ones(2)))
    (output,) = module.forward([torch.ones(2)])
    assert output.dtype == torch.bfloat16
    try:
        np.dtype("bfloat16")
    except TypeError:
        with pytest.raises(portable_lib.ExecuTorchError, match="bfloat16.*torch.Tensor"):
            module.forward([np.ones(2, np.float32)])
    else:
        (output,) = module.forward([np.ones(2, np.float32)])
        assert output.dtype.name == "bfloat16"


WITHOUT_TORCH = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Absent())
import numpy as np
from executorch.runtime import Runtime
method = Runtime.get().load_program({path!r}).load_method("forward")
outputs = method.execute([np.full((2, 3), 7, np.float32)])
print(type(outputs[0]).__name__, outputs[0].tolist(), "torch" in sys.modules)
"""


def test_arrays_need_no_torch(float_program: bytes, tmp_path: Path) -> None:
    path = tmp_path / "same.pte"
    path.write_bytes(float_program)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH.format(path=str(path))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ndarray [[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]] False\n"


def test_the_runtime_takes_arrays(float_program: bytes) -> None:
    method = Runtime.get().load_program(float_program).load_method("forward")
    (output,) = method.execute([np.full((2, 3), 5, np.float32)])
    np.testing.assert_array_equal(output, np.full((2, 3), 5, np.float32))
