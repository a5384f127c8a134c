# SPDX-License-Identifier: BSD-3-Clause
"""What tests of passes share: a graph written as a function, and a pass run on it beside the numbers of before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule

from executorch.backends.test.graph_builder import GraphBuilder
from executorch.exir.graph_facts import op_name


def graph_of(write: Callable[..., Any], *inputs: torch.Tensor) -> GraphModule:
    """The graph that `write(call, *inputs)` makes, `call(op, *args)` for each call."""
    builder = GraphBuilder()

    def call(op: Any, *args: Any, **kwargs: Any) -> Any:
        return builder.call_operator(op, args, kwargs)

    values = [builder.placeholder(f"x{place}", each) for place, each in enumerate(inputs)]
    result = write(call, *values)
    builder.output(list(result) if isinstance(result, tuple) else [result])
    return builder.get_graph_module()


def calls(graph_module: GraphModule) -> list[str]:
    return [
        name.removeprefix("aten.") for node in graph_module.graph.nodes if (name := op_name(node))
    ]


def check(
    one: Any, write: Callable[..., Any], inputs: tuple[torch.Tensor, ...], expected: list[str]
) -> GraphModule:
    """Runs the pass: the calls that are left, and the same numbers as before."""
    graph_module = graph_of(write, *inputs)
    wanted, before = graph_module(*inputs), calls(graph_module)
    result = one(graph_module)
    assert calls(result.graph_module) == expected
    assert result.modified or expected == before
    for found, value in zip(result.graph_module(*inputs), wanted, strict=True):
        torch.testing.assert_close(found, value)
    values = [n.meta["val"].shape for n in result.graph_module.graph.nodes if op_name(n)]
    assert all(shape is not None for shape in values)
    return result.graph_module
