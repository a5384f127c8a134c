# SPDX-License-Identifier: BSD-3-Clause
"""What XnnpackPartitioner can be told, and what it says."""

from __future__ import annotations

import logging
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.partition import config
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.partition.config.xnnpack_config import ConfigPrecisionType
from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
    XnnpackFloatingPointPartitioner,
    XnnpackPartitioner,
    XnnpackQuantizedPartitioner,
)
from executorch.backends.xnnpack.test.lowering_test import graphs, kinds
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.devtools.backend_debug import get_delegation_info
from executorch.examples.models import make_example
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.partitioner import Partitioner
from executorch.runtime import Runtime


class Block(nn.Module):
    """A linear, a norm, an activation that is decomposed, and attention under a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            y = F.hardsigmoid(self.norm(self.linear(x)))
            x = x + F.scaled_dot_product_attention(y, y, y, mask)
        return x


def lower(partitioner: Partitioner, module: nn.Module | None = None) -> EdgeProgramManager:
    inputs = (torch.randn(2, 4, 8), torch.ones(4, 4, dtype=torch.bool).tril())
    exported = torch.export.export((module or Block()).eval(), inputs)
    return to_edge_transform_and_lower(exported, partitioner=[partitioner])


def inside(manager: EdgeProgramManager) -> Counter[str]:
    return sum(map(kinds, graphs(manager)), Counter())


def test_a_group_norm_goes_where_its_neighbours_go() -> None:
    norm, x = nn.GroupNorm(1, 8), torch.randn(2, 8, 12)

    def outside(module: nn.Module) -> list[str]:
        exported = torch.export.export(module.eval(), (x,))
        manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        nodes = manager.exported_program().graph.nodes
        return [node.name for node in nodes if "group_norm" in node.name]

    assert outside(norm)
    assert outside(nn.Sequential(nn.Conv1d(8, 8, 1), nn.GroupNorm(2, 8)))
    assert not outside(nn.Sequential(nn.Conv1d(8, 8, 1), norm))


@needs_runtime
def test_a_batch_norm_goes_into_a_convolution_outside() -> None:
    norms = nn.BatchNorm3d(4), nn.BatchNorm3d(6, affine=False)
    for norm in norms:
        norm.running_mean.uniform_(-1, 1)
        norm.running_var.uniform_(0.5, 2)
    up = nn.ConvTranspose3d(4, 6, 2, 2, groups=2, bias=False)
    module = nn.Sequential(nn.Conv3d(2, 4, 3), norms[0], nn.ReLU(), up, norms[1]).eval()
    x = torch.randn(1, 2, 5, 6, 7)
    manager = to_edge_transform_and_lower(
        torch.export.export(module, (x,)), partitioner=[XnnpackPartitioner()]
    )
    names = [node.name for node in manager.exported_program().graph.nodes]
    assert not [name for name in names if "norm" in name]
    assert inside(manager) == {"XNNClamp": 1}
    method = Runtime.get().load_program(manager.to_executorch().buffer).load_method("forward")
    torch.testing.assert_close(method.execute([x])[0], module(x), rtol=1e-4, atol=1e-5)


@pytest.mark.req("XQ-001")
def test_configs_choose_operators() -> None:
    chosen = lower(XnnpackPartitioner(configs=[config.LinearConfig, config.SoftmaxConfig]))
    assert inside(chosen) == {"XNNFullyConnected": 3, "XNNSoftmax": 3}
    assert not graphs(lower(XnnpackPartitioner(configs=[])))


@pytest.mark.req("XQ-001")
def test_precisions_of_a_float_program() -> None:
    everything = inside(lower(XnnpackPartitioner()))
    for precisions in (ConfigPrecisionType.FP32, list(ConfigPrecisionType)):
        assert inside(lower(XnnpackPartitioner(config_precisions=precisions))) == everything
    assert inside(lower(XnnpackFloatingPointPartitioner())) == everything
    assert not graphs(lower(XnnpackQuantizedPartitioner()))


@pytest.mark.req("XQ-002")
def test_an_activation_in_pieces_is_taken_whole() -> None:
    """By its operators, and by itself where a node does all of it."""
    for module, expected in (
        (nn.Hardsigmoid(), {"XNNAdd", "XNNClamp", "XNNDiv"}),
        (nn.Hardswish(), {"XNNHardswish"}),
    ):
        exported = torch.export.export(module, (torch.randn(3, 4),))
        manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        assert set(inside(manager)) <= expected
        info = get_delegation_info(manager.exported_program().graph_module)
        assert (info.num_delegated_subgraphs, info.num_non_delegated_nodes) == (1, 1)  # getitem


class Normed(nn.Module):
    """Convolutions of one dimension and of two, each with its batch norm, then a linear."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm_1 = nn.Conv1d(3, 4, 3, padding=1), nn.BatchNorm1d(4)
        self.second, self.norm_2 = nn.Conv2d(4, 5, 3, padding=1), nn.BatchNorm2d(5)
        self.third, self.linear = nn.Conv2d(5, 6, 3, padding=1), nn.Linear(6, 2)
        for norm in (self.norm_1, self.norm_2):
            norm.running_mean.uniform_(-1, 1)
            norm.running_var.uniform_(0.5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm_1(self.first(x))).unflatten(2, (4, 4))
        y = self.third(torch.relu(self.norm_2(self.second(y))))
        return self.linear(y.mean((2, 3)))


@needs_runtime
@pytest.mark.req("XQ-003")
def test_norms_are_folded_one_dimension_is_two_and_layouts_change_once() -> None:
    torch.manual_seed(0)
    model, x = Normed().eval(), torch.randn(2, 3, 16)
    exported = torch.export.export(model, (x,))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert get_delegation_info(manager.exported_program().graph_module).num_delegated_subgraphs == 1
    nodes = inside(manager)
    assert nodes["XNNConv2d"] == 3 and nodes["XNNFullyConnected"] == 1
    assert not {"XNNMultiply", "XNNAdd", "XNNSubtract", "XNNDiv"} & set(nodes), nodes
    # To rows of channels and back for the first, as unflatten sees its numbers in order; once for the others.
    assert nodes["XNNStaticTranspose"] <= 3, nodes
    (found,) = (
        Runtime.get()
        .load_program(manager.to_executorch().buffer)
        .load_method("forward")
        .execute([x])
    )
    torch.testing.assert_close(found, model(x), rtol=1e-3, atol=1e-5)


@pytest.mark.req("XQ-003")
def test_layers_share_what_depends_on_the_mask_alone() -> None:
    manager = lower(XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS))
    info = get_delegation_info(manager.exported_program().graph_module)
    assert info.num_delegated_subgraphs == 1
    rows = info.delegation_by_operator.values()
    left = {row.op_type: row.non_delegated for row in rows if row.non_delegated}
    assert max(left.values()) <= 2, left


@pytest.mark.req("XQ-003")
def test_positions_are_normed_without_a_transpose() -> None:
    """What a permute makes of a convolution's result lies in memory already."""

    class Positions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm, self.linear = nn.Conv2d(3, 6, 1), nn.LayerNorm(6), nn.Linear(6, 6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(self.norm(self.conv(x).permute(0, 2, 3, 1))).permute(0, 3, 1, 2)

    exported = torch.export.export(
        nn.Sequential(Positions(), nn.Conv2d(6, 3, 1)).eval(), (torch.randn(1, 3, 4, 5),)
    )
    partitioner = XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)
    manager = to_edge_transform_and_lower(exported, partitioner=[partitioner])
    assert inside(manager)["XNNStaticTranspose"] == 2  # of the input and of the output


def test_all_of_mobilenet_v2_is_delegated() -> None:
    """The document's two delegates with calls between them are one."""
    exported = make_example("mv2", False).export()["forward"]
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    info = get_delegation_info(manager.exported_program().graph_module)
    assert info.num_delegated_subgraphs == 1
    assert [row[0] for row in info.rows() if row[2]] == ["getitem", "Total"]


@pytest.mark.req("XQ-001")
def test_verbose_says_why_a_call_stays_outside(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        lower(XnnpackPartitioner(verbose=True))
    reasons = "\n".join(record.getMessage() for record in caplog.records)
    for reason in (
        TABLE["aten.native_layer_norm.default"].slower,
        "the backend has no such operator",
    ):
        assert reason and reason in reasons


def test_every_row_has_a_configuration() -> None:
    without_row = {
        "aten.max.dim",
        *(
            f"torchao.{name}_affine.default"
            for name in ("choose_qparams", "quantize", "dequantize")
        ),
    }
    assert {each.op for each in ALL_PARTITIONER_CONFIGS} == {*TABLE, *without_row}
    assert len(ALL_PARTITIONER_CONFIGS) == len(TABLE) + len(without_row)
    for each in ALL_PARTITIONER_CONFIGS:
        assert getattr(config, each.__name__) is each


def test_a_configuration_asks_the_table() -> None:
    program = torch.export.export(Block(), (torch.randn(2, 4, 8), torch.ones(4, 4).bool()))
    edge = to_edge_transform_and_lower(program).exported_program()
    linear = next(node for node in edge.graph.nodes if node.name == "aten_linear_default")
    row = config.LinearConfig()
    assert row.target_name == "linear.default"
    assert row.check_constraints(linear, edge)
    row.set_enabled_precision_types([ConfigPrecisionType.STATIC_QUANT])
    assert not row.check_constraints(linear, edge)
    assert config.AbsConfig().supported_precision_types() == [ConfigPrecisionType.FP32]
    assert config.HardswishConfig().get_original_aten() is torch.ops.aten.hardswish.default


def test_configurations_by_target_and_partitions_without_tags() -> None:
    partitioner = XnnpackPartitioner(configs=[config.AddConfig, config.LinearConfig])
    assert set(partitioner.target_partitioner_configs) == {"add.Tensor", "linear.default"}
    exported = torch.export.export(
        nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), (torch.randn(2, 3),)
    )
    edge = to_edge_transform_and_lower(exported).exported_program()
    assert len(partitioner.generate_partitions(edge)) == 1
    assert len(partitioner.generate_per_op_partitions(edge)) == 2
    linear = next(n for n in edge.graph.nodes if n.op == "call_function")
    taken = partitioner.target_partitioner_configs["linear.default"].get_partition(linear, edge)
    assert taken == [linear] and linear.meta["xnn_partitioner_config"] == ["LinearConfig"]
    assert partitioner.target_partitioner_configs["add.Tensor"].get_partition(linear, edge) == []


def test_weights_that_are_not_static_are_refused_with_a_word() -> None:
    with pytest.raises(ValueError, match="weights of linear are constants here"):
        XnnpackPartitioner(force_non_static_weights_for_f32_linear=True)


def test_conv3d_of_few_channels_goes_where_that_of_many_goes() -> None:
    def outside(*layers: nn.Module) -> list[str]:
        exported = torch.export.export(nn.Sequential(*layers).eval(), (torch.randn(1, 4, 5, 6, 7),))
        manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        nodes = manager.exported_program().graph.nodes
        return [node.name for node in nodes if "convolution" in node.name]

    first, last = nn.Conv3d(4, 16, 3), nn.Conv3d(16, 4, 1)
    assert len(outside(first, nn.ReLU(), last)) == 2
    assert not outside(first, nn.BatchNorm3d(16), nn.ReLU(), nn.Conv3d(16, 16, 3), last)
    assert len(outside(first, nn.Conv3d(16, 16, 3), nn.Conv3d(16, 4, 3, padding=1))) == 1
