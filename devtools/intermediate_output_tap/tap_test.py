# SPDX-License-Identifier: BSD-3-Clause
"""Tapped values are those of the model, delegated or not; the numbers about them are arithmetic shown here."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.intermediate_output_tap import (
    FULL_TENSOR,
    STATS,
    compare_aot_runtime_dataframe,
    find_tap_nodes,
    get_reducer,
    select_all,
    select_all_call_function,
    select_any,
    select_by_module_class,
    select_by_module_path,
    select_by_op_type,
    select_not,
    tap_compare,
    tap_intermediate_outputs_,
)
from executorch.devtools.intermediate_output_tap.custom_ops_lib import tap_tensor_impl
from executorch.exir import to_edge_transform_and_lower


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) * 2


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        for layer in self.layers:
            x = layer(x)
        return {"out": x}


X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))


def program() -> Any:
    torch.manual_seed(0)
    return export(Model(), (X,))


@pytest.mark.parametrize("partitioner", [None, [XnnpackPartitioner()]], ids=["kernels", "xnnpack"])
def test_numbers_of_every_call_agree(partitioner: Any) -> None:
    torch.manual_seed(0)
    table, specs = tap_compare(Model(), (X,), partitioner)
    assert [spec.node_name for spec in specs] == [
        "linear", "relu", "mul", "linear_1", "relu_1", "mul_1",
    ]  # fmt: skip
    assert [spec.output_index for spec in specs] == [1, 2, 3, 4, 5, 6]
    for field in STATS.fields:
        expected, found = table[f"aot_{field}"].tolist(), table[f"rt_{field}"].tolist()
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6), field
    assert table["module_path"][0] == "layers.0.linear" and table["module_class"][0] == "Linear"


def test_a_whole_tensor_leaves_the_delegate() -> None:
    torch.manual_seed(0)
    rule = (select_by_op_type("aten.relu"), FULL_TENSOR)
    table, specs = tap_compare(Model(), (X,), [XnnpackPartitioner()], rules=rule)
    assert [spec.op_target for spec in specs] == ["aten.relu.default"] * 2
    assert all(table["sqnr_db"] > 100) and table["aot_numel"].tolist() == [12, 12]


def test_statistics_are_arithmetic() -> None:
    x = torch.tensor([[3.0, -4.0], [0.0, 1.0]])
    found = dict(zip(STATS.fields, STATS.eager(x).tolist(), strict=True))
    assert found == pytest.approx(
        {
            "min": -4, "max": 3, "mean": 0, "abs_max": 4, "abs_mean": 2, "std": math.sqrt(6.5),
            "rms": math.sqrt(6.5), "l1_norm": 8, "l2_norm": math.sqrt(26), "nan_count": 0,
            "inf_count": 0, "zero_count": 1, "p99_abs": 4,
        }
    )  # fmt: skip
    odd = tap_tensor_impl(torch.tensor([math.nan, math.inf, -math.inf, 0.0]), "STATS")
    counts = dict(zip(STATS.fields, odd.tolist(), strict=True))
    assert [counts[f"{name}_count"] for name in ("nan", "inf", "zero")] == [1, 2, 1]
    assert tap_tensor_impl(x, "FULL_TENSOR").data_ptr() != x.data_ptr()


def test_selectors_and_how_they_combine() -> None:
    def names(selector: Any, **options: Any) -> list[str]:
        _, specs = tap_intermediate_outputs_(
            program(), (selector, STATS), error_on_empty=False, **options
        )
        return [spec.node_name for spec in specs]

    linears = select_by_op_type("aten.linear.default")
    assert names(linears) == ["linear", "linear_1"]
    assert names(select_by_module_path("layers.0")) == ["mul"]
    assert names(select_by_module_path("layers.0", output_only=False)) == ["linear", "relu", "mul"]
    assert names(select_by_module_path("layers.*.linear")) == ["linear", "linear_1"]
    assert names(select_by_module_class("Block")) == ["mul", "mul_1"]
    first = select_by_module_path("layers.0", output_only=False)
    assert names(select_all(first, select_not(linears))) == ["relu", "mul"]
    assert names(select_any(linears, select_by_module_class("Block")), max_taps=3) == [
        "linear", "mul", "linear_1",
    ]  # fmt: skip
    assert names(select_all_call_function(exclude=("relu", "mul"))) == ["linear", "linear_1"]
    assert names(select_by_op_type("aten.lin")) == names(select_by_op_type("relu.defau")) == []
    assert names(select_by_op_type("relu.default")) == ["relu", "relu_1"]
    assert names(select_by_op_type("aten.linear")) == ["linear", "linear_1"]


class Kept(torch.nn.Module):
    """Of the block both values leave, of which one is read inside."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Both()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        linear, relu = self.inner(x)
        return linear + relu


class Both(Block):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        y = self.linear(x)
        return y, torch.relu(y)


@pytest.mark.parametrize("select", [select_by_module_path, select_by_module_class])
def test_outputs_of_a_module_are_what_nothing_in_it_reads(select: Any) -> None:
    """As in upstream: a pattern that fits a module and one inside of it means the outer one."""
    name = "inner*" if select is select_by_module_path else "Both"
    found = {}
    for output_only in (True, False):
        tapped, specs = tap_intermediate_outputs_(
            export(Kept(), (X,)), (select(name, output_only=output_only), STATS)
        )
        found[output_only] = [spec.node_name for spec in specs]
    assert found == {True: ["relu"], False: ["linear", "relu"]}


@pytest.mark.parametrize("count, expected", [(1, 1), (99, 99), (100, 100), (101, 100), (1000, 991)])
def test_the_99th_percentile(count: int, expected: int) -> None:
    """Of 1000 values the tenth largest."""
    x = -torch.arange(1.0, count + 1)
    statistics = dict(zip(STATS.fields, STATS.eager(x).tolist(), strict=True))
    assert statistics["p99_abs"] == expected


def test_selectors_and_rules_must_say_something() -> None:
    for select, what in (
        (select_by_op_type, "op target"),
        (select_by_module_path, "pattern"),
        (select_by_module_class, "class name"),
    ):
        with pytest.raises(ValueError, match=f"{select.__name__} requires at least one {what}"):
            select()
    for options in ({}, {"error_on_empty": False}):
        with pytest.raises(ValueError, match="`rules` must be non-empty"):
            tap_intermediate_outputs_(program(), [], **options)
    with pytest.raises(ValueError, match="no rule matched any node"):
        tap_intermediate_outputs_(program(), max_taps=-1)
    with pytest.warns(UserWarning, match="no rule matched any node"):
        untouched, specs = tap_intermediate_outputs_(
            program(), (select_by_op_type("nope"), STATS), error_on_empty=False
        )
    assert specs == [] and find_tap_nodes(untouched.graph_module) == []


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match="no rule matched any node"):
        tap_intermediate_outputs_(program(), (select_by_op_type("nope"), STATS))
    with pytest.raises(
        ValueError, match=r"Unknown reducer 'zz'; available: \['FULL_TENSOR', 'STATS'\]"
    ):
        get_reducer("zz")
    assert get_reducer(STATS) is STATS


def test_a_tapped_program_still_runs_and_its_taps_can_be_found() -> None:
    tapped, specs = tap_intermediate_outputs_(program(), (select_by_op_type("aten.relu"), "STATS"))
    flat = tapped.module()(X)
    assert len(flat) == 3 and torch.equal(flat[0], model_of(tapped)(X))
    edge = to_edge_transform_and_lower(tapped).exported_program()
    assert len(find_tap_nodes(edge.graph_module)) == len(specs) == 2
    relu = torch.ones(3, 4)
    (row,) = compare_aot_runtime_dataframe(
        [specs[0]], [None, STATS.eager(relu)], [None, STATS.eager(relu + 1)]
    ).to_dict("records")
    assert (row["aot_max"], row["rt_max"]) == (1.0, 2.0)


def model_of(tapped: Any) -> Any:
    """The model that was exported, with its weights."""
    model = Model()
    model.load_state_dict(tapped.state_dict)
    return lambda x: model(x)["out"]
