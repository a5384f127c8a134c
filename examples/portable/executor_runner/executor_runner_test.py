# SPDX-License-Identifier: BSD-3-Clause
"""executor_runner: values and .npy files as inputs, quantized kernels, what it says about itself."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.export import Dim, export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.codegen.model_operators import ModelError, model_operators
from executorch.devtools import Inspector
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import write_bundled_program
from executorch.exir import EdgeCompileConfig, to_edge, to_edge_transform_and_lower
from executorch.test.e2e import build_tree
from executorch.version import __version__


def run(*flags: str) -> subprocess.CompletedProcess[str]:
    return build_tree.run(build_tree.binary("executor_runner"), *flags)


def save(path: Path, model: torch.nn.Module, inputs: tuple[Any, ...], **options: Any) -> Path:
    edge = to_edge(
        export(model, inputs, **options), compile_config=EdgeCompileConfig(_check_ir_validity=False)
    )
    edge.to_executorch().save(path)
    return path


class Scale(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int, by: float, negative: bool) -> Any:
        return x * by + count, count, by, negative


class ScaleOnly(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int, by: float) -> torch.Tensor:
        return x * by + count


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scale") / "scale.pte"
    return save(path, Scale(), (torch.ones(2, 3), 1, 1.0, True))


@pytest.fixture
def array(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    return tmp_path / "x.npy"


def test_a_value_for_every_input(scale: Path, array: Path, tmp_path: Path) -> None:
    done = run(
        f"--model_path={scale}",
        f"--inputs={array},1,1,true",
        f"--output_file={tmp_path / 'out'}",
    )
    assert done.returncode == 0, done.stderr
    assert "OutputX 0: tensor(sizes=[2, 3], [1., 2., 3., 4., 5., 6.])" in done.stdout
    assert np.fromfile(tmp_path / "out-0.bin", np.float32).tolist() == [1, 2, 3, 4, 5, 6]
    for index, value in ((1, "1"), (2, "1."), (3, "True")):
        assert f"OutputX {index}: {value}" in done.stdout


def test_a_bundled_program_is_run_on_its_first_case_and_verified(tmp_path: Path) -> None:
    """All inputs come with it, as its outputs do: 2 * 3 + 4 = 10, told to be 11 in the second file."""
    inputs = (torch.full((2, 3), 2.0), 4, 3.0)
    program = to_edge(export(ScaleOnly(), inputs)).to_executorch()
    right, wrong, program_only = (tmp_path / name for name in ("a.bpte", "b.bpte", "c.pte"))
    program.save(program_only)
    for path, value in ((right, 10.0), (wrong, 11.0)):
        case = MethodTestCase(inputs, (torch.full((2, 3), value),))
        write_bundled_program(program, [MethodTestSuite("forward", [case])], path)
    done = run(f"--model_path={right}", "--num_executions=2")
    assert done.returncode == 0, done.stderr
    assert "OutputX 0: tensor(sizes=[2, 3], [10., 10., 10., 10., 10., 10.])" in done.stdout
    assert "TEST: BundleIO index[0] Test_result: PASS" in done.stdout
    done = run(f"--model_path={wrong}")
    assert done.returncode == 1 and "TEST: BundleIO index[0] Test_result: FAIL" in done.stdout
    assert "largest difference 1 " in done.stdout
    done = run(f"--model_path={wrong}", "--bundleio_atol=1.01")
    assert done.returncode == 0 and "Test_result: PASS" in done.stdout
    done = run(f"--model_path={right}", "--inputs=1,2")
    assert done.returncode == 1 and "leave --inputs and --data_path out" in done.stderr
    assert model_operators(right) == model_operators(program_only) != {}
    wrong.write_bytes(right.read_bytes()[:40])
    assert run(f"--model_path={wrong}").returncode == 1
    with pytest.raises(ModelError, match="bundled program is corrupted"):
        model_operators(wrong)


@pytest.mark.req("BLD-023")
def test_the_documented_output_of_a_delegated_classifier(tmp_path: Path) -> None:
    """What the page prints for mv2_xnnpack_fp32.pte, of a small network with as many classes."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.Hardtanh(0.0, 6.0),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 1000),
    ).eval()  # fmt: skip
    lowered = to_edge_transform_and_lower(
        export(model, (torch.ones(1, 3, 32, 32),)), partitioner=[XnnpackPartitioner()]
    )
    path = tmp_path / "mv2_xnnpack_fp32.pte"
    lowered.to_executorch().save(path)
    done = run(f"--model_path={path}")
    assert done.returncode == 0, done.stderr
    output = done.stdout + done.stderr
    assert re.search(r"Model executed successfully 1 time\(s\) in \d+\.\d+ ms\.", output)
    shown = re.search(r"OutputX 0: tensor\(sizes=\[1, 1000\], \[(.*?)\]\)", done.stdout, re.S)
    assert shown is not None
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d*(?:e-?\d+)?", shown[1])]
    wanted = model(torch.ones(1, 3, 32, 32))[0].tolist()  # the runner's inputs are ones
    assert numbers[:3] == pytest.approx(wanted[:3], abs=1e-4)
    assert numbers[-3:] == pytest.approx(wanted[-3:], abs=1e-4)


def test_files_alone_leave_numbers_at_one(scale: Path, array: Path, tmp_path: Path) -> None:
    raw = tmp_path / "x.bin"
    np.load(array).tofile(raw)
    for file in (raw, array):
        done = run(f"--model_path={scale}", f"--inputs={file}")
        assert done.returncode == 0, done.stderr
        assert "[1., 2., 3., 4., 5., 6.]" in done.stdout


def test_an_array_may_be_smaller_than_the_bound(tmp_path: Path) -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    rows = Dim("rows", min=1, max=8)
    path = save(
        tmp_path / "rows.pte", Twice(), (torch.ones(4, 2),), dynamic_shapes={"x": {0: rows}}
    )
    np.save(tmp_path / "x.npy", np.ones((3, 2), np.float32))
    done = run(f"--model_path={path}", f"--inputs={tmp_path / 'x.npy'}")
    assert done.returncode == 0, done.stderr
    assert "tensor(sizes=[3, 2], [\n  2., 2." in done.stdout or "sizes=[3, 2]" in done.stdout
    np.save(tmp_path / "x.npy", np.ones((9, 2), np.float32))
    done = run(f"--model_path={path}", f"--inputs={tmp_path / 'x.npy'}")
    assert done.returncode == 1 and "9" in done.stderr


class Sum(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.bitwise_or(x, x) if not x.dtype.is_floating_point else x + 0


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "uint8", "int8", "int16", "int32", "int64", "bool"]
)
def test_arrays_of_every_type(dtype: str, tmp_path: Path) -> None:
    value = (np.arange(6) % 2).reshape(2, 3).astype(dtype)
    np.save(tmp_path / "x.npy", value)
    path = save(tmp_path / "sum.pte", Sum(), (torch.from_numpy(value),))
    done = run(
        f"--model_path={path}",
        f"--inputs={tmp_path / 'x.npy'}",
        f"--output_file={tmp_path / 'out'}",
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out-0.bin").read_bytes() == value.tobytes()


WRONG = {
    "x.npy,1": ["4 values", "1 files", "got 2"],
    "x.npy,one,1,true": ["input 1", "integer", '"one"'],
    "x.npy,1.5,1,true": ["input 1", "integer", '"1.5"'],
    "x.npy,1,fast,true": ["input 2", "number", '"fast"'],
    "x.npy,7,1,true": ["Input count", "at export, 1, and cannot be 7"],
    "x.npy,1,0.25,true": ["Input by", "at export, 1, and cannot be 0.25"],
    "x.npy,1,1,false": ["Input negative", "at export, 1, and cannot be 0"],
    "x.npy,1,1,maybe": ["input 3", "true or false", '"maybe"'],
    "absent.npy,1,1,true": ["absent.npy", "--inputs"],
    "double.npy,1,1,true": ["Float", "Double"],
    "fortran.npy,1,1,true": ["Fortran", "ascontiguousarray"],
    "big.npy,1,1,true": ["little-endian", ">f4"],
    "text.npy,1,1,true": ["numpy.save()"],
    "cut.npy,1,1,true": ["cut"],
    "flat.npy,1,1,true": ["2 dimensions", "got 1"],
    "wide.npy,1,1,true": ["3", "4"],
}


@pytest.mark.parametrize("inputs", WRONG)
def test_what_does_not_fit_is_explained(inputs: str, scale: Path, array: Path) -> None:
    folder = array.parent
    x = np.load(array)
    arrays = {
        "double": x.astype(np.float64),
        "fortran": np.asfortranarray(x),
        "big": x.astype(">f4"),
        "flat": x.reshape(6),
        "wide": np.ones((2, 4), np.float32),
    }
    for name, value in arrays.items():
        np.save(folder / f"{name}.npy", value)
    (folder / "text.npy").write_text("no array, but a text of some length")
    (folder / "cut.npy").write_bytes(array.read_bytes()[:-1])
    first, *others = inputs.split(",")
    done = run(f"--model_path={scale}", f"--inputs={','.join([str(folder / first), *others])}")
    assert done.returncode == 1
    assert all(word in done.stderr for word in WRONG[inputs]), done.stderr


def test_every_corrupted_array_is_refused_or_read(scale: Path, array: Path, tmp_path: Path) -> None:
    whole = array.read_bytes()
    for position in range(0, 128, 5):
        data = bytearray(whole)
        data[position] ^= 0x2A
        (tmp_path / "d.npy").write_bytes(data)
        done = run(f"--model_path={scale}", f"--inputs={tmp_path / 'd.npy'}")
        assert done.returncode in (0, 1), (position, done.returncode)


def test_quantized_kernels_run(tmp_path: Path) -> None:
    """Those that Python runs."""

    class Rounded(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            ops = torch.ops.quantized_decomposed
            steps = ops.quantize_per_tensor(x, 0.5, 0, -128, 127, torch.int8)
            return ops.dequantize_per_tensor(steps, 0.5, 0, -128, 127, torch.int8)

    import executorch.kernels.quantized  # noqa: F401  registers the out variants

    path = save(tmp_path / "rounded.pte", Rounded(), (torch.ones(4),))
    np.save(tmp_path / "x.npy", np.array([0.1, 0.3, -0.9, 100], np.float32))
    done = run(f"--model_path={path}", f"--inputs={tmp_path / 'x.npy'}")
    assert done.returncode == 0, done.stderr
    assert "[0., 0.5, -1., 63.5]" in done.stdout


@pytest.mark.req("BLD-046")
def test_the_flags_of_events_are_told_where_events_are_built() -> None:
    output = run("--help")
    assert output.returncode == 0
    for flag in ("--etdump_path", "--debug_buffer_path", "--print_event_table"):
        assert flag in output.stdout, output.stdout


@pytest.mark.req("DT-017", "EXT-033")
def test_events_and_values_go_to_files(scale: Path, tmp_path: Path) -> None:
    dump, values = tmp_path / "x.etdp", tmp_path / "x.bin"
    done = run(
        f"--model_path={scale}", f"--etdump_path={dump}", f"--debug_buffer_path={values}",
        "--num_executions=5", "--print_event_table",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"^native_call_mul\.Scalar_out +5 ", done.stdout, re.MULTILINE)
    inspector = Inspector(etdump_path=str(dump), debug_buffer_path=str(values))
    (block,) = (block for block in inspector.event_blocks if block.name == "Execute")
    events = {event.name: event for event in block.events}
    assert len(events["native_call_mul.Scalar_out"].perf_data.raw) == 5
    assert [t.tolist() for t in events["native_call_mul.Scalar_out"].debug_data] == [
        [[1.0] * 3] * 2
    ]
    assert block.run_output[0].tolist() == [[2.0] * 3] * 2 and block.run_output[1:] == [
        1,
        1.0,
        True,
    ]
    for flags in (
        [f"--debug_buffer_path={values}"],
        [f"--etdump_path={dump}", f"--debug_buffer_path={values}", "--debug_level=all"],
        [f"--etdump_path={tmp_path / 'no' / 'x.etdp'}"],
    ):
        assert run(f"--model_path={scale}", *flags).returncode == 1


def test_values_of_the_program_alone(scale: Path, tmp_path: Path) -> None:
    dump, values = tmp_path / "x.etdp", tmp_path / "x.bin"
    flags = [f"--etdump_path={dump}", f"--debug_buffer_path={values}", "--debug_level=program"]
    assert run(f"--model_path={scale}", *flags).returncode == 0
    assert len(values.read_bytes()) == 2 * 3 * 4


def test_what_it_says_about_itself() -> None:
    assert run("--version").stdout == f"executor_runner {__version__}\n"
    text = run("--help").stdout
    documented = "model_path data_path inputs output_file print_output num_executions method_name"
    documented += " etdump_path debug_buffer_path print_event_table"
    for flag in [*documented.split(), "server_mode", "cpu_threads", "version"]:
        assert f"--{flag} (" in text
    assert "Example:\n  executor_runner --model_path=model.pte --inputs=image.npy,3,true" in text


def test_it_describes_itself() -> None:
    done = run("--describe", "--cpu_threads=1")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["version"] == __version__ and found["threads"] == 1
    assert found["architecture"] == platform.machine() and found["system"] == "Linux"
    assert {"aten::add.out", "aten::mul.out"} <= set(found["operators"])
    assert len(set(found["operators"])) == len(found["operators"])
    assert "XnnpackBackend" in found["backends"]
    assert found["events"] == ("--etdump_path" in run("--help").stdout)


def test_a_run_is_reported(scale: Path, array: Path, tmp_path: Path) -> None:
    words = [f"--model_path={scale}", f"--inputs={array},1,1,true", "--num_executions=3"]
    done = run(*words, f"--report_path={tmp_path / 'report'}", "--print_output=none")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "report").read_text())
    assert len(found["run_ns"]) == 3 and min(found["run_ns"]) > 0 and found["load_ns"] > 0
    assert 0 < found["bytes_before"] <= found["resident_bytes"] <= found["peak_bytes"]
    tensor = {"dtype": 6, "sizes": [2, 3], "dim_order": [0, 1]}  # 6: float
    assert found["outputs"] == [tensor, {"value": 1}, {"value": 1.0}, {"value": True}]
    done = run(*words, "--report_path=/nowhere/report")
    assert done.returncode == 1 and "/nowhere/report" in done.stderr


def test_a_program_is_loaded_alone(scale: Path, tmp_path: Path) -> None:
    done = run(f"--model_path={scale}", "--load_only")
    assert done.returncode == 0 and "executed" not in done.stdout + done.stderr
    assert run(f"--model_path={tmp_path / 'absent.pte'}", "--load_only").returncode == 1
