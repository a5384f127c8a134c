# SPDX-License-Identifier: BSD-3-Clause
"""Bundled programs: what goes in, what comes back, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim, export

from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program import schema as bp_schema
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.core import (
    assert_valid_bundle,
    create_bundled_program,
    get_input_dtype,
    get_input_type,
)
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
    serialize_from_bundled_program_to_flatbuffer,
)
from executorch.exir import to_edge
from executorch.exir.program import (
    ExecutorchProgram,
    ExecutorchProgramManager,
    ExirExportedProgram,
    MultiMethodExecutorchProgram,
)
from executorch.extension.pybindings import portable_lib


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int, by: float, flag: bool) -> torch.Tensor:
        return x * by + count

    def inputs(self) -> tuple[Any, ...]:
        return torch.ones(2, 3), 3, 0.5, True


@pytest.fixture(scope="module")
def program() -> ExecutorchProgramManager:
    model = Model()
    return to_edge(
        {"forward": export(model, model.inputs()), "again": export(model, model.inputs())}
    ).to_executorch()


def suite(*cases: MethodTestCase, method: str = "forward") -> MethodTestSuite:
    return MethodTestSuite(method, list(cases))


def case(*inputs: Any, outputs: Any = None) -> MethodTestCase:
    return MethodTestCase(inputs, (torch.ones(2, 3),) if outputs is None else outputs)


@pytest.mark.req("DT-001", "DT-002", "DT-003", "DT-006")
def test_there_and_back(program: ExecutorchProgramManager) -> None:
    x = torch.arange(6.0).reshape(3, 2).t()
    suites = [suite(case(x, 3, 0.5, True)), suite(case(x, 1, 2.0, False), method="again")]
    bundle = BundledProgram(program, suites)
    assert [each.method_name for each in bundle.method_test_suites] == ["again", "forward"]
    data = serialize_from_bundled_program_to_flatbuffer(bundle)
    assert data[4:8] == b"BP08"
    read = deserialize_from_flatbuffer_to_bundled_program(data)
    assert read == bundle.serialize_to_schema() and bundle.serialize_to_schema() is not read
    assert (read.version, read.program) == (2, program.buffer)
    tensor, *numbers = (value.val for value in read.method_test_suites[1].test_cases[0].inputs)
    assert (tensor.sizes, tensor.dim_order) == ([2, 3], [0, 1])
    assert tensor.data == x.contiguous().numpy().tobytes()
    assert numbers == [bp_schema.Int(3), bp_schema.Double(0.5), bp_schema.Bool(True)]
    for blob, alignment in ((read.program, 32), (tensor.data, 16)):
        assert data.index(blob) % alignment == 0
    plan = program.executorch_program
    assert (get_input_dtype(plan, 0, 0), get_input_type(plan, 0, 1)) == (torch.float32, int)
    assert create_bundled_program(program.buffer, suites) == read
    assert_valid_bundle(plan, suites)


@pytest.mark.req("CMP-010")
def test_older_classes_are_programs_too(program: ExecutorchProgramManager) -> None:
    model = Model()
    older = ExirExportedProgram(export(model, model.inputs()), False).to_edge().to_executorch()
    assert isinstance(older, ExecutorchProgram)
    several = MultiMethodExecutorchProgram(program)
    suites = [suite(case(*model.inputs()))]
    for each in (older, several):
        assert BundledProgram(each, suites).serialize_to_schema().program == each.buffer
    with pytest.raises(AssertionError, match="does not include"):
        BundledProgram(older, [suite(case(*model.inputs()), method="again")])


def test_a_program_from_a_file(program: ExecutorchProgramManager, tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    program.save(str(path))
    bundle = BundledProgram(None, [suite(case(torch.ones(2, 3)))], pte_file_path=str(path))
    assert bundle.serialize_to_schema().program == path.read_bytes()


WRONG = {
    "number": ("The number of input in each bundled set", [torch.ones(2, 3)]),
    "dtype": ("dtype shall be torch.float32, but now is torch.int32", [torch.ones(2, 3).int(), 3, 0.5, True]),
    "type": ("expected <class 'int'> but get <class 'float'>", [torch.ones(2, 3), 3.0, 0.5, True]),
    "tensor": ("expected <class 'torch.Tensor'>", [1, 3, 0.5, True]),
    "sizes": (r"shall have sizes \[2, 3\], but now has \[3, 2\]", [torch.ones(3, 2), 3, 0.5, True]),
}  # fmt: skip


@pytest.mark.req("DT-004")
@pytest.mark.parametrize("what", WRONG)
def test_cases_that_do_not_fit(program: ExecutorchProgramManager, what: str) -> None:
    message, inputs = WRONG[what]
    with pytest.raises(AssertionError, match=message):
        BundledProgram(program, [suite(case(*inputs))])


@pytest.mark.req("DT-005")
def test_methods_and_outputs_that_do_not_fit(program: ExecutorchProgramManager) -> None:
    good = Model().inputs()
    with pytest.raises(AssertionError, match=r"but \{'MISSING_METHOD_NAME'\} does not include"):
        BundledProgram(program, [suite(case(*good), method="MISSING_METHOD_NAME")])
    with pytest.raises(AssertionError, match="0-th expected output shall be a tensor"):
        BundledProgram(program, [suite(case(*good, outputs=(3,)))])
    with pytest.raises(AssertionError, match="is not supported"):
        case("text")
    with pytest.raises(RuntimeError, match="Either executorch_program or pte_file_path"):
        BundledProgram(None, [])
    with pytest.raises(RuntimeError, match="Only one of"):
        BundledProgram(program, [], "x.pte")


def test_sizes_may_be_smaller_than_their_bounds() -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    rows = Dim("rows", min=2, max=8)
    program = to_edge(
        export(Twice(), (torch.ones(4, 2),), dynamic_shapes={"x": {0: rows}})
    ).to_executorch()
    BundledProgram(program, [suite(case(torch.ones(3, 2)))])
    with pytest.raises(AssertionError, match="sizes up to"):
        BundledProgram(program, [suite(case(torch.ones(9, 2)))])


@pytest.mark.parametrize("size", [0, 4, 40, 400])
def test_what_is_no_bundle_says_so(program: ExecutorchProgramManager, size: int) -> None:
    data = serialize_from_bundled_program_to_flatbuffer(
        BundledProgram(program, [suite(case(*Model().inputs()))])
    )
    with pytest.raises(ValueError):
        deserialize_from_flatbuffer_to_bundled_program(data[:size])
    with pytest.raises(ValueError, match="BP08"):
        deserialize_from_flatbuffer_to_bundled_program(program.buffer)


class TwoResults(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        return x + count, x * 2


@pytest.fixture(scope="module")
def bundle() -> bytes:
    """A case that holds, one that does not, one without expected outputs."""
    x = torch.arange(6.0).reshape(2, 3)
    program = to_edge(export(TwoResults(), (x, 3))).to_executorch()
    cases = [
        MethodTestCase([x, 3], [x + 3, x * 2]),
        MethodTestCase([-x, 3], [x, x]),
        MethodTestCase([x, 3]),
    ]
    return serialize_from_bundled_program_to_flatbuffer(BundledProgram(program, [suite(*cases)]))


def test_cases_are_run_and_verified_from_python(bundle: bytes) -> None:
    module = portable_lib._load_bundled_program_from_buffer(bundle, non_const_pool_size=1)
    assert isinstance(module, portable_lib.BundledModule)
    verify = module.verify_result_with_bundled_expected_output
    x = torch.arange(6.0).reshape(2, 3)
    for _ in range(2):
        for found, wanted in zip(verify("forward", 0), (x + 3, x * 2), strict=True):
            torch.testing.assert_close(found, wanted)
    assert [value.shape for value in verify("forward", 1, rtol=100.0, atol=100.0)] == [(2, 3)] * 2
    failed = "Result verification failed with status"
    with pytest.raises(RuntimeError, match=rf"{failed} 32(.|\n)*output 0"):
        verify("forward", 1)
    with pytest.raises(RuntimeError, match=rf"{failed} 16(.|\n)*expected outputs"):
        verify("forward", 2)
    with pytest.raises(RuntimeError, match=r"0x12(.|\n)*3"):
        verify("forward", 3)
    with pytest.raises(RuntimeError, match="nothing"):
        verify("nothing", 0)


def test_the_program_of_a_bundle_alone(bundle: bytes, tmp_path: Path) -> None:
    module = portable_lib._load_bundled_program_from_buffer(bundle)
    load = portable_lib._load_for_executorch_from_bundled_program
    alone = load(module, enable_etdump=True, debug_buffer_size=1 << 12)
    assert alone.forward([torch.ones(2, 3), 3])[0].sum() == 24
    alone.write_etdump_result_to_file(tmp_path / "run.etdp", tmp_path / "run.bin")
    assert (tmp_path / "run.etdp").stat().st_size and (tmp_path / "run.bin").stat().st_size
    with pytest.raises(FileNotFoundError, match=r"no_such\.ptd"):
        load(module, str(tmp_path / "no_such.ptd"))


def test_bytes_that_are_no_bundle_raise(bundle: bytes, program: ExecutorchProgramManager) -> None:
    wrong = [b"", b"garbage" * 9, program.buffer, bundle[:40], bundle[: len(bundle) // 2]]
    for data in wrong:
        with pytest.raises(RuntimeError, match="no bundled program"):
            portable_lib._load_bundled_program_from_buffer(data)
