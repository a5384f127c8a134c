# SPDX-License-Identifier: BSD-3-Clause
"""Small functions that tools and backends of others call. Expected results are upstream's."""

from __future__ import annotations

import pytest
import torch
from torch.export import export
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv

from executorch.exir import to_edge
from executorch.exir.operator.convert import output_to_aliased_input_map
from executorch.exir.print_program import inspect_node
from executorch.exir.program._fake_program import get_fake_program
from executorch.exir.tensor import dim_order_from_stride


class Sine(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x)


def test_a_node_is_shown_in_its_graph_with_its_lines() -> None:
    program = to_edge(export(Sine(), (torch.ones(2),))).exported_program()
    call = next(n for n in program.graph.nodes if n.op == "call_function")
    text = inspect_node(program.graph, call)
    assert text.startswith("Here is the node in the graph module:")
    (marked,) = [line for line in text.splitlines() if line.startswith("-->")]
    assert "aten.sin.default" in marked
    trace = text.partition("Traceback (most recent call last):")[2]
    assert "return torch.sin(x)" in trace
    placeholder = next(iter(program.graph.nodes))
    placeholder.meta.pop("stack_trace", None)
    assert "Traceback" not in inspect_node(program.graph, placeholder)


def test_the_first_of_several_aliases_is_the_result() -> None:
    schema = torch._C.parse_schema("t::tied(Tensor(a!) x, Tensor(a!) y) -> Tensor(a!)")
    assert output_to_aliased_input_map(schema) == {0: 0}


def test_a_fake_program_has_copies_of_what_names_things() -> None:
    program = export(Sine(), (torch.ones(2),))
    fake = get_fake_program(program)
    assert fake.module_call_graph is not program.module_call_graph
    assert [e.fqn for e in fake.module_call_graph] == [e.fqn for e in program.module_call_graph]
    assert fake.graph_signature is not program.graph_signature
    assert fake.graph_signature == program.graph_signature
    assert fake.verifier is program.verifier


def test_orders_of_sizes_that_depend_on_data() -> None:
    env = ShapeEnv()
    a, b = env.create_unbacked_symint(), env.create_unbacked_symint()
    rows = [((1, a), (1, 0)), ((a, 2 * a), (1, 0)), ((1, a, 2 * a), (2, 1, 0)), ((a, a), (0, 1)),
            ((a * b, b, 1), (0, 1, 2))]  # fmt: skip
    for stride, order in rows:
        assert dim_order_from_stride(stride) == order
    with pytest.raises(GuardOnDataDependentSymNode):
        dim_order_from_stride((a, b))
    with pytest.raises(RuntimeError, match="0 in strides"):
        dim_order_from_stride((a, 0, 1))
