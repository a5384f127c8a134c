# SPDX-License-Identifier: BSD-3-Clause
"""`TablePartitioner`: what it claims, the reasons for the rest, and what a backend may say of its own."""

from __future__ import annotations

import logging

import pytest
import torch
from torch.export import ExportedProgram, export
from torch.fx import Node

from executorch.exir import to_edge
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.op_table import NO_ROW, Condition, OpTable, Row
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.backend.lowering.patterns import HEAD, Call
from executorch.exir.error import ExportError


def _lower() -> None:
    """Nothing is written here."""


def _has_no_factor(node: Node, constants: Constants) -> bool:
    return node.kwargs.get("alpha", 1) == 1


class Adding(TablePartitioner):
    backend_id = "Adding"
    table = OpTable(
        {
            "aten.add.Tensor": Row(_lower, (Condition(_has_no_factor, "alpha must be 1"),)),
            "aten.max.dim": Row(_lower),
            "aten.view_copy.default": Row(_lower),
            "aten.hardswish.default": Row(_lower, preserved=True),
        }
    )


class Careful(Adding):
    """Knows what is slower, alone, at ends, and between others."""

    def trim_boundary(self, nodes: list[Node]) -> list[Node]:
        return [node for node in nodes if "view" not in node.name]

    def why_trimmed(self, node: Node) -> str:
        return "a view is free" if "view" in node.name else ""

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        return "" if any("add" in node.name for node in nodes) else "nothing is added"

    def split_at(
        self, program: ExportedProgram, groups: list[list[Node]], constants: Constants
    ) -> dict[Node, str]:
        adds = [node for node, *_ in groups if "add" in node.name]
        return {node: "too short" for node in adds if node.meta["val"].shape[-1] == 1}


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.neg(x + x).view(3, 2)
        return (y + y).view(6, 1), x.max(1)[0], torch.add(x, x, alpha=2), y[:, :1] + y[:, 1:]


def _program() -> ExportedProgram:
    return to_edge(export(Model(), (torch.randn(2, 3),))).exported_program()


def _tags(program: ExportedProgram) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in program.graph.nodes:
        if "delegation_tag" in node.meta:
            found.setdefault(node.meta["delegation_tag"], []).append(node.name)
    return found


def test_pieces_are_tagged_with_their_items() -> None:
    program = _program()
    specs = [CompileSpec("k", b"v")]
    result = Adding(specs).partition(program)
    tags = _tags(program)
    assert result.tagged_exported_program is program and result.partition_tags.keys() == tags.keys()
    assert all(spec == ("Adding", specs) for spec in result.partition_tags.values())
    (with_max,) = (names for names in tags.values() if "aten_max_dim" in names)
    assert "getitem" in with_max
    per_op = Adding(per_op_mode=True).partition(_program())
    assert len(per_op.partition_tags) > len(tags)
    calls = [node for node in _program().graph.nodes if node.op == "call_function"]
    taken = [name for names in _tags(per_op.tagged_exported_program).values() for name in names]
    assert len(taken) == len(set(taken)) < len(calls)


class Apart(Adding):
    joins_all = True

    def is_exclusive(self, group: list[Node]) -> bool:
        return "view" in group[0].name


def test_what_is_alone_is_joined_with_nothing() -> None:
    program = _program()
    assert len(Apart().partition(program).partition_tags) == 4
    apart = [names for names in _tags(program).values() if any("view" in name for name in names)]
    assert sorted(apart) == [["aten_view_copy_default"], ["aten_view_copy_default_1"]]
    assert not any("view" in node.name for node in Apart().why_not_delegated(_program()))


class Reads(torch.nn.Module):
    """A size of its result is data."""

    def forward(self, x: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
        return x.narrow(0, 0, size[0].item())


def test_reasons_are_of_edge_programs() -> None:
    exported = torch.export.export(torch.nn.Softmax(-1), (torch.ones(2, 3),))
    manager = to_edge(exported)
    by_program = Adding().why_not_delegated(manager.exported_program())
    assert Adding().why_not_delegated(manager) == by_program != {}
    lowered = manager.to_backend(Adding())
    assert len(Adding().why_not_delegated(lowered)) == 1
    read = to_edge(torch.export.export(Reads(), (torch.ones(4), torch.tensor([2]))))
    assert NO_ROW in Adding().why_not_delegated(read).values()  # torch's own operator, in edge, too
    for other, kind in (
        (exported, "calls of another dialect"),
        (lowered.to_executorch(), "calls of another dialect"),
        (torch.nn.ReLU(), "ReLU"),
    ):
        with pytest.raises(ExportError, match=f"expected an edge program, .* found {kind}"):
            Adding().why_not_delegated(other)


def test_reasons_of_what_is_left() -> None:
    program = _program()
    reasons = {node.name: why for node, why in Adding().why_not_delegated(program).items()}
    assert reasons["aten_neg_default"] == NO_ROW
    assert "alpha must be 1" in reasons.values()
    assert not _tags(program) and "getitem" not in reasons and "aten_add_tensor" not in reasons

    reasons = {node.name: why for node, why in Careful().why_not_delegated(program).items()}
    assert reasons["aten_view_copy_default"] == "a view is free"
    assert reasons["aten_max_dim"] == "nothing is added"
    assert "too short" in reasons.values()


def test_reasons_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger=__name__):
        Careful().partition(_program())
    assert NO_ROW in caplog.text and "nothing is added" in caplog.text


class Fusing(TablePartitioner):
    """A pattern of which no call has a row of its own, and a call with what may run with it."""

    backend_id = "Fusing"
    table = OpTable(
        {
            Call("aten.neg.default", Call("aten.add.Tensor", None, None)): Row(
                _lower, (Condition(lambda step, constants: step.head.name.endswith("neg_default"), "first"),)
            ),
            "aten.slice_copy.Tensor": Row(_lower, tail=Call("aten.exp.default", HEAD, optional=True)),
        }
    )  # fmt: skip


class Fused(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.neg(x + x)
        return y, torch.neg(y + y), y[1:].exp(), torch.exp(x)


def test_patterns_are_delegated_whole(caplog: pytest.LogCaptureFixture) -> None:
    program = to_edge(export(Fused(), (torch.randn(2, 3),))).exported_program()
    with caplog.at_level(logging.DEBUG, logger=__name__):
        reasons = {node.name: why for node, why in Fusing().why_not_delegated(program).items()}
        Fusing(per_op_mode=True).partition(program)
    of_pattern = dict.fromkeys(("aten_add_tensor_1", "aten_neg_default_1"), "first")
    assert reasons == {**of_pattern, "aten_exp_default_1": NO_ROW}
    assert list(_tags(program).values()) == [
        ["aten_add_tensor", "aten_neg_default"],
        ["aten_slice_copy_tensor", "aten_exp_default"],
    ]
    assert "aten_add_tensor_1" in caplog.text and "aten_exp_default " not in caplog.text
    for partition in (
        Fusing().generate_partitions(program),
        Fusing().generate_per_op_partitions(program),
    ):
        assert len({node.name for each in partition for node in each.nodes}) == 4


def test_operators_that_stay_whole() -> None:
    operators, which = Adding().ops_to_not_decompose(_program())
    assert operators == [torch.ops.aten.hardswish.default] and which is None


class Known(Adding):
    """Computes ahead what reads data alone."""

    def analyze(self, program: ExportedProgram) -> Constants:
        return Constants(program, computed=None)


class ReadTwice(torch.nn.Module):
    """Between the two sums stands a call that is not delegated: no delegate can have both."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("bias", torch.arange(3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        known = self.bias.neg().exp()
        return torch.neg(x + known) + known


def test_what_is_computed_ahead_for_two_delegates_is_computed_in_each() -> None:
    program = to_edge(export(ReadTwice(), (torch.randn(2, 3),))).exported_program()
    partitioner = Known()
    partitioner.prepare(program)
    partitioner.partition(program)
    found = sorted(
        sorted(name.split("_")[1] for name in names) for names in _tags(program).values()
    )
    own = [[n for n in names if n in ("add", "exp", "neg")] for names in found]
    assert own == [["add", "exp", "neg"]] * 2
