# SPDX-License-Identifier: BSD-3-Clause
"""What the vendor refuses goes back to the CPU with its reason; methods share a context; a file has one for each
device; options arrive on both sides. conformance.py has what all backends pass."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import export

from executorch.backends import skeleton_compiler
from executorch.backends.skeleton_compiler import payload_reader
from executorch.backends.skeleton_compiler.aot.compiler import COMPILER, SCHEMA
from executorch.backends.skeleton_compiler.aot.graph import vendor
from executorch.backends.skeleton_compiler.aot.options import (
    CompilerOptions,
    Performance,
    RuntimeOptions,
    SkeletonCompilerOptions,
)
from executorch.backends.skeleton_compiler.aot.partitioner import SkeletonCompilerPartitioner
from executorch.backends.test.built import use_build
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.backend.lowering.payload.options import options_of
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import (
    LoweredBackendModule,
    get_lowered_backend_modules,
)
from executorch.exir.schema import CompileSpec
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.test.e2e.build_tree import load_backend

use_build(skeleton_compiler)
pytestmark = pytest.mark.skipif(bool(COMPILER.why_missing()), reason=COMPILER.why_missing())


class Added(nn.Module):
    """As the methods of a model that share weights."""

    def __init__(self, weight: Tensor, times: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.times = times

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.times):
            x = (x + self.weight) * x
        return x


def lowered(
    models: nn.Module | dict[str, nn.Module], *inputs: Tensor, **options: Any
) -> EdgeProgramManager:
    """With the partitioner's options."""
    models = {"forward": models} if isinstance(models, nn.Module) else models
    programs = {name: export(model, inputs) for name, model in models.items()}
    partitioner = SkeletonCompilerPartitioner(SkeletonCompilerOptions(**options))
    return to_edge_transform_and_lower(programs, partitioner=[partitioner])


def delegates(manager: EdgeProgramManager) -> list[LoweredBackendModule]:
    methods = sorted(manager.methods)
    graphs = (manager.exported_program(method).graph_module for method in methods)
    return [each for graph in graphs for each in get_lowered_backend_modules(graph)]


def named_data(delegate: LoweredBackendModule) -> dict[str, bytes]:
    output = delegate.named_data_store_output
    return {key: output.buffers[each.buffer_index] for key, each in output.pte_data.items()}


def run(manager: EdgeProgramManager, x: Tensor, method: str = "forward") -> Tensor:
    load_backend("skeleton_compiler_backend")
    return _load_for_executorch_from_buffer(manager.to_executorch().buffer).run_method(
        method, (x,)
    )[0]


# ---- What is refused ----


def reasons(model: nn.Module, *inputs: Tensor, **options: Any) -> set[str]:
    """Of the sums of a program."""
    edge = to_edge_transform_and_lower(export(model, inputs)).exported_program()
    partitioner = SkeletonCompilerPartitioner(SkeletonCompilerOptions(**options))
    found = partitioner.why_not_delegated(edge)
    return {why for node, why in found.items() if op_name(node) == "aten.add.Tensor"}


@pytest.mark.parametrize(("device", "most"), [("v1", 4), ("v2", 5)])
def test_the_validator_is_asked_of_each_call_for_each_device(device: str, most: int) -> None:
    model, x = Added(torch.ones(1)), torch.ones([1] * (most + 1))
    model.weight.data = x
    message = f"what the vendor takes for {device} is expected: at most {most} dimensions, found {most + 1}"
    assert reasons(model, x, devices=(device,)) == {message}
    assert reasons(model, x, devices=("v2", device)) == {message}
    model.weight.data = x[0]
    assert reasons(model, x[0], devices=(device,)) == set()
    assert reasons(model, x[0], devices=("v3",)) == {
        "what the vendor takes for v3 is expected: there is no such device"
    }


def test_a_piece_that_is_refused_as_a_whole_goes_back() -> None:
    """The sum has 100 floats of its own, which do not fit beside its graph; the product has none."""
    model, x = Added(torch.ones(100)), torch.full((100,), 2.0)
    options = {"compiler": CompilerOptions(max_bytes=600)}
    (why,) = reasons(model, x, **options)
    assert why.startswith("a context of ") and why.endswith(" bytes, at most 600 are allowed")
    manager = lowered(model, x, **options)
    (delegate,) = delegates(manager)
    assert SCHEMA.unpack(bytes(delegate.processed_bytes)).operators == ["MUL"]
    assert run(manager, x).tolist() == [6.0] * 100  # (2 + 1) * 2


# ---- Contexts ----


def test_methods_share_one_context() -> None:
    weight, x = torch.randn(1 << 12), torch.randn(1 << 12)
    once = Added(weight)
    alone = lowered(once, x)
    both = lowered({"once": once, "twice": Added(weight, 2)}, x)
    payloads = [SCHEMA.unpack(bytes(each.processed_bytes)) for each in delegates(both)]
    assert [each.graph for each in payloads] == ["graph0", "graph1"]
    assert payloads[0].operators == ["ADD", "MUL"] and payloads[1].operators == ["ADD", "MUL"] * 2
    (first, second) = map(named_data, delegates(both))
    assert first.keys() == second.keys() and len(first) == 1
    assert len(both.to_executorch().buffer) < len(alone.to_executorch().buffer) + 4096
    torch.testing.assert_close(run(both, x, "once"), (x + weight) * x)
    torch.testing.assert_close(
        run(both, x, "twice"), ((x + weight) * x + weight) * (x + weight) * x
    )


def test_methods_that_do_not_fit_into_one_context_have_one_each() -> None:
    first, second, x = torch.randn(100), torch.randn(100), torch.ones(100)
    options = {"compiler": CompilerOptions(max_bytes=1400)}
    manager = lowered({"a": Added(first), "b": Added(second)}, x, **options)
    keys = [named_data(each).keys() for each in delegates(manager)]
    assert len(keys) == 2 and keys[0] != keys[1]
    torch.testing.assert_close(run(manager, x, "b"), second + 1)


def test_the_runtime_takes_the_binary_for_its_device() -> None:
    x = torch.ones(3)
    manager = lowered(Added(x), x, devices=("v1", "v2"))
    (delegate,) = delegates(manager)
    payload = SCHEMA.unpack(bytes(delegate.processed_bytes))
    assert [each.device for each in payload.binaries] == ["v1", "v2"]
    assert {each.key for each in payload.binaries} == set(named_data(delegate))
    assert run(manager, x).tolist() == [2.0] * 3
    with pytest.raises(RuntimeError, match="this device is v2, the program was compiled for v1"):
        run(lowered(Added(x), x, devices=("v1",)), x)


# ---- Options ----


def test_nested_options_arrive_at_the_runtime() -> None:
    x = torch.ones(3)
    burst = {"runtime": RuntimeOptions(Performance.BURST)}
    manager = lowered(Added(x), x, **burst)
    (delegate,) = delegates(manager)
    assert delegate.compile_specs == [CompileSpec("runtime.performance", b"\1\0\0\0")]
    assert run(manager, x).tolist() == [2.0] * 3
    delegate._compile_specs = [CompileSpec("runtime.performance", b"\2\0\0\0")]
    with pytest.raises(RuntimeError, match="a performance that is not known"):
        run(manager, x)


def test_both_sides_have_the_same_options() -> None:
    x = torch.ones(3)
    manager = lowered(Added(x), x)
    (delegate,) = delegates(manager)
    delegate._compile_specs = [CompileSpec("?", b"")]
    with pytest.raises(RuntimeError) as caught:
        run(manager, x)
    known = ", ".join(options_of(SkeletonCompilerOptions))
    assert f'compile specs: expected one of {known}, found "?"' in str(caught.value)


# ---- Without the SDK, or with another ----


@pytest.mark.parametrize("version", ["", "1.9", "3.0"])
def test_a_library_that_is_missing_is_named(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vendor(), "version", lambda: version)
    message = (
        f"needed: expected its SDK >=2.1,<3, found {version or 'none'}; install its SDK, and set "
    )
    with pytest.raises(MissingCompiler, match=message + "SKELETON_COMPILER_LIBRARY to the library"):
        lowered(Added(torch.ones(3)), torch.ones(3))


def test_tools_see_what_a_payload_is() -> None:
    x = torch.ones(3)
    (delegate,) = delegates(lowered(Added(x), x, devices=("v1", "v2")))
    payload = bytes(delegate.processed_bytes)
    assert [each.kind for each in payload_reader.operators(payload)] == ["ADD", "MUL"]
    assert dict(payload_reader.facts(payload)) == {
        "graph": "graph0", "devices": "v1, v2", "compiled by version": "2.1",
    }  # fmt: skip
    with pytest.raises(ValueError):
        payload_reader.operators(payload[:8])
