# SPDX-License-Identifier: BSD-3-Clause
"""What is not delegated because XNNPACK would be slower, and what is delegated all the same."""

from __future__ import annotations

import operator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.partition_cost_model import SHORT_ROWS, TRANSPOSED, Layouts
from executorch.backends.xnnpack.partition import config
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.backend_debug import get_delegation_info
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name


class Scaled(nn.Module):
    """Values by a number for each row, between `before` and `after`."""

    def __init__(self, before: nn.Module | None = None, after: nn.Module | None = None) -> None:
        super().__init__()
        self.before, self.after = before or nn.Identity(), after or nn.Identity()

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        return self.after(self.before(x) * scale)


class Gated(nn.Module):
    """A convolution under a gate for each channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv, self.gate = nn.Conv2d(3, channels, 3), nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        return y * torch.sigmoid(self.gate(y.mean((2, 3), keepdim=True)))


class Inverted(nn.Module):
    """Sandler et al., 2018."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        wide = 6 * channels
        self.layers = nn.Sequential(
            nn.Conv2d(channels, wide, 1),
            nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide),
            nn.ReLU6(),
            nn.Conv2d(wide, channels, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


def lower(
    module: nn.Module, *shapes: tuple[int, ...], partitioner: XnnpackPartitioner | None = None
) -> EdgeProgramManager:
    inputs = tuple(torch.randn(shape) for shape in shapes)
    exported = torch.export.export(module.eval(), inputs)
    return to_edge_transform_and_lower(
        exported, partitioner=[XnnpackPartitioner() if partitioner is None else partitioner]
    )


def num_delegates(manager: EdgeProgramManager) -> int:
    return get_delegation_info(manager.exported_program().graph_module).num_delegated_subgraphs


def reasons(module: nn.Module, *shapes: tuple[int, ...]) -> set[str]:
    inputs = tuple(torch.randn(shape) for shape in shapes)
    edge = to_edge_transform_and_lower(torch.export.export(module.eval(), inputs))
    return set(XnnpackPartitioner().why_not_delegated(edge.exported_program()).values())


LIGHT = [
    (nn.Conv2d(5, 5, 3), (1, 5, 140, 140)),
    (nn.Sequential(nn.Conv2d(5, 5, 3), nn.BatchNorm2d(5), nn.ReLU()), (1, 5, 140, 140)),
    (nn.Conv2d(64, 64, 3, groups=64), (1, 64, 56, 56)),
    (nn.Conv1d(3, 320, 3), (1, 3, 3040)),
    (nn.ConvTranspose2d(22, 1, 8, 4, 2), (1, 22, 32, 32)),
    (nn.UpsamplingBilinear2d(scale_factor=2), (1, 16, 64, 64)),
]
WORTH_IT = [
    (nn.Conv2d(64, 64, 3), (1, 64, 56, 56)),
    (nn.Conv1d(360, 574, 3), (1, 360, 11)),
    (nn.AvgPool2d(3, 1), (1, 64, 56, 56)),
    (Inverted(32), (1, 32, 28, 28)),
    (
        nn.Sequential(nn.Conv2d(128, 64, 3), nn.UpsamplingBilinear2d(scale_factor=8)),
        (1, 128, 34, 34),
    ),
    (nn.Conv2d(3, 8, 3), (1, 3, 8, 8)),  # an example of the documents
]


@pytest.mark.parametrize(("module", "shape"), LIGHT)
def test_light_work_on_plain_images_stays_outside(
    module: nn.Module, shape: tuple[int, ...]
) -> None:
    assert num_delegates(lower(module, shape)) == 0
    assert reasons(module, shape) == {TRANSPOSED}


@pytest.mark.parametrize(("module", "shape"), WORTH_IT)
def test_what_saves_more_than_its_transposes_stays_inside(
    module: nn.Module, shape: tuple[int, ...]
) -> None:
    assert num_delegates(lower(module, shape)) == 1
    assert not {TRANSPOSED, SHORT_ROWS} & reasons(module, shape)


def test_images_that_lie_channels_last_need_no_transposes() -> None:
    depthwise = nn.Conv2d(64, 64, 3, groups=64).to(memory_format=torch.channels_last)
    x = torch.randn(1, 64, 56, 56).to(memory_format=torch.channels_last)
    exported = torch.export.export(depthwise.eval(), (x,))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert num_delegates(manager) == 1


def test_patches_become_rows_without_moving() -> None:
    class Patches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 96, 4, 4), nn.LayerNorm(96)

        def forward(self, x: Tensor) -> Tensor:
            return self.norm(self.conv(x).permute(0, 2, 3, 1))

    assert num_delegates(lower(Patches(), (1, 3, 224, 224))) == 1


def test_what_is_asked_for_by_name_is_delegated() -> None:
    module, shape = LIGHT[0]
    asked = XnnpackPartitioner(configs=[config.ConvolutionConfig])
    assert num_delegates(lower(module, shape, partitioner=asked)) == 1
    each = XnnpackPartitioner(per_op_mode=True)
    assert num_delegates(lower(module, shape, partitioner=each)) == 1


def test_dynamic_images_are_delegated() -> None:
    height = torch.export.Dim("height", min=16, max=256)
    exported = torch.export.export(
        nn.Conv2d(5, 5, 3).eval(),
        (torch.randn(1, 5, 140, 140),),
        dynamic_shapes=({2: height},),
    )
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert num_delegates(manager) == 1


@pytest.mark.parametrize(
    ("x", "scale", "delegates"),
    [
        ((100, 4, 32), (100, 4, 1), 0),
        ((100, 4, 128), (100, 4, 1), 1),
        ((100, 4, 32), (1, 4, 32), 1),
        ((3, 4), (3, 1), 1),
        ((1, 32, 7, 7), (1, 32, 1, 1), 1),  # rows of 49 in few elements
        ((1, 320, 7, 7), (1, 320, 1, 1), 0),
    ],
)
def test_a_number_for_each_short_row(
    x: tuple[int, ...], scale: tuple[int, ...], delegates: int
) -> None:
    assert num_delegates(lower(Scaled(), x, scale)) == delegates
    found = reasons(Scaled(), x, scale)
    assert found == ({SHORT_ROWS} if delegates == 0 else set())


def test_only_many_short_rows_cut_a_delegate() -> None:
    module = Scaled(nn.Linear(16, 32), nn.Linear(32, 16))
    assert num_delegates(lower(module, (500, 4, 16), (500, 4, 1))) == 1
    assert num_delegates(lower(module, (5000, 4, 16), (5000, 4, 1))) == 2


def test_gates_by_channel_have_long_rows() -> None:
    """Channels lie last inside; as it is written, a row is one of 49 pixels."""
    x = torch.randn(8, 3, 9, 9)
    edge = to_edge_transform_and_lower(torch.export.export(Gated(1024).eval(), (x,)))
    program = edge.exported_program()
    (product,) = (node for node in program.graph.nodes if op_name(node) == "aten.mul.Tensor")
    calls = [
        node
        for node in program.graph.nodes
        if node.op == "call_function" and node.target is not operator.getitem
    ]
    assert product in Layouts(calls, Constants(program)).channels_last
    assert num_delegates(lower(Gated(1024), (8, 3, 9, 9))) == 1


def test_layouts_follow_and_are_renamed() -> None:
    class Rows(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.linear = nn.Conv2d(3, 8, 3), nn.Linear(8, 4)

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(F.gelu(self.conv(x)).permute(0, 2, 3, 1))

    edge = to_edge_transform_and_lower(
        torch.export.export(Rows().eval(), (torch.randn(1, 3, 9, 9),))
    )
    program = edge.exported_program()
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    layouts = Layouts(calls, Constants(program))
    assert [op_name(each) for each in layouts.renamed] == ["aten.permute_copy.default"]
    assert [each.name for each in layouts.transposed] == ["x"]
    assert {op_name(each) for each in layouts.channels_last} == {
        "aten.convolution.default",
        "aten.gelu.default",
    }
