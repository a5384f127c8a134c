# SPDX-License-Identifier: BSD-3-Clause
"""What users get wrong: each gives an error with what was expected, what was found and where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.examples.models import make_example
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.error import ExportError
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import binary, run
from executorch.test.e2e.conftest import LowerByName
from executorch.test.e2e.cpp_calls import raw_bytes


def refusal(program: Path, inputs: list[Any], method: str = "forward") -> str:
    """The text of the exception that running `inputs` raises; the method works again afterwards."""
    loaded = Runtime.get().load_program(program).load_method(method)
    with pytest.raises((RuntimeError, ValueError, TypeError)) as caught:
        loaded.execute(inputs)
    return str(caught.value)


@pytest.mark.parametrize(
    "inputs, words",
    [
        pytest.param([torch.randn(2, 4)], ["3", "4"], id="shape"),
        pytest.param([torch.randn(2, 3, 1)], ["2", "3"], id="rank"),
        pytest.param([torch.randn(2, 3).double()], ["Float", "Double"], id="dtype"),
        pytest.param([torch.randint(3, (2, 3))], ["Float", "Long"], id="integers"),
        pytest.param([], ["1", "0"], id="too few"),
        pytest.param([torch.randn(2, 3)] * 2, ["1", "2"], id="too many"),
        pytest.param([3], ["Tensor", "Int"], id="a number"),
    ],
)
def test_a_wrong_input_is_refused(
    inputs: list[Any], words: list[str], lowered: LowerByName
) -> None:
    text = refusal(lowered("linear").path, inputs)
    assert all(word.lower() in text.lower() for word in words), text


@pytest.mark.req("RT-C08")
def test_after_a_refusal_the_method_still_works(lowered: LowerByName) -> None:
    program = lowered("linear")
    method = Runtime.get().load_program(program.path).load_method("forward")
    with pytest.raises(RuntimeError):
        method.execute([torch.randn(5, 5)])
    (output,) = method.execute(program.calls[0][1])
    torch.testing.assert_close(output, program.expected[0][0], rtol=1e-3, atol=1e-5)


def test_strides_that_do_not_fit_give_right_numbers_or_an_error(lowered: LowerByName) -> None:
    """A transposed view has the right sizes and other strides: never silently the wrong numbers."""
    program = lowered("linear")
    x = program.calls[0][1][0]
    method = Runtime.get().load_program(program.path).load_method("forward")
    transposed = x.t().contiguous().t()
    assert transposed.stride() != x.stride()
    try:
        (output,) = method.execute([transposed])
    except RuntimeError as error:
        assert "stride" in str(error) or "dim order" in str(error) or "contiguous" in str(error)
    else:
        torch.testing.assert_close(output, program.expected[0][0], rtol=1e-3, atol=1e-5)


def test_a_size_above_the_bound_names_the_bound(lowered: LowerByName) -> None:
    text = refusal(lowered("dynamic_rows").path, [torch.randn(17, 8)])
    assert "17" in text and "16" in text, text


def test_an_unknown_method_is_named(lowered: LowerByName) -> None:
    program = Runtime.get().load_program(lowered("two_methods").path)
    with pytest.raises((RuntimeError, ValueError, KeyError)) as caught:
        program.load_method("no_such_method").execute([])
    assert "no_such_method" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises((RuntimeError, OSError)) as caught:
        Runtime.get().load_program(tmp_path / "absent.pte")
    assert "absent.pte" in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"ET12", b"PK\x03\x04" + b"\0" * 500], ids=["empty", "short", "zip"]
)
def test_a_file_that_is_no_program_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "wrong.pte"
    path.write_bytes(content)
    with pytest.raises(RuntimeError):
        Runtime.get().load_program(path)


class ManyMissing(torch.nn.Module):
    """Uses operators that only this test defines, so that no kernel can exist."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.ops.bad_input_test.first(x)
        return torch.ops.bad_input_test.second(x) + torch.ops.bad_input_test.first(x)


@pytest.fixture(scope="module")
def custom_operators() -> torch.library.Library:
    library = torch.library.Library("bad_input_test", "DEF")
    for name in ("first", "second"):
        library.define(f"{name}(Tensor x) -> Tensor")
        library.define(f"{name}.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
        library.impl(name, lambda x: x + 1, "CompositeExplicitAutograd")
        library.impl(f"{name}.out", lambda x, out: out.copy_(x + 1), "CompositeExplicitAutograd")
        torch.library.register_fake(f"bad_input_test::{name}", torch.empty_like, lib=library)
    return library


@pytest.fixture(scope="module")
def without_kernels(
    custom_operators: torch.library.Library, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("missing") / "missing.pte"
    exported = torch.export.export(ManyMissing(), (torch.randn(2),))
    to_edge(exported).to_executorch().save(str(path))
    return path


def test_all_missing_operators_come_in_one_message(without_kernels: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        Runtime.get().load_program(without_kernels).load_method("forward")
    text = str(caught.value)
    assert "bad_input_test::first.out" in text and "bad_input_test::second.out" in text, text


def test_all_missing_operators_come_in_one_message_of_the_runner(without_kernels: Path) -> None:
    done = run(binary("executor_runner"), f"--model_path={without_kernels}")
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "bad_input_test::first.out" in text and "bad_input_test::second.out" in text, text


class TestDataFiles:
    @pytest.fixture(scope="class")
    def pair(self, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
        folder = tmp_path_factory.mktemp("data")
        program = to_edge(make_example("linear").export()).to_executorch(
            ExecutorchBackendConfig(external_constants=True)
        )
        program.save(str(folder / "linear.pte"))
        program.write_tensor_data_to_file(str(folder))
        (data,) = folder.glob("*.ptd")
        return folder / "linear.pte", data

    def test_without_the_data_file_the_next_step_is_named(self, pair: tuple[Path, Path]) -> None:
        with pytest.raises(RuntimeError) as caught:
            Runtime.get().load_program(pair[0]).load_method("forward")
        text = str(caught.value)
        assert "2 constants are outside the program (the first: 'weight')" in text, text
        assert ".ptd" in text and "data_path" in text, text

    def test_with_the_wrong_data_file_the_missing_tensor_is_named(
        self, pair: tuple[Path, Path], tmp_path: Path
    ) -> None:
        other = torch.nn.Conv2d(1, 1, 1).eval()
        exported = torch.export.export(other, (torch.randn(1, 1, 2, 2),))
        program = to_edge({"forward": exported}).to_executorch(
            ExecutorchBackendConfig(external_constants=True)
        )
        program.write_tensor_data_to_file(str(tmp_path))
        (wrong,) = tmp_path.glob("*.ptd")
        with pytest.raises(RuntimeError):
            module = _load_for_executorch(str(pair[0]), str(wrong))
            module.forward([torch.randn(2, 3)])

    @pytest.mark.req("PY-005", "PY-C01", "RT-007")
    def test_the_right_pair_runs(self, pair: tuple[Path, Path]) -> None:
        method = make_example("linear").forward
        (output,) = _load_for_executorch(*map(str, pair)).forward(list(method.inputs))
        torch.testing.assert_close(output, method.eager()[0][0], rtol=1e-3, atol=1e-5)


def test_an_unwritable_path_leaves_nothing_behind(tmp_path: Path) -> None:
    program = to_edge(make_example("add").export()).to_executorch()
    target = tmp_path / "no_such_folder" / "add.pte"
    with pytest.raises(OSError) as caught:
        program.save(str(target))
    assert "no_such_folder" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_an_error() -> None:
    program = to_edge(make_example("linear").export()).to_executorch()
    with pytest.raises(OSError), open("/dev/full", "wb") as file:
        program.write_to_file(file)
        file.flush()


def test_overwriting_keeps_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        target = tmp_path / "add.pte"
        target.mkdir()  # root may write anywhere; a folder in the way stops root, too
    else:
        target = tmp_path / "locked" / "add.pte"
        target.parent.mkdir()
        target.parent.chmod(0o500)
    program = to_edge(make_example("add").export()).to_executorch()
    with pytest.raises(OSError):
        program.save(str(target))
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


class DataDependent(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x


def test_what_torch_export_rejects_keeps_its_own_message() -> None:
    with pytest.raises(Exception, match="data-dependent"):
        to_edge(torch.export.export(DataDependent(), (torch.randn(3),)))


@pytest.mark.parametrize(
    "program", [None, torch.nn.Linear(2, 2), {"forward": 3}], ids=["none", "module", "number"]
)
def test_what_is_no_exported_program_is_refused(program: Any) -> None:
    with pytest.raises((ExportError, TypeError)) as caught:
        to_edge(program)
    assert "torch.export.export" in str(caught.value)


class TestRunner:
    """executor_runner: every mistake is a message and a non-zero exit, before anything is written."""

    def refused(self, *arguments: str) -> str:
        done = run(binary("executor_runner"), *arguments)
        assert done.returncode not in (0, -6, -11), done.stdout + done.stderr
        return done.stdout + done.stderr

    def test_missing_model(self, tmp_path: Path) -> None:
        assert "absent.pte" in self.refused(f"--model_path={tmp_path}/absent.pte")

    def test_unknown_flag(self) -> None:
        assert "no_such_flag" in self.refused("--no_such_flag=1")

    def test_input_file_of_the_wrong_size(self, lowered: LowerByName, tmp_path: Path) -> None:
        file = tmp_path / "short.bin"
        file.write_bytes(b"\0" * 20)
        text = self.refused(f"--model_path={lowered('linear').path}", f"--inputs={file}")
        assert "20" in text and "24" in text, text

    def test_unwritable_output(self, lowered: LowerByName, tmp_path: Path) -> None:
        text = self.refused(
            f"--model_path={lowered('linear').path}", f"--output_file={tmp_path}/no_such_folder/out"
        )
        assert "no_such_folder" in text, text

    def test_too_few_inputs(self, lowered: LowerByName, tmp_path: Path) -> None:
        file = tmp_path / "x.bin"
        file.write_bytes(raw_bytes(torch.zeros(1)))
        text = self.refused(f"--model_path={lowered('add').path}", f"--inputs={file}")
        assert "1" in text and "2" in text, text

    def test_unknown_method(self, lowered: LowerByName) -> None:
        text = self.refused(f"--model_path={lowered('add').path}", "--method_name=no_such_method")
        assert "no_such_method" in text, text


def _run_lowered(
    module: torch.nn.Module,
    example: torch.Tensor,
    given: torch.Tensor,
    least: int = 1,
    **options: Any,
) -> None:
    shapes = ({0: torch.export.Dim("rows", min=least, max=8)},)
    program = torch.export.export(module, (example,), dynamic_shapes=shapes)
    data = to_edge_transform_and_lower(program, **options).to_executorch().buffer
    Runtime.get().load_program(data).load_method("forward").execute([given])


@pytest.mark.parametrize("index", [-1, 5])
def test_an_embedding_says_which_index_is_out_of_range(index: int) -> None:
    table = torch.nn.Embedding(5, 3)
    with pytest.raises(RuntimeError, match=rf"expected indices in \[0, 5\), found {index}"):
        _run_lowered(table, torch.tensor([1, 2]), torch.tensor([2, index]))


@pytest.mark.parametrize(
    ("least", "message"),
    [(0, "expected at least one element, found none"), (1, "expected 1 to 8, found 0")],
)
def test_an_empty_batch_for_a_delegate_is_called_empty(least: int, message: str) -> None:
    options = {"partitioner": [XnnpackPartitioner()], "least": least}
    with pytest.raises(RuntimeError, match=message):
        _run_lowered(torch.nn.Linear(6, 3), torch.randn(4, 6), torch.randn(0, 6), **options)
