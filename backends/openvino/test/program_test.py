# SPDX-License-Identifier: BSD-3-Clause
"""Programs that OpenVINO runs, beside eager PyTorch: precision, sizes, orders of dimensions, dtypes, options."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from executorch.backends.openvino.aot.compiler import core_of
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.openvino.test.lowered import (
    BACKEND,
    check,
    delegates,
    left,
    loaded,
    lower,
    needs_compiler,
    needs_runtime,
    run,
    specs,
)
from executorch.backends.test.corpus.row import Function
from executorch.devtools import Inspector
from executorch.exir.error import ExportError
from executorch.runtime import Runtime

pytestmark = [needs_compiler, needs_runtime]


class Images(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.linear = torch.nn.Linear(512, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(torch.relu(self.norm(self.convolution(x))).flatten(1))


def _whole(edge: Any) -> bytes:
    """The file of a program that is one delegate and nothing else."""
    assert [each.backend_id for each in delegates(edge)] == [BACKEND] and left(edge) == []
    return edge.to_executorch().buffer


@pytest.mark.req("PY-011")
def test_python_has_the_backend() -> None:
    registry = Runtime.get().backend_registry
    assert BACKEND in registry.registered_backend_names and registry.is_available(BACKEND)


def test_float32_stays_float32() -> None:
    """In bfloat16, which OpenVINO takes where the processor has it, errors are about 1/256 of 16: beyond 0.01."""
    model, x = torch.nn.Linear(256, 64, bias=False), torch.randn(8, 256)
    buffer = _whole(lower(model, (x,)))
    check(run(buffer, (x,)), model(x), rtol=1e-5, atol=1e-5)


def test_less_is_computed_when_it_is_asked_for() -> None:
    model, x = torch.nn.Linear(256, 64, bias=False), torch.randn(8, 256)
    partitioner = OpenvinoPartitioner(specs(INFERENCE_PRECISION_HINT="bf16"))
    found = run(_whole(lower(model, (x,), partitioner)), (x,))
    check(found, model(x), rtol=0.1, atol=0.1)


def test_properties_are_for_their_program_alone() -> None:
    core, before = core_of({}), core_of({}).get_property("CPU", "INFERENCE_NUM_THREADS")
    options = {"INFERENCE_NUM_THREADS": str(before + 1)}
    lower(torch.nn.Linear(8, 8), (torch.randn(2, 8),), OpenvinoPartitioner(specs(**options)))
    assert core.get_property("CPU", "INFERENCE_NUM_THREADS") == before


def test_a_network_of_images() -> None:
    model, x = Images(), torch.randn(2, 3, 8, 8)
    check(run(_whole(lower(model, (x,))), (x,)), model(x), rtol=1e-4, atol=1e-5)


def test_outputs_take_the_sizes_that_inputs_give_them() -> None:
    model = Function(lambda x: torch.relu(x) + 1)
    rows = ({0: Dim("rows", min=1, max=8)},)
    method = loaded(_whole(lower(model, (torch.randn(4, 3),), dynamic_shapes=(rows,))))
    for size in (8, 1, 5, 2, 8):
        x = torch.randn(size, 3)
        check(method.execute([x]), model(x))


def test_sizes_that_vary_inside() -> None:
    """Their numbers are computed outside and given as int arguments, or stay inside with a reshape."""
    model = Function(lambda x: (x * 2).flatten(1).reshape(x.shape[0] * 2, -1) + 1)
    twice = Function(lambda x: torch.cat([x, x * 2]).cumprod(0) + 1)  # cumprod is outside
    rows = ({0: Dim("rows", min=1, max=8)},)
    for each, count in ((model, 1), (twice, 2)):
        edge = lower(each, (torch.randn(4, 2, 6),), dynamic_shapes=(rows,))
        assert len(delegates(edge)) == count
        method = loaded(edge.to_executorch().buffer)
        for size in (4, 1, 8):
            x = torch.randn(size, 2, 6)
            check(method.execute([x]), each(x))


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (3, 2, 1, 0), (1, 0, 3, 2)])
def test_inputs_in_any_order_of_dimensions(order: tuple[int, ...]) -> None:
    model = torch.nn.Conv2d(3, 4, 3)
    x = torch.empty_permuted((2, 3, 5, 6), order).normal_()
    edge = lower(model, (x,))
    assert delegates(edge)
    check(run(edge.to_executorch().buffer, (x,)), model(x), rtol=1e-4, atol=1e-5)


def test_outputs_in_another_order_of_dimensions() -> None:
    model = Function(lambda x: (x + 1).to(memory_format=torch.channels_last) * 2)
    x = torch.randn(2, 3, 4, 5)
    edge = lower(model, (x,))
    assert len(delegates(edge)) == 1
    method = loaded(edge.to_executorch().buffer)
    for _ in range(2):
        (found,) = method.execute([x])
        assert found.is_contiguous(memory_format=torch.channels_last)
        check([found], model(x))


def test_numbers_without_dimensions() -> None:
    def both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        total = x + y
        return total, (total * y).sum()

    model = Function(both)
    inputs = torch.tensor(1.5), torch.randn(4)
    check(run(_whole(lower(model, inputs)), inputs), model(*inputs))


def test_an_input_that_is_given_back() -> None:
    """OpenVINO would leave the result as it was before."""
    model, x = Function(torch.ops.aten.clone.default), torch.randn(3, 4)
    edge = lower(model, (x,))
    assert delegates(edge) == []
    check(run(edge.to_executorch().buffer, (x,)), model(x))


def test_tensors_without_elements() -> None:
    model, x = Function(lambda x: x + x), torch.randn(0, 3)
    edge = lower(model, (x,))
    check(run(edge.to_executorch().buffer, (x,)), model(x))


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.int32], ids=lambda dtype: str(dtype).removeprefix("torch.")
)
def test_dtypes_that_are_computed(dtype: torch.dtype) -> None:
    model = Function(lambda x, y: x * y + x)
    inputs = torch.arange(6).to(dtype), torch.arange(6).to(dtype) - 3
    check(run(_whole(lower(model, inputs)), inputs), model(*inputs))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int16, torch.float64, torch.int64])
def test_dtypes_that_would_be_computed_in_others_stay_on_the_cpu(dtype: torch.dtype) -> None:
    """2**53 + 1 and 2**30 * 4 are no numbers of narrower types."""
    model = Function(lambda x: x + x)
    x = torch.tensor([2**30 * 4 + 1 if dtype == torch.int64 else 3]).to(dtype)
    edge = lower(model, (x,))
    assert delegates(edge) == [] and left(edge) == ["aten.add.Tensor"]
    exported = lower(model, (x,), OpenvinoPartitioner([], {"aten.add.Tensor"})).exported_program()
    (reason,) = OpenvinoPartitioner([]).why_not_delegated(exported).values()
    assert "are expected" in reason or "is expected" in reason
    check(run(edge.to_executorch().buffer, (x,)), model(x))


def test_what_is_made_of_numbers_is_inside() -> None:
    """Masks of attention are; int64 beyond 32 bits is not, as OpenVINO would cut it."""

    def masked(x: Tensor) -> Tensor:
        mask = torch.where(torch.arange(8) > 3, torch.full((8,), -torch.inf), torch.full((), 0.0))
        return torch.where(mask != -torch.inf, torch.softmax(x + mask, -1), torch.full((), 0.0))

    model, x = Function(masked), torch.randn(2, 8)
    check(run(_whole(lower(model, (x,))), (x,)), model(x))
    model = Function(lambda x: (x + 1, torch.arange(2**40, 2**40 + 3)))
    edge = lower(model, (x,))
    assert delegates(edge)
    check(run(edge.to_executorch().buffer, (x,)), model(x))


def test_operators_and_nodes_that_are_skipped() -> None:
    model, x = Function(lambda x: torch.relu(torch.sin(x) + 1)), torch.randn(3)
    edge = lower(model, (x,), OpenvinoPartitioner([], {"aten.relu.default"}))
    assert left(edge) == ["aten.relu.default"]
    edge = lower(model, (x,), OpenvinoPartitioner([], None, {"aten_sin_default"}))
    assert left(edge) == ["aten.sin.default"]
    check(run(edge.to_executorch().buffer, (x,)), model(x))


# ---- Compile specs and options ----


def test_properties_of_the_device_are_compile_specs() -> None:
    model, x = Function(lambda x: x + 1), torch.randn(3)
    given = specs(device="CPU", config='{"NUM_STREAMS": 1, "ENABLE_CPU_PINNING": false}')
    edge = lower(model, (x,), OpenvinoPartitioner([*given, *specs(PERFORMANCE_HINT="LATENCY")]))
    (delegate,) = delegates(edge)
    found = {spec.key: spec.value.decode() for spec in delegate.compile_specs}
    assert found.pop("checksum") and found.pop("version")
    assert found == {
        "device": "CPU",
        "NUM_STREAMS": "1",
        "ENABLE_CPU_PINNING": "NO",
        "PERFORMANCE_HINT": "LATENCY",
    }
    check(run(_whole(edge), (x,)), model(x))


@pytest.mark.parametrize(
    "given, words",
    [
        ({"NOPE": "1"}, "device CPU has no property NOPE"),
        ({"INFERENCE_NUM_THREADS": "many"}, "property INFERENCE_NUM_THREADS cannot be 'many'"),
        ({"payload": "zip"}, "expected one of auto, compiled, ir, found 'zip'"),
        ({"config": "[1]"}, "expected a JSON object"),
        ({"device": "NPU", "payload": "compiled"}, "device NPU is not here"),
    ],
)
def test_compile_specs_that_make_no_sense(given: dict[str, str], words: str) -> None:
    with pytest.raises(ExportError, match=words):
        lower(Function(lambda x: x + 1), (torch.randn(3),), OpenvinoPartitioner(specs(**given)))


@pytest.mark.parametrize("device", ["AUTO", "HETERO:CPU"])
def test_devices_that_choose_among_others(device: str) -> None:
    model, x = torch.nn.Linear(256, 8), torch.randn(2, 256)
    buffer = _whole(lower(model, (x,), OpenvinoPartitioner(specs(device=device))))
    check(run(buffer, (x,)), model(x), rtol=1e-4, atol=1e-4)


def test_options_of_the_one_who_loads_win() -> None:
    model, x = torch.nn.Linear(256, 64, bias=False), torch.randn(8, 256)
    buffer = _whole(lower(model, (x,), OpenvinoPartitioner(specs(payload="ir", device="GPU"))))
    with pytest.raises(RuntimeError):
        loaded(buffer)  # no GPU here
    check(loaded(buffer, device="CPU").execute([x]), model(x), rtol=1e-5, atol=1e-5)
    low = loaded(buffer, device="CPU", INFERENCE_PRECISION_HINT="bf16").execute([x])
    check(low, model(x), rtol=0.1, atol=0.1)
    with pytest.raises(RuntimeError):
        loaded(buffer, device="CPU", NOPE="1")


# ---- Payloads ----


def test_every_layer_has_an_event(tmp_path: Path) -> None:
    """OpenVINO's layers, with their times inside of the delegate's run."""
    x = torch.randn(1, 3, 16, 16)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Softmax(1))
    program = Runtime.get().load_program(_whole(lower(model, (x,))), enable_etdump=True)
    program.load_method("forward").execute([x])
    path = tmp_path / "run.etdp"
    program.write_etdump_result_to_file(str(path), None)
    blocks = Inspector(etdump_path=str(path)).event_blocks
    layers = [each for block in blocks for each in block.events if each.is_delegated_op]
    (whole,) = (each for block in blocks for each in block.events if each.name == "DELEGATE_CALL")
    assert {"Convolution", "Softmax"} <= {each.name.split(" ")[0] for each in layers}
    assert 0 < sum(each.perf_data.raw[0] for each in layers) <= whole.perf_data.raw[0]


def test_a_portable_payload_runs_in_any_version() -> None:
    model, x = Images(), torch.randn(2, 3, 8, 8)
    edge = lower(model, (x,), OpenvinoPartitioner(specs(payload="ir")))
    (delegate,) = delegates(edge)
    assert bytes(delegate.processed_bytes).startswith(b"ETOVIR01")
    check(run(_whole(edge), (x,)), model(x), rtol=1e-4, atol=1e-5)


def test_methods_of_many_threads_run_side_by_side() -> None:
    model, x = Images(), torch.randn(2, 3, 8, 8)
    buffer, wrong = _whole(lower(model, (x,))), []

    def work() -> None:
        try:
            method = loaded(buffer)
            for _ in range(20):
                y = torch.randn(2, 3, 8, 8)
                check(method.execute([y]), model(y), rtol=1e-4, atol=1e-5)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
