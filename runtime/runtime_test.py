# SPDX-License-Identifier: BSD-3-Clause
"""`executorch.runtime`: the documented calls, and what goes wrong."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

import executorch.runtime
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.runtime import Method, Program, Runtime, Verification


class Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class Count(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return self.count + 0


INPUTS = (torch.randn(2, 3), torch.randn(2, 3))


def lower(model: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> bytes:
    return to_edge(torch.export.export(model, inputs)).to_executorch().buffer


@pytest.fixture(scope="module")
def buffer() -> bytes:
    return lower(Add(), INPUTS)


@pytest.mark.req("PY-001", "PY-003", "PY-004", "PY-018")
def test_the_documented_way(buffer: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.pte"
    file.write_bytes(buffer)
    runtime = Runtime.get()
    assert Runtime.get() is runtime
    kinds = (bytearray(buffer), memoryview(buffer), io.BytesIO(buffer), file.open("rb"))
    for data in (str(file), file, buffer, *kinds):
        program = runtime.load_program(data)
        assert isinstance(program, Program)
        assert program.method_names == {"forward"}
        method = program.load_method("forward")
        assert isinstance(method, Method)
        (output,) = method.execute(list(INPUTS))
        assert torch.allclose(output, Add()(*INPUTS), rtol=1e-3, atol=1e-5)
        assert method.metadata.name() == program.metadata("forward").name() == "forward"
        shapes = "(forward(x: float32[2, 3], y: float32[2, 3]) -> float32[2, 3])"
        assert repr(program) == "Program" + shapes and repr(method) == "Method" + shapes


@pytest.mark.req("EXT-009")
def test_the_sample_of_the_android_document() -> None:
    file = Path(__file__).resolve().parents[1] / "extension/module/test/resources/add.pte"
    method = Runtime.get().load_program(file).load_method("forward")
    (output,) = method.execute([torch.tensor([1.0]), torch.tensor([20.0])])
    assert output.item() == 21


@pytest.mark.req("PY-002")
def test_operator_registry() -> None:
    names = Runtime.get().operator_registry.operator_names
    assert isinstance(names, set)
    assert "aten::add.out" in names


def test_backend_registry() -> None:
    registry = Runtime.get().backend_registry
    assert isinstance(registry.registered_backend_names, list)
    assert registry.is_available("NoSuchBackend") is False


def test_names_of_the_module() -> None:
    for name in ("ExecuTorchMethod", "ExecuTorchProgram", "MethodMeta", "Verification"):
        assert name in executorch.runtime.__all__


def test_a_bytearray_may_change_after_loading(buffer: bytes) -> None:
    data = bytearray(buffer)
    program = Runtime.get().load_program(data)
    data[:] = bytes(len(data))
    (output,) = program.load_method("forward").execute(INPUTS)
    torch.testing.assert_close(output, Add()(*INPUTS))


def test_a_thread_keeps_its_method_and_state() -> None:
    program = Runtime.get().load_program(lower(Count(), (torch.ones(1),)))

    def count(times: int) -> float:
        for _ in range(times):
            (output,) = program.load_method("forward").execute([torch.ones(1)])
        return float(output)

    assert count(3) == 3
    in_thread: list[float] = []
    thread = threading.Thread(target=lambda: in_thread.append(count(2)))
    thread.start()
    thread.join()
    assert in_thread == [2]
    assert count(1) == 4


def test_both_verification_levels(buffer: bytes) -> None:
    for verification in (Verification.Minimal, Verification.InternalConsistency):
        program = Runtime.get().load_program(buffer, verification=verification)
        assert program.method_names == {"forward"}


@pytest.mark.parametrize(
    "data, error, words",
    [
        (b"", RuntimeError, "buffer"),
        (b"\0" * 300, RuntimeError, "ET12"),
        ("/nowhere/model.pte", RuntimeError, "/nowhere/model.pte"),
        (3, TypeError, "int"),
        (io.StringIO("text"), TypeError, "binary"),
    ],
)
def test_what_is_no_program(data: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Runtime.get().load_program(data)  # type: ignore[arg-type]


def test_a_corrupted_program_is_refused(buffer: bytes) -> None:
    for size in range(0, len(buffer), 31):
        with pytest.raises(RuntimeError):
            Runtime.get().load_program(buffer[:size])


def test_a_program_outlives_its_file(buffer: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.pte"
    file.write_bytes(buffer)
    program = Runtime.get().load_program(file)
    file.unlink()
    (output,) = program.load_method("forward").execute(INPUTS)
    torch.testing.assert_close(output, Add()(*INPUTS))


def test_no_such_method(buffer: bytes) -> None:
    with pytest.raises(KeyError, match="forward"):
        Runtime.get().load_program(buffer).load_method("none")


def test_no_etdump(buffer: bytes) -> None:
    with pytest.raises(RuntimeError, match="etdump"):
        Runtime.get().load_program(buffer).write_etdump_result_to_file("a", "b")
    with pytest.raises(RuntimeError, match="debug_buffer_size needs enable_etdump"):
        Runtime.get().load_program(buffer, debug_buffer_size=1024)


def test_etdumps_hold_what_ran_since_the_last(buffer: bytes, tmp_path: Path) -> None:
    program = Runtime.get().load_program(buffer, enable_etdump=True, debug_buffer_size=4096)
    method = program.load_method("forward")
    dump, values = tmp_path / "a.etdp", tmp_path / "a.bin"
    program.write_etdump_result_to_file(dump, values)
    assert dump.read_bytes()[8:12] == b"ED00" and values.read_bytes() == b""
    for _ in range(2):
        method.execute(INPUTS)
        program.write_etdump_result_to_file(dump, values)
        assert len(values.read_bytes()) > 0
    dump.unlink()
    program.write_etdump_result_to_file(dump, values)
    assert not dump.exists(), "nothing ran"
    with pytest.raises(RuntimeError, match="Cannot write"):
        method.execute(INPUTS)
        program.write_etdump_result_to_file(tmp_path / "no" / "x", values)


@pytest.mark.parametrize("as_bytes", [False, True], ids=["path", "bytes"])
def test_tensors_in_a_data_file(tmp_path: Path, as_bytes: bool) -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 4)
    x = torch.randn(2, 3)
    config = ExecutorchBackendConfig(external_constants=True)
    program = to_edge(torch.export.export(model, (x,))).to_executorch(config)
    program.save(tmp_path / "model.pte")
    program.write_tensor_data_to_file(str(tmp_path))
    (data_path,) = tmp_path.glob("*.ptd")
    data = program.buffer if as_bytes else tmp_path / "model.pte"
    loaded = Runtime.get().load_program(data, data_path=data_path)
    outputs: list[torch.Tensor] = []

    def run() -> None:
        method = loaded.load_method("forward")
        assert method is not None
        outputs.append(method.execute([x])[0])

    run()
    other = threading.Thread(target=run)  # whose method reads the file anew
    other.start()
    other.join()
    for output in outputs:
        assert torch.allclose(output, model(x), rtol=1e-5, atol=1e-6)
    assert len(outputs) == 2
    with pytest.raises(RuntimeError, match="no.ptd"):
        Runtime.get().load_program(data, data_path=tmp_path / "no.ptd")
    with pytest.raises(RuntimeError, match="weight|bias"):
        Runtime.get().load_program(data).load_method("forward")


def test_packed_weights_are_kept_in_a_file(tmp_path: Path) -> None:
    """By what XNNPACK takes; a second load finds them and gives the same bits."""
    torch.manual_seed(0)
    x = torch.randn(4, 64)
    edge = to_edge_transform_and_lower(
        torch.export.export(torch.nn.Linear(64, 64), (x,)), partitioner=[XnnpackPartitioner()]
    )
    edge.to_executorch().save(tmp_path / "model.pte")
    packed = tmp_path / "model.packed"
    options = {"XnnpackBackend": {"packed_cache_path": packed}}

    def load() -> Method:
        program = Runtime.get().load_program(tmp_path / "model.pte", backend_options=options)
        method = program.load_method("forward")
        assert method is not None
        return method

    method = load()
    (first,) = method.execute([x])
    assert not packed.exists()
    registry = Runtime.get().backend_registry
    registry.set_options("XnnpackBackend", {"save_weight_cache_on_disk": True})
    assert packed.stat().st_size > 4 * 64 * 64
    del method
    assert torch.equal(load().execute([x])[0], first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"XnnpackBackend": {"pack_at_load": 1.5}}, "expected bool, int, str or a path, got float"),
        ({"XnnpackBackend": {"pack_at_load": 1 << 40}}, "expected an int of 32 bits"),
        ({"XnnpackBackend": {"k" * 64: True}}, "expected a key of 1 to 63 bytes"),
        ({"XnnpackBackend": {"packed_cache_path": "x" * 256}}, "at most 255 bytes, got 256"),
        ({"XnnpackBackend": {"pack_at_load": "yes"}}, "pack_at_load"),
        (
            {"XnnpackBackend": {"compute_precision": "half"}},
            'expected compute_precision of "float32", "bfloat16" or "float16", found "half"',
        ),
        ({"b" * 64: {"key": True}}, "exceeds 63 bytes"),
    ],
)
def test_options_that_are_none(options: Any, message: str) -> None:
    edge = to_edge_transform_and_lower(
        torch.export.export(Add(), INPUTS), partitioner=[XnnpackPartitioner()]
    )
    data = edge.to_executorch().buffer
    with pytest.raises(RuntimeError, match=message):
        Runtime.get().load_program(data, backend_options=options).load_method("forward")


def test_options_are_of_backends_that_are_there() -> None:
    with pytest.raises(RuntimeError, match="NoSuchBackend"):
        Runtime.get().backend_registry.set_options("NoSuchBackend", {"key": True})
