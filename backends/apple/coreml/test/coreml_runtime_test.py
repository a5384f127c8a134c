# SPDX-License-Identifier: BSD-3-Clause
"""Files that we export, run by the runtime with the delegate on a stand-in for Core ML: what a phone does but for the
numbers, which are the evaluator's. Beside eager PyTorch."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.compiler import CoreMLBackend  # noqa: E402
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.backends.apple.coreml.test.stand_in import stand_in  # noqa: E402
from executorch.backends.test.corpus.row import Function  # noqa: E402
from executorch.devtools import Inspector  # noqa: E402
from executorch.exir import to_edge_transform_and_lower  # noqa: E402
from executorch.exir.lowered_backend_module import get_lowered_backend_modules  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402
from executorch.test.hardening import mutants  # noqa: E402


def lowered(
    methods: dict[str, tuple[torch.nn.Module, tuple[Any, ...]]],
    target: str | None = None,
    precision: str = "FLOAT32",
    dynamic_shapes: Any = None,
    **given: Any,
) -> Any:
    specs = CoreMLBackend.generate_compile_specs(
        minimum_deployment_target=None if target is None else ct.target[target],
        compute_precision=ct.precision[precision],
    )
    programs = {
        name: torch.export.export(module.eval(), inputs, dynamic_shapes=dynamic_shapes)
        for name, (module, inputs) in methods.items()
    }
    partitioners = {name: [CoreMLPartitioner(compile_specs=specs, **given)] for name in programs}
    edge = to_edge_transform_and_lower(programs, partitioner=partitioners)
    assert all(
        list(get_lowered_backend_modules(edge.exported_program(name).graph_module))
        for name in programs
    )
    return edge


def loaded(edge: Any, method: str = "forward") -> Any:
    stand_in()
    return Runtime.get().load_program(edge.to_executorch().buffer).load_method(method)


def check(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    expected = [expected] if isinstance(expected, Tensor) else list(expected)
    torch.testing.assert_close(list(found), expected, rtol=tolerance, atol=tolerance)


class Images(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.linear = torch.nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(torch.relu(self.convolution(x)).mean((2, 3)))


@pytest.mark.parametrize(("target", "precision", "tolerance"), [
    (None, "FLOAT32", 1e-5), ("iOS15", "FLOAT16", 1e-2), ("iOS17", "FLOAT16", 1e-2),
])  # fmt: skip
def test_a_network_of_images(target: str | None, precision: str, tolerance: float) -> None:
    """With iOS 16 and later the model gives float16, which the program has as float32."""
    model, x = Images(), torch.randn(2, 3, 8, 8)
    method = loaded(lowered({"forward": (model, (x,))}, target, precision))
    for _ in range(2):
        x = torch.randn(2, 3, 8, 8)
        check(method.execute([x]), model(x), tolerance)


CALLS: list[tuple[str, Callable[..., Any], tuple[Tensor, ...]]] = [
    ("int64", lambda x, y: x[y] * 2, (torch.randn(5, 3), torch.tensor([4, 0, 2]))),
    ("int16 and int32", lambda x, y: x.int() + y, (torch.arange(4).short(), torch.arange(4).int())),
    ("bool", lambda x, y: torch.where(x, y, -y), (torch.tensor([True, False]), torch.randn(2))),
    ("bool results", lambda x, y: (x > y, x + y), (torch.randn(6), torch.randn(6))),
    ("int64 results", lambda x: (x.argmax(1), x.sum(1)), (torch.randn(3, 7),)),
    ("int64 results in floats", lambda x: (x.count_nonzero(1), x), (torch.tensor([[0, 3.5]]),)),
    ("no dimensions", lambda x, y: (x + y, (x * y).sum()), (torch.tensor(1.5), torch.randn(4))),
    ("order of inputs", lambda x, y, z: (z - x * y, x), tuple(torch.randn(3, 3, 2))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "inputs"), [each[1:] for each in CALLS], ids=[c[0] for c in CALLS]
)
def test_values_become_those_of_a_model(
    function: Callable[..., Any], inputs: tuple[Tensor, ...]
) -> None:
    model = Function(function)
    method = loaded(lowered({"forward": (model, inputs)}))
    check(method.execute(list(inputs)), model(*inputs))


def test_integers_that_32_bits_do_not_hold_are_refused() -> None:
    model, inputs = Function(lambda x, y: x[y] * 2), (torch.randn(5, 3), torch.tensor([0, 1]))
    method = loaded(lowered({"forward": (model, inputs)}))
    with pytest.raises(RuntimeError):
        method.execute([inputs[0], torch.tensor([0, 2**32])])


def test_outputs_take_the_sizes_that_inputs_give_them() -> None:
    model, x = Function(lambda x: torch.relu(x) + 1), torch.randn(4, 3)
    rows = (({0: Dim("rows", min=2, max=8)},),)
    method = loaded(lowered({"forward": (model, (x,))}, dynamic_shapes=rows))
    for size in (8, 2, 5, 3):
        x = torch.randn(size, 3)
        check(method.execute([x]), model(x))
    with pytest.raises(RuntimeError):
        method.execute([torch.randn(9, 3)])


@pytest.mark.req("APL-011")
def test_listed_sizes_are_the_only_ones() -> None:
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    exported = torch.export.export(model, (x,), dynamic_shapes=({0: Dim("rows", min=1, max=9)},))
    listed = CoreMLBackend.generate_enumerated_shapes_compile_spec(
        exported, {"input": [[4, 3], [9, 3]]}
    )
    specs = CoreMLBackend.generate_compile_specs(compute_precision=ct.precision.FLOAT32)
    partitioner = CoreMLPartitioner(compile_specs=[*specs, listed], lower_full_graph=True)
    method = loaded(to_edge_transform_and_lower(exported, partitioner=[partitioner]))
    for size in (9, 4):
        x = torch.randn(size, 3)
        check(method.execute([x]), model(x))
    with pytest.raises(
        RuntimeError, match=r"expected sizes one of \[4, 3\] \[9, 3\], found \[5, 3\]"
    ):
        method.execute([torch.randn(5, 3)])


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return self.total * 2


@pytest.mark.req("APL-004")
@pytest.mark.parametrize("as_state", [True, False])
def test_buffers_keep_what_a_run_left_in_them(as_state: bool) -> None:
    """As states of the model, zero after the run that warms it up, or as values that the program gives and takes."""
    edge = lowered(
        {"forward": (Counter(), (torch.ones(4),))}, "iOS18", take_over_mutable_buffer=as_state
    )
    method = loaded(edge)
    for times in (1, 2, 3):
        (found,) = method.execute([torch.full((4,), 0.5)])
        assert found.tolist() == [float(times)] * 4


def test_methods_share_one_compiled_model() -> None:
    linear, x = torch.nn.Linear(64, 64), torch.randn(2, 64)
    models = {"once": linear, "twice": torch.nn.Sequential(linear, linear)}
    buffer = lowered({name: (model, (x,)) for name, model in models.items()}, "iOS18")
    known = len(stand_in().machines)
    methods = {name: loaded(buffer, name) for name in models}
    for name, model in models.items():
        check(methods[name].execute([x]), model(x), 1e-4)
    places = [place for place, _ in stand_in().machines[known:]]
    assert len(places) == 2 and len(set(places)) == 1


def test_parts_of_a_program_are_models_of_their_own() -> None:
    """With a call between them that stays outside."""
    model, x = Function(lambda x: torch.relu(torch.asinh(x * 2) + 1)), torch.randn(5)
    edge = lowered({"forward": (model, (x,))})
    assert len(list(get_lowered_backend_modules(edge.exported_program().graph_module))) == 2
    check(loaded(edge).execute([x]), model(x))


@pytest.mark.parametrize("methods", [("forward",), ("once", "twice")])
def test_corrupted_files_are_refused_or_run(tmp_path: Path, methods: tuple[str, ...]) -> None:
    """Mutants of whole files; coreml_corrupted_test.cpp has ten thousand payloads."""
    stand_in()
    edge = lowered(
        {name: (torch.nn.Linear(4, 4), (torch.ones(2, 4),)) for name in methods}, "iOS18"
    )
    path = tmp_path / "program.pte"
    edge.to_executorch().save(str(path))
    spans = mutants.program_spans(path.read_bytes())
    assert len(spans) == 2, "the program, and the list of the model's files"
    count = int(os.environ.get("EXECUTORCH_MUTANTS", "100"))
    verdicts = mutants.try_program(path, count, seed=3, keep=tmp_path)
    assert set(verdicts) <= {"refused", "accepted"} and verdicts["refused"] > 0, verdicts


def test_the_backend_is_there_and_events_are_taken(tmp_path: Path) -> None:
    model, x = torch.nn.Linear(4, 4), torch.randn(2, 4)
    edge = lowered({"forward": (model, (x,))})
    stand_in()
    assert Runtime.get().backend_registry.is_available("CoreMLBackend")
    program = Runtime.get().load_program(edge.to_executorch().buffer, enable_etdump=True)
    program.load_method("forward").execute([x])
    program.write_etdump_result_to_file(str(tmp_path / "run.etdp"), None)
    blocks = Inspector(etdump_path=str(tmp_path / "run.etdp")).event_blocks
    assert any(each.name == "DELEGATE_CALL" for block in blocks for each in block.events)
