# SPDX-License-Identifier: BSD-3-Clause
"""Delegated programs on the C++ runtime give what eager PyTorch gives: the three flows, data, branches, sizes that
change, and errors at load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim, ExportedProgram, export

from executorch.exir import EdgeProgramManager, ExecutorchBackendConfig, to_edge
from executorch.exir import to_edge_transform_and_lower as lower
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.test.backend_with_compiler_demo import BackendWithCompilerDemo
from executorch.exir.backend.test.executor_backend import ExecutorBackend
from executorch.exir.backend.test.op_partitioner_demo import (
    AddMulPartitionerDemo,
    AllNodesPartitionerDemo,
    NonDecompTestPartitioner,
)
from executorch.exir.backend.utils import tag_constant_data, tag_mutated_buffer
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings import portable_lib
from executorch.test.e2e.build_tree import load_demo_backends

load_demo_backends()
X, Y = torch.randn(2, 2), torch.randn(2, 2)


class Claim(Partitioner):
    """Gives every node that `accepts` takes to ExecutorBackend as one delegate, with the data it reads."""

    def __init__(self, accepts: Callable[[torch.fx.Node], bool] = lambda node: True) -> None:
        super().__init__()
        self.accepts = accepts

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        for node in exported_program.graph.nodes:
            if node.op == "call_function" and self.accepts(node):
                node.meta["delegation_tag"] = "all"
        tag_constant_data(exported_program)
        tag_mutated_buffer(exported_program)
        return PartitionResult(
            exported_program, {"all": DelegationSpec(ExecutorBackend.__name__, [])}
        )


def load(manager: EdgeProgramManager, **config: Any) -> Any:
    buffer = manager.to_executorch(ExecutorchBackendConfig(**config)).buffer
    return portable_lib._load_for_executorch_from_buffer(buffer)


def num_delegates(manager: EdgeProgramManager, method: str = "forward") -> int:
    return len(get_lowered_backend_modules(manager.exported_program(method).graph_module))


def check(outputs: list, expected: Any) -> None:
    expected = expected if isinstance(expected, tuple | list) else [expected]
    for output, value in zip(outputs, expected, strict=True):
        torch.testing.assert_close(output, value, rtol=1e-5, atol=1e-5)


# ---- The demo compiler ----


class MmAdd(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        z = torch.mm(a, b) + b
        return torch.mm(z - a, b) + z


class Wired(torch.nn.Module):
    """Operands in an order the rule does not give, a value used twice, two outputs."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple:
        first = b + a
        second = b + first
        return torch.mm(second, second), first + torch.mm(a, first)


class ManyUses(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a + b) + (b + a) + (a + a)


@pytest.mark.req("CMP-042", "CMP-048")
@pytest.mark.parametrize("segments", [True, False], ids=["segment", "inline"])
@pytest.mark.parametrize("module", [MmAdd(), Wired(), ManyUses()], ids=lambda m: type(m).__name__)
def test_the_demo_compiler(module: torch.nn.Module, segments: bool) -> None:
    manager = to_edge(export(module, (X, Y))).to_backend(AddMulPartitionerDemo())
    assert num_delegates(manager) > 0
    loaded = load(manager, extract_delegate_segments=segments)
    for inputs in ((X, Y), (Y, X)):
        check(loaded.forward(inputs), module(*inputs))


class Sin(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x)


@pytest.mark.req("CMP-042", "CMP-043")
def test_a_whole_module_and_the_same_inside_another() -> None:
    lowered = to_backend(
        BackendWithCompilerDemo.__name__, to_edge(export(Sin(), (X,))).exported_program(), []
    )
    for segments in (True, False):
        loaded = portable_lib._load_for_executorch_from_buffer(lowered.buffer(segments))
        check(loaded.forward((X,)), torch.sin(X))

    class Around(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = lowered
            self.scale = torch.nn.Parameter(torch.randn(2))

        def forward(self, x: torch.Tensor) -> tuple:
            a = self.inner(x)
            return a, self.inner(a * self.scale) + x

    model = Around()
    manager = to_edge(export(model, (X,)))
    assert num_delegates(manager) == 1, "one module, called twice"
    program = manager.to_executorch().executorch_program
    assert len(program.backend_delegate_data) == 1 and len(program.execution_plan[0].delegates) == 2
    check(load(manager).forward((X,)), model(X))


def test_a_lowered_module_that_owns_weights_can_be_exported_again() -> None:
    linear = torch.nn.Linear(2, 3).eval()
    lowered = to_backend("ExecutorBackend", to_edge(export(linear, (X,))).exported_program(), [])

    class Around(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = lowered

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.inner(x))

    manager = to_edge(export(Around(), (X,)))
    assert not manager.exported_program().state_dict, "the weights are in the blob"
    check(load(manager).forward((X,)), torch.relu(linear(X)))


def test_nested_inputs_and_outputs() -> None:
    class Nested(torch.nn.Module):
        def forward(self, pair: list, named: dict) -> dict:
            return {"sum": pair[0] + named["x"], "both": (pair[1], pair[0] - named["x"])}

    inputs = ([X, Y], {"x": X + 1})
    lowered = to_backend(
        "ExecutorBackend", to_edge(export(Nested(), inputs)).exported_program(), []
    )
    result = lowered(*inputs)
    assert set(result) == {"sum", "both"} and isinstance(result["both"], tuple)

    class Around(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = lowered

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            result = self.inner([x, y], {"x": y})
            return result["sum"] * result["both"][1]

    check(load(to_edge(export(Around(), (X, Y)))).forward((X, Y)), Around()(X, Y))
    with pytest.raises(ExportError, match="was exported with inputs"):
        lowered(X)


# ---- Whole programs through ExecutorBackend ----


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.conv(x)))
        values, _ = torch.max(x.flatten(2), 2)
        return torch.softmax(self.head(values), 1)


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + x, lambda x: x - 1, [x]) * 2


NETS = [(Net().eval(), (torch.randn(1, 1, 6, 6),)), (Branches(), (X,)), (MmAdd(), (X, Y))]


def only(*names: str) -> Callable[[torch.fx.Node], bool]:
    return lambda node: any(name in str(node.target) for name in names)


@pytest.mark.req("CMP-046", "CMP-048")
@pytest.mark.parametrize("net, inputs", NETS, ids=[type(net).__name__ for net, _ in NETS])
@pytest.mark.parametrize(
    "partitioner",
    [AllNodesPartitionerDemo(), Claim(), Claim(only("convolution", "relu", "linear.default"))],
    ids=["all", "claim", "some"],
)
def test_whole_programs(net: torch.nn.Module, inputs: tuple, partitioner: Partitioner) -> None:
    if isinstance(net, Net) and not isinstance(partitioner, AllNodesPartitionerDemo):
        partitioner = Claim(only("convolution", "batch_norm", "relu"))
    manager = lower(export(net, inputs), partitioner=[partitioner])
    loaded = load(manager)
    for sign in (1, -1):
        values = tuple(sign * value for value in inputs)
        check(loaded.forward(values), net(*values))


def test_sizes_that_change() -> None:
    class Rows(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(torch.cat([x, x * 2]), 1).reshape(-1) + x.shape[0]

    rows = Dim("rows", min=1, max=9)
    program = export(Rows(), (torch.randn(4, 3),), dynamic_shapes={"x": {0: rows}})
    for accepts in (lambda node: True, only("cat", "softmax"), only("aten.add")):
        manager = lower(program, partitioner=[Claim(accepts)])
        assert num_delegates(manager) == 1
        loaded = load(manager)
        for size in (1, 4, 9):
            x = torch.randn(size, 3)
            check(loaded.forward((x,)), Rows()(x))


@pytest.mark.parametrize("claims", ["all", "read", "nothing"])
def test_buffers_keep_their_value_between_calls(claims: str) -> None:
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.full((2,), 5.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(x)
            return self.count * 2

    accepts = {"all": lambda node: True, "read": only("mul"), "nothing": lambda node: False}
    manager = lower(export(Counter(), (torch.ones(2),)), partitioner=[Claim(accepts[claims])])
    owns = not manager.exported_program().graph_signature.buffers_to_mutate
    assert owns == (claims == "all")
    loaded, eager = load(manager), Counter()
    for _ in range(3):
        check(loaded.forward((torch.ones(2),)), eager(torch.ones(2)))


def test_a_delegate_inside_a_delegate() -> None:
    manager = to_edge(export(MmAdd(), (X, Y))).to_backend(AddMulPartitionerDemo())
    outer = manager.to_backend(Claim())
    (module,) = get_lowered_backend_modules(outer.exported_program().graph_module)
    assert len(get_lowered_backend_modules(module.original_module.graph_module)) == 2
    check(load(outer).forward((X, Y)), MmAdd()(X, Y))


def test_methods_with_their_own_partitioners() -> None:
    programs = {"mm": export(MmAdd(), (X, Y)), "wired": export(Wired(), (X, Y))}
    manager = lower(programs, partitioner={"mm": [AddMulPartitionerDemo()], "wired": [Claim()]})
    loaded = load(manager)
    check(loaded.run_method("mm", (X, Y)), MmAdd()(X, Y))
    check(loaded.run_method("wired", (X, Y)), Wired()(X, Y))


@pytest.mark.req("CMP-002")
def test_earlier_partitioners_choose_first() -> None:
    manager = lower(
        export(MmAdd(), (X, Y)), partitioner=[AddMulPartitionerDemo, Claim(only("aten."))]
    )
    ids = [
        m.backend_id for m in get_lowered_backend_modules(manager.exported_program().graph_module)
    ]
    assert sorted(set(ids)) == ["BackendWithCompilerDemo", "ExecutorBackend"]
    check(load(manager).forward((X, Y)), MmAdd()(X, Y))


@pytest.mark.req("CMP-002")
def test_operators_a_backend_wants_whole() -> None:
    class Attention(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.with_bias = torch.nn.Linear(2, 2)
            self.without = torch.nn.Linear(2, 2, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q = self.without(self.with_bias(x))
            return torch.nn.functional.scaled_dot_product_attention(q, x, x)

    x = torch.randn(1, 1, 4, 2)
    model = Attention().eval()
    wanted = NonDecompTestPartitioner()
    manager = to_edge(export(model, (x,)))
    assert "scaled_dot_product" not in str(manager.exported_program().graph)

    class LeavesAttention(NonDecompTestPartitioner):
        """Asks for attention, and does not claim it."""

        def partition(self, exported_program: ExportedProgram) -> PartitionResult:
            result = super().partition(exported_program)
            for node in exported_program.graph.nodes:
                if "scaled_dot" in str(node.target):
                    del node.meta["delegation_tag"]
            return result

    manager = lower(export(model, (x,)), partitioner=[LeavesAttention()])
    assert "scaled_dot_product" not in str(manager.exported_program().graph), "decomposed again"
    assert num_delegates(manager) == 2
    check(load(manager).forward((x,)), model(x))
    assert num_delegates(lower(export(model, (x,)), partitioner=[wanted])) == 3
