# SPDX-License-Identifier: BSD-3-Clause
"""The native module: loading, calling, sharing memory, refusing, and where messages go."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.pybindings import portable_lib
from executorch.extension.pybindings.data_loader import PyDataLoader


class AddMul(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + y, x * y


INPUTS = (torch.randn(2, 3), torch.randn(2, 3))


@pytest.fixture(scope="module")
def buffer() -> bytes:
    return to_edge(torch.export.export(AddMul(), INPUTS)).to_executorch().buffer


@pytest.fixture(scope="module")
def unplanned() -> bytes:
    """Inputs and outputs have no place in the memory plan."""
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    )
    return to_edge(torch.export.export(AddMul(), INPUTS)).to_executorch(config).buffer


@pytest.fixture
def path(buffer: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "model.pte"
    file.write_bytes(buffer)
    return file


def check(outputs: list[torch.Tensor]) -> None:
    for output, expected in zip(outputs, AddMul()(*INPUTS), strict=True):
        torch.testing.assert_close(output, expected)


@pytest.mark.req("PY-005")
def test_every_way_to_load(path: Path, buffer: bytes) -> None:
    check(portable_lib._load_for_executorch(str(path)).forward(list(INPUTS)))
    check(portable_lib._load_for_executorch_from_buffer(buffer)(INPUTS))
    check(
        portable_lib._load_for_executorch_from_data_loader(PyDataLoader(str(path))).run_method(
            "forward", INPUTS
        )
    )
    check(portable_lib._load_program(str(path)).load_method("forward")(INPUTS))
    check(portable_lib._load_program_from_buffer(buffer).load_method("forward").call(INPUTS))


def test_a_data_loader_is_given_once(path: Path) -> None:
    loader = PyDataLoader(str(path))
    portable_lib._load_for_executorch_from_data_loader(loader)
    with pytest.raises(RuntimeError, match="already"):
        portable_lib._load_for_executorch_from_data_loader(loader)
    with pytest.raises(RuntimeError, match="absent"):
        PyDataLoader("absent.pte")


def test_metadata(buffer: bytes) -> None:
    program = portable_lib._load_program_from_buffer(buffer)
    assert program.num_methods() == 1
    assert program.get_method_name(0) == "forward"
    meta = program.method_meta("forward")
    assert (meta.name(), meta.num_inputs(), meta.num_outputs()) == ("forward", 2, 2)
    info = meta.input_tensor_meta(0)
    assert (info.sizes(), info.dtype(), info.nbytes()) == ((2, 3), 6, 24)
    assert info.is_memory_planned()
    assert repr(info) == (
        "TensorInfo(sizes=[2, 3], dtype=Float, is_memory_planned=True, nbytes=24)"
    )
    assert "name='forward'" in repr(meta)
    for kind in ("input", "output", "attribute"):
        with pytest.raises(IndexError, match=f"Cannot get {kind} tensor meta at 3"):
            getattr(meta, f"{kind}_tensor_meta")(3)
    with pytest.raises(RuntimeError):
        program.get_method_name(1)
    with pytest.raises(RuntimeError, match="Failed to get method_meta for zz"):
        program.method_meta("zz")


def test_reprs_tell_shapes(buffer: bytes) -> None:
    shapes = "forward(x: float32[2, 3], y: float32[2, 3]) -> (float32[2, 3], float32[2, 3])"
    program = portable_lib._load_program_from_buffer(buffer)
    assert repr(program) == f"ExecuTorchProgram({shapes})"
    assert repr(program.load_method("forward")) == f"ExecuTorchMethod({shapes})"
    module = portable_lib._load_for_executorch_from_buffer(buffer)
    assert repr(module) == f"ExecuTorchModule({shapes})"
    for documented in (type(program), type(module), type(program.load_method("forward"))):
        calls = [getattr(documented, name) for name in dir(documented) if name[0] != "_"]
        assert documented.__doc__ and all("\n" in call.__doc__.strip() for call in calls)


def test_a_method_of_numbers_says_so() -> None:
    class Numbers(torch.nn.Module):
        def forward(self, x: torch.Tensor, count: int) -> tuple[torch.Tensor, int]:
            return x + count, count

    exported = torch.export.export(Numbers(), (torch.ones(2, dtype=torch.int8), 3))
    program = portable_lib._load_program_from_buffer(to_edge(exported).to_executorch().buffer)
    meta = program.method_meta("forward")
    assert repr(program) == "ExecuTorchProgram(forward(x: int8[2], count: Int) -> (int8[2], Int))"
    assert repr(meta).startswith(
        "MethodMeta(name='forward', num_inputs=2, input_tensor_meta=['Tens"
    )
    assert ", 'Int'], num_outputs=2" in repr(meta)
    with pytest.raises(IndexError, match=r"input tensor meta at 1.*\(int8\[2\], Int\)"):
        meta.input_tensor_meta(1)


def test_a_value_that_export_fixed_is_named() -> None:
    class Mode(torch.nn.Module):
        def forward(self, x: torch.Tensor, count: int, mode: str) -> torch.Tensor:
            return x * count if mode == "fast" else x

    exported = torch.export.export(Mode(), (torch.ones(2), 3, "fast"))
    buffer = to_edge(exported).to_executorch().buffer
    module = portable_lib._load_for_executorch_from_buffer(buffer)
    (output,) = module.forward([torch.ones(2), 3, "fast"])
    assert torch.equal(output, torch.full((2,), 3.0))
    for count, mode, words in ((4, "fast", "export, 3, and cannot be 4"), (3, "slow", '"fast"')):
        with pytest.raises(portable_lib.ExecuTorchError, match=words):
            module.forward([torch.ones(2), count, mode])


def test_no_inputs_run_again_with_those_before(buffer: bytes) -> None:
    run = portable_lib._load_for_executorch_from_buffer(buffer).forward
    with pytest.raises(RuntimeError, match="expected 2 inputs, got 0"):
        run(())
    check(run(INPUTS))
    check(run(()))
    check(run())
    with pytest.raises(RuntimeError, match="got 1"):
        run([torch.zeros(2, 3)])
    check(run([]))  # what was refused changed nothing


def test_a_method_takes_all_its_inputs_each_time(buffer: bytes) -> None:
    method = portable_lib._load_program_from_buffer(buffer).load_method("forward")
    check(method.call(INPUTS))
    for inputs in ((), [], [torch.zeros(2, 3)]):
        with pytest.raises(RuntimeError, match=f"expected 2 inputs, got {len(inputs)}"):
            method.call(inputs)
    method.execute()  # with those that were set
    check(method.get_outputs())


def test_names_that_are_not_text_are_refused(buffer: bytes, path: Path, tmp_path: Path) -> None:
    corrupted = buffer.replace(b"forward", b"for\xffard")
    file = tmp_path / "corrupted.pte"
    file.write_bytes(corrupted)
    for load in (
        lambda: portable_lib._load_program_from_buffer(corrupted),
        lambda: portable_lib._load_for_executorch_from_buffer(corrupted),
        lambda: portable_lib._load_program(file),
        lambda: portable_lib._load_for_executorch(file),
    ):
        with pytest.raises(portable_lib.ExecuTorchError, match=r"name.*UTF-8.*for\\xffard"):
            load()


def test_random_bytes_are_refused_in_one_way(buffer: bytes) -> None:
    """Bytes of a program changed at random, and bytes that are none: an error or a program, never another exception."""
    random = torch.Generator().manual_seed(0)

    def number(below: int) -> int:
        return int(torch.randint(below, (), generator=random))

    refused = 0
    for _ in range(1500):
        data = bytearray(buffer)
        for _ in range(1 + number(8)):
            data[number(len(data))] = number(256)
        try:
            program = portable_lib._load_program_from_buffer(bytes(data))
            names = [program.get_method_name(i) for i in range(program.num_methods())]
            text = repr(program) + repr([program.method_meta(name) for name in names])
            assert text.isprintable()
            for name in names:
                program.load_method(name)
        except portable_lib.ExecuTorchError as error:
            refused += 1
            assert "\n" in str(error) or ":" in str(error)
    assert refused > 100


@pytest.mark.parametrize("kind", [str, Path, os.fsencode])
def test_paths_of_every_kind(kind: Any, path: Path, tmp_path: Path) -> None:
    check(portable_lib._load_for_executorch(kind(path)).forward(INPUTS))
    check(portable_lib._load_program(kind(path)).load_method("forward").call(INPUTS))
    loader = PyDataLoader(kind(path))
    check(portable_lib._load_for_executorch_from_data_loader(loader).forward(INPUTS))
    odd = tmp_path / "\udcff \u00e9 name.pte"  # a name that is not UTF-8
    with pytest.raises(portable_lib.ExecuTorchError, match="name.pte"):
        portable_lib._load_program(kind(odd))
    odd.write_bytes(path.read_bytes())
    check(portable_lib._load_program(kind(odd)).load_method("forward").call(INPUTS))


def test_metadata_outlives_its_program(buffer: bytes) -> None:
    info = (
        portable_lib._load_program_from_buffer(bytes(bytearray(buffer)))
        .load_method("forward")
        .method_meta()
        .input_tensor_meta(1)
    )
    gc.collect()
    assert info.sizes() == (2, 3)


def test_separate_steps(buffer: bytes) -> None:
    method = portable_lib._load_program_from_buffer(buffer).load_method("forward")
    method.set_inputs(INPUTS)
    method.execute()
    check(method.get_outputs())


def test_outputs_are_copies_unless_asked_for(buffer: bytes) -> None:
    module = portable_lib._load_for_executorch_from_buffer(buffer)
    copied = module.forward(INPUTS)
    shared = module.forward(INPUTS, clone_outputs=False)
    module.forward([torch.zeros(2, 3), torch.zeros(2, 3)])
    check(copied)
    assert all(torch.equal(output, torch.zeros(2, 3)) for output in shared)
    del module
    gc.collect()
    assert torch.equal(shared[0], torch.zeros(2, 3))  # keeps the method's memory


def test_outputs_without_a_plan_are_not_copied(unplanned: bytes) -> None:
    module = portable_lib._load_for_executorch_from_buffer(unplanned)
    assert not module.method_meta("forward").output_tensor_meta(0).is_memory_planned()
    first = module.forward(INPUTS)
    second = module.forward([torch.zeros(2, 3), torch.zeros(2, 3)])
    check(first)  # each execution has memory of its own
    assert torch.equal(second[0], torch.zeros(2, 3))


class Identity(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 0


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.float16]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_types_and_shapes_come_through(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    value = torch.ones(shape).to(dtype)
    program = to_edge(torch.export.export(Identity(), (value,))).to_executorch().buffer
    (output,) = portable_lib._load_for_executorch_from_buffer(program).forward([value])
    assert output.dtype == dtype
    assert torch.equal(output, value)


@pytest.mark.parametrize(
    "inputs, words",
    [
        ([INPUTS[0]], ["expected 2", "got 1"]),
        ([{"x": INPUTS[0]}], ["(x: float32[2, 3], y: float32[2, 3])", "got 1", "leaves"]),
        ([INPUTS[0], INPUTS[1].double()], ["input y", "Float", "Double"]),
        ([INPUTS[0], torch.randn(3, 2).t()], ["input y", "strides (3, 1)", "(1, 2)", "contiguous"]),
        ([INPUTS[0], torch.randn(2, 3, 1)], ["input y", "2 dimensions", "got 3"]),
        ([INPUTS[0], torch.randn(2, 4)], ["nput y", "(2, 3)", "(2, 4)"]),
        ([INPUTS[0], "text"], ["input y", "Tensor", "str"]),
        ([INPUTS[0], None], ["input y", "missing"]),
        ([INPUTS[0], INPUTS[1].to("meta")], ["input y", "CPU", "meta"]),
        (3, ["sequence"]),
    ],
)
def test_what_does_not_fit_is_explained(buffer: bytes, inputs: object, words: list[str]) -> None:
    module = portable_lib._load_for_executorch_from_buffer(buffer)
    with pytest.raises(portable_lib.ExecuTorchError) as caught:
        module.forward(inputs)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    check(module.forward(INPUTS))


class Double(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


def complex_numbers() -> torch.Tensor:
    return torch.randn(2, 3, dtype=torch.complex64)


@pytest.mark.parametrize(
    "value",
    [
        complex_numbers().conj(),
        complex_numbers().t().conj().t(),
        torch._neg_view(torch.randn(2, 3)),
        torch._neg_view(complex_numbers().conj()),
        complex_numbers().conj().imag.contiguous(),
        torch.randn(2, 3, requires_grad=True),
        torch.nn.Parameter(torch.randn(2, 3)),
        torch.randn(4, 3)[1:3],
        torch.randn(()).conj(),
        torch._neg_view(torch.randn(())),
        torch.randn(1, 3).as_strided((1, 3), (0, 1)),
        torch._neg_view(torch.randn(0, 3)),
    ],
)
def test_views_that_only_say_what_they_are(value: torch.Tensor) -> None:
    example = torch.zeros(value.shape, dtype=value.dtype)
    program = to_edge(torch.export.export(Double(), (example,))).to_executorch().buffer
    (output,) = portable_lib._load_for_executorch_from_buffer(program).forward([value])
    torch.testing.assert_close(output, (value + value).detach(), rtol=0, atol=0)


class Parts(torch.nn.Module):
    def forward(self, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return z.conj(), z.imag * 2, z.conj().imag, torch._neg_view(z.real)


def test_conjugates_inside_a_program() -> None:
    value = complex_numbers()
    program = to_edge(torch.export.export(Parts(), (value,))).to_executorch().buffer
    outputs = portable_lib._load_for_executorch_from_buffer(program).forward([value])
    for output, expected in zip(outputs, Parts()(value), strict=True):
        torch.testing.assert_close(output, expected, rtol=0, atol=0, check_stride=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: torch.eye(2, 3).to_sparse(), ["dense", "torch.sparse_coo", "to_dense"]),
        (lambda: torch.eye(2, 3).to_sparse_csr(), ["dense", "torch.sparse_csr"]),
        (lambda: torch.ones(2, 3).to_mkldnn(), ["dense", "torch._mkldnn"]),
        (lambda: torch.nested.nested_tensor([torch.ones(3), torch.ones(2)]), ["nested"]),
        (lambda: FakeTensorMode().from_tensor(torch.ones(2, 3)), ["FakeTensor", "real tensor"]),
        (lambda: torch._efficientzerotensor((2, 3)), ["without memory"]),
        (
            lambda: torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8),
            ["Float", "torch.qint8"],
        ),
        (lambda: torch.ones(1, 3).expand(2, 3), ["strides (3, 1)", "(0, 1)", "contiguous"]),
        (lambda: torch.ones(6).as_strided((2, 3), (1, 1)), ["strides (3, 1)", "(1, 1)"]),
        (lambda: torch._neg_view(torch.ones(3, 2)).t(), ["strides (3, 1)", "(1, 2)"]),
        (lambda: torch.ones(2, 3).flip(0).untyped_storage(), ["Tensor", "UntypedStorage"]),
    ],
)
def test_tensors_without_numbers_in_a_row_are_refused(
    buffer: bytes, make: Callable[[], object], words: list[str]
) -> None:
    module = portable_lib._load_for_executorch_from_buffer(buffer)
    with pytest.raises(portable_lib.ExecuTorchError) as caught:
        module.forward([INPUTS[0], make()])
    assert all(word in str(caught.value) for word in ["input y", *words]), str(caught.value)


def test_without_etdump_there_is_none(path: Path) -> None:
    with pytest.raises(RuntimeError, match="debug_buffer_size"):
        portable_lib._load_for_executorch(str(path), debug_buffer_size=1)
    module = portable_lib._load_for_executorch(str(path))
    assert not module.has_etdump()
    with pytest.raises(RuntimeError, match="enable_etdump"):
        module.write_etdump_result_to_file("x")


def test_registries() -> None:
    assert "aten::add.out" in portable_lib._get_operator_names()
    assert portable_lib._is_available("no such backend") is False
    assert isinstance(portable_lib._get_registered_backend_names(), list)


@pytest.mark.req("PY-006")
def test_errors_of_a_call_are_in_its_exception_only(capfd: pytest.CaptureFixture[str]) -> None:
    """Messages that no call collects go to stderr: see log_capture_test.cpp."""
    with pytest.raises(RuntimeError, match="absent.pte"):
        portable_lib._load_program("absent.pte")
    assert "absent" not in "".join(capfd.readouterr())


def test_threads_run_at_the_same_time(buffer: bytes) -> None:
    program = portable_lib._load_program_from_buffer(buffer)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            method = program.load_method("forward")
            for _ in range(200):
                check(method(INPUTS))
        except BaseException as error:  # noqa: B036  reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
