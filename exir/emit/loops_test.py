# SPDX-License-Identifier: BSD-3-Clause
"""map, scan and while_loop as instructions of the program, against eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim, export

from executorch.exir import EdgeProgramManager, ExecutorchBackendConfig, control_flow, to_edge
from executorch.exir.error import ExportError
from executorch.exir.memory_planning import MemoryAlgoResult, SpecAllocResult, naive
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

RANDOM = torch.Generator().manual_seed(0)
XS, V = torch.randn(4, 3, generator=RANDOM), torch.randn(3, generator=RANDOM)


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(self, *args)


def mapped(m: Call, xs: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    doubled = v * 2
    return torch_map(lambda x, y: torch.sin(m.linear(x) + y), xs.exp(), doubled) + doubled


def mapped_twice(m: Call, xs: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = torch_map(lambda x, y: (x * y, (x + y).sum()), xs, v)
    return first + 1, second


def scanned(m: Call, v: torch.Tensor, xs: torch.Tensor) -> Any:
    last, all_of_them = scan(lambda c, x: (c * 0.5 + x, torch.tanh(c - x)), v, xs)
    return last, all_of_them, v


def recurrent(m: Call, v: torch.Tensor, xs: torch.Tensor) -> Any:
    def step(state: Any, x: torch.Tensor) -> Any:
        h, count = state
        new = torch.tanh(m.linear(x) + h)
        return (new, h + count), new * count

    (h, previous), outputs = scan(step, (v + 1, torch.zeros(3)), xs)
    return h, previous, outputs.relu()


def branching(m: Call, v: torch.Tensor, xs: torch.Tensor) -> Any:
    def step(c: torch.Tensor, x: torch.Tensor) -> Any:
        new = torch.cond(x.sum() > 0, lambda a, b: a + b, lambda a, b: a * b, (c, x))
        return new, new.clone()

    return scan(step, v, xs)


def looped(m: Call, n: torch.Tensor, v: torch.Tensor) -> Any:
    start = v + 1
    n, v = while_loop(lambda n, x: n < 5, lambda n, x: (n + 1, x * 2 + n), (n, start))
    return n, v, start


def swapped(m: Call, n: torch.Tensor, v: torch.Tensor) -> Any:
    body = lambda n, a, b: (n + 1, b * 2, a + 1)  # noqa: E731
    return while_loop(lambda n, a, b: n < 5, body, (n, v, v.sin()))


def with_tensors(m: Call, v: torch.Tensor, xs: torch.Tensor) -> Any:
    """Each graph has tensors of its own, one of them in a branch inside of a body."""
    few = torch.cond(
        v.sum() > 0,
        lambda x: x * torch.tensor([1.0, 2.0, 3.0]),
        lambda x: x - torch.tensor(2.0),
        (v,),
    )

    def step(c: torch.Tensor, x: torch.Tensor) -> Any:
        inner = torch.cond(
            x.sum() > 0, lambda y: y + torch.tensor([0.5, 1.0, 2.0]), lambda y: y * 2, (x,)
        )
        new = c * torch.tensor([1.0, 0.5, 2.0]) + inner
        return new, new + 1

    last, all_of_them = scan(step, few, xs)
    count, doubled = while_loop(
        lambda n, y: n < torch.tensor(3),
        lambda n, y: (n + 1, y * torch.tensor([2.0, 1.0, 1.0])),
        (torch.zeros((), dtype=torch.int64), last),
    )
    mapped = torch_map(lambda x, y: x + y * torch.tensor(3.0), xs, v)
    return few, last, all_of_them, count, doubled, mapped


def lowered(function: Callable[..., Any], *inputs: torch.Tensor, **options: Any) -> Any:
    module = Call(function).eval()
    manager = to_edge(export(module, inputs, **options))
    return module, manager


def check(module: Call, manager: EdgeProgramManager, *many: tuple[torch.Tensor, ...]) -> None:
    """One loaded method, run on each of the inputs twice: nothing is left over from a run."""
    method = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for inputs in many:
        expected = module(*inputs)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for _ in range(2):
            torch.testing.assert_close(tuple(method.forward(inputs)), expected)


CASES = {
    "map": (mapped, (XS, V)),
    "map of two": (mapped_twice, (XS, V)),
    "scan": (scanned, (V, XS)),
    "scan of a network": (recurrent, (V, XS)),
    "scan with branches": (branching, (V, XS)),
    "while": (looped, (torch.tensor(0), V)),
    "while that never runs": (looped, (torch.tensor(9), V)),
    "while that swaps": (swapped, (torch.tensor(1), V)),
    "tensors in branches and bodies": (with_tensors, (V, XS)),
}


@pytest.mark.req("CMP-054")
@pytest.mark.parametrize("name", CASES)
def test_loops_run_as_in_eager(name: str) -> None:
    function, inputs = CASES[name]
    module, manager = lowered(function, *inputs)
    torch.testing.assert_close(manager.exported_program().module()(*inputs), module(*inputs))
    check(module, manager, inputs)


@pytest.mark.req("CMP-054")
def test_the_number_of_slices_may_vary() -> None:
    dynamic = {"args": ({0: Dim("n", min=2, max=8)}, None)}
    module, manager = lowered(mapped, XS, V, dynamic_shapes=dynamic)
    check(module, manager, *((torch.randn(n, 3), V) for n in (2, 8, 5)))


@pytest.mark.req("CMP-054")
def test_there_may_be_no_slices() -> None:
    """Eager's map and scan refuse that; a loop in Python says what it means."""

    def loop(m: Call, v: torch.Tensor, xs: torch.Tensor) -> Any:
        last, rows = scan(lambda c, x: (c + x, (c * x).sum().to(torch.int32)), v, xs)
        return last, rows, torch_map(lambda x, y: x - y, xs, v)

    def expected(v: torch.Tensor, xs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rows = torch.zeros(xs.shape[0], dtype=torch.int32)
        last = v
        for place, x in enumerate(xs):
            rows[place] = (last * x).sum().to(torch.int32)
            last = last + x
        return last, rows, xs - v

    dynamic = {"args": (None, {0: Dim("n", min=0, max=8)})}
    _, manager = lowered(loop, V, XS, dynamic_shapes=dynamic)
    method = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for number in (4, 0, 8, 0, 1):
        inputs = (V, torch.randn(number, 3, generator=RANDOM))
        torch.testing.assert_close(tuple(method.forward(inputs)), expected(*inputs))


@pytest.mark.req("CMP-054")
@pytest.mark.parametrize("name", ["map", "scan"])
def test_no_slices_ever_is_refused_at_export(name: str) -> None:
    function, inputs = CASES[name]
    empty = tuple(XS[:0] if value is XS else value for value in inputs)
    with pytest.raises(RuntimeError, match="cannot be 0|dimension > 0"):
        lowered(function, *empty)


@pytest.mark.parametrize("name", CASES)
def test_passes_run_loops(name: str) -> None:
    function, inputs = CASES[name]
    module, manager = lowered(function, *inputs)
    check(module, manager.transform([ExportPass()]), inputs)


def first_fit(
    alignment: int, specs: Any, graph_module: Any, graph_signature: Any, extra_padding: int
) -> MemoryAlgoResult:
    """A user's plan, as tight as lifetimes let it be: each tensor at the first place that is free while it lives."""
    result, placed, end = MemoryAlgoResult({}, [0, 0]), [], 0
    for spec in specs:
        size, (first, last) = spec.realign(alignment), spec.lifetime
        taken = sorted((a, b) for a, b, one, two in placed if one <= last and first <= two)
        offset = 0
        for begin, behind in taken:
            if offset + size <= begin:
                break
            offset = max(offset, behind)
        placed.append((offset, offset + size, first, last))
        result.spec_dict[spec] = SpecAllocResult(1, 0, offset)
        end = max(end, offset + size)
    result.bufsizes[1] = end
    return result


@pytest.mark.parametrize("algorithm", [naive, first_fit])
@pytest.mark.parametrize("name", CASES)
def test_loops_in_a_plan_of_the_users(name: str, algorithm: Any) -> None:
    """What lives across a loop keeps its bytes while the body runs."""
    function, inputs = CASES[name]
    module, manager = lowered(function, *inputs)
    planning = MemoryPlanningPass(algorithm)
    program = manager.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))
    method = _load_for_executorch_from_buffer(program.buffer)
    expected = module(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    torch.testing.assert_close(tuple(method.forward(inputs)), expected)


def test_control_flow_under_its_documented_path() -> None:
    def halved(m: Call, v: torch.Tensor) -> torch.Tensor:
        v = control_flow.cond(v.sum() > 0, lambda a: a + 1, lambda a: 1 - a, (v,))
        rows = control_flow.map(lambda x, y: x * y, torch.stack([v, v]), v)
        count = control_flow.shape(v)[0]
        return control_flow.while_loop(lambda x: x.abs().sum() > 1, lambda x: x / 2, rows) * count

    module, manager = lowered(halved, V)
    check(module, manager, (V,), (-V,), (V * 100,))


def test_a_tensor_that_torch_kept_no_data_of_is_named() -> None:
    """As it is with quantized numbers in the body of a scan."""
    halved = Call(lambda m, v, xs: scan(lambda c, x: (c * torch.tensor(0.5) + x, c + x), v, xs))
    program = export(halved, (V, XS))
    body = program.graph_module.scan_combine_graph_0
    with FakeTensorMode():
        body._tensor_constant0 = torch.empty(())
    with pytest.raises(
        ExportError, match=r"_tensor_constant0.*scan.*loops_test\.py.*as an operand"
    ):
        to_edge(program)
