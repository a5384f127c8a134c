# SPDX-License-Identifier: BSD-3-Clause
"""What the partitioner claims and what preprocess writes. Needs no runtime but for the last tests."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackBackend, XnnpackPartitioner
from executorch.backends.xnnpack.serialization.graph import deserialize
from executorch.examples.models import make_example
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


def lower(name: str, **options: bool) -> EdgeProgramManager:
    exported = make_example(name, False).export()["forward"]
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner(**options)])


def graphs(manager: EdgeProgramManager) -> list[Any]:
    modules = get_lowered_backend_modules(manager.exported_program().graph_module)
    return [deserialize(module.processed_bytes) for module in modules]


def kinds(graph: Any) -> Counter[str]:
    return Counter(type(node.xnode_union).__name__ for node in graph.xnodes)


class Scaled(nn.Module):
    """An image times a number for each channel, which a convolution gives."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * torch.sigmoid(self.conv(y))


def test_what_is_small_is_transposed() -> None:
    """The numbers of channels, to channels last and back. Following its operands, the product would lie channels last,
    and the image be transposed twice."""
    inputs = (torch.randn(1, 4, 16, 16), torch.randn(1, 4, 1, 1))
    exported = torch.export.export(Scaled().eval(), inputs)
    (graph,) = graphs(to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]))
    moved = [
        graph.xvalues[node.xnode_union.output_id].xvalue_union.dims
        for node in graph.xnodes
        if type(node.xnode_union).__name__ == "XNNStaticTranspose"
    ]
    assert moved == [[1, 1, 1, 4], [1, 4, 1, 1]]


def test_compile_specs_are_refused_by_name() -> None:
    program = torch.export.export(nn.ReLU(), (torch.ones(2),))
    edge = to_edge_transform_and_lower(program).exported_program()
    with pytest.raises(ExportError, match="XnnpackBackend has no compile specs, found 'precision'"):
        XnnpackBackend.preprocess(edge, [CompileSpec("precision", b"half")])


@pytest.mark.parametrize("name", ["mv2", "resnet18"])
def test_an_image_network_is_one_delegate(name: str) -> None:
    manager = lower(name)
    calls = [n for n in manager.exported_program().graph.nodes if n.op == "call_function"]
    assert [str(n.target) for n in calls if "getitem" not in n.name] == ["executorch_call_delegate"]
    (graph,) = graphs(manager)
    # Batch norms and activations are folded; one transpose brings the image into NHWC.
    found = kinds(graph)
    assert found["XNNStaticTranspose"] == 1
    assert set(found) <= {
        "XNNConv2d",
        "XNNDepthwiseConv2d",
        "XNNAdd",
        "XNNMaxPooling2d",
        "XNNGlobalAvgPooling2d",
        "XNNStaticReshape",
        "XNNFullyConnected",
        "XNNStaticTranspose",
    }


def padded(*layers: nn.Module) -> EdgeProgramManager:
    exported = torch.export.export(nn.Sequential(*layers), (torch.randn(1, 3, 8, 8),))
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


@pytest.mark.parametrize("left, right, top, bottom", [(2, 2, 1, 1), (0, 1, 0, 1), (2, 0, 3, 1)])
def test_zeros_around_an_image_are_the_padding_of_a_convolution(
    left: int, right: int, top: int, bottom: int
) -> None:
    image = torch.randn(1, 3, 8, 8)
    model = nn.Sequential(nn.ZeroPad2d((left, right, top, bottom)), nn.Conv2d(3, 4, 3, padding=1))
    manager = padded(*model)
    (graph,) = graphs(manager)
    (convolution,) = [n.xnode_union for n in graph.xnodes if "Conv" in type(n.xnode_union).__name__]
    assert (convolution.padding_left, convolution.padding_right) == (left + 1, right + 1)
    assert (convolution.padding_top, convolution.padding_bottom) == (top + 1, bottom + 1)
    assert kinds(graph)["XNNStaticConstantPad"] == 0
    (found,) = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward((image,))
    torch.testing.assert_close(found, model(image))


@pytest.mark.parametrize("layer", [nn.ConvTranspose2d(3, 4, 3), nn.MaxPool2d(2)])
def test_zeros_before_anything_else_stay(layer: nn.Module) -> None:
    (graph,) = graphs(padded(nn.ZeroPad2d(1), layer, nn.ReLU()))
    assert kinds(graph)["XNNStaticConstantPad"] == 1


class Tokens(nn.Module):
    """Rows of tokens as an image and back, as in the feed-forward parts of PVTv2 and SegFormer."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.mix = nn.Conv2d(16, 16, 3, padding=1, groups=16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens = x.shape[:2]
        image = self.up(x).transpose(1, 2).reshape(batch, 16, tokens // 6, 6)
        return self.down(nn.functional.gelu(self.mix(image).flatten(2).transpose(1, 2)))


@pytest.mark.parametrize("varying", [None, 0])
def test_rows_of_tokens_are_images_of_channels_last(varying: int | None) -> None:
    x, model = torch.randn(2, 24, 8), Tokens().eval()
    shapes = None if varying is None else ({varying: torch.export.Dim("size", max=4)},)
    exported = torch.export.export(model, (x,), dynamic_shapes=shapes)
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    (graph,) = graphs(manager)
    assert kinds(graph)["XNNStaticTranspose"] == 0
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for batch in (2,) if varying is None else (2, 1, 4):
        x = torch.randn(batch, 24, 8)
        torch.testing.assert_close(program.forward((x,))[0], model(x), rtol=1e-4, atol=1e-5)


class Attention(nn.Module):
    """Three heads of eight channels."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        batch, rows = x.shape[:2]
        q, k, v = (part.view(batch, rows, 3, 8).transpose(1, 2) for part in x.chunk(3, -1))
        found = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return found.transpose(1, 2).reshape(batch, rows, 24)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dynamic", [None, 0, 1])
def test_heads_are_multiplied_as_they_are(masked: bool, dynamic: int | None) -> None:
    def inputs_of(batch: int, rows: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(batch, rows, 72), *([torch.randn(rows, rows)] if masked else [])

    inputs = inputs_of(2, 5)
    size = torch.export.Dim("size", max=9)
    of_mask = [{0: size, 1: size} if dynamic == 1 else None] if masked else []
    shapes = None if dynamic is None else ({dynamic: size}, *of_mask)
    exported = torch.export.export(Attention(), inputs, dynamic_shapes=shapes)
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    (graph,) = graphs(manager)
    products = [
        n.xnode_union for n in graph.xnodes if "MatrixMultiply" in type(n.xnode_union).__name__
    ]
    ranks = [graph.xvalues[node.input1_id].xvalue_union.num_dims for node in products]
    if dynamic != 1:  # views of two dynamic sizes cannot be written
        assert ([node.flags for node in products], ranks) == ([1, 0], [4, 4])
    if dynamic is None:
        # Of queries, keys and values, and of the result.
        assert kinds(graph)["XNNStaticReshape"] == kinds(graph)["XNNStaticTranspose"] == 4
    loaded = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    others = {None: (2, 5), 0: (7, 5), 1: (2, 9)}
    for each in (inputs, inputs_of(*others[dynamic])):
        torch.testing.assert_close(loaded.forward(each)[0], Attention()(*each))


@pytest.mark.parametrize(
    ("arguments", "nodes"),
    [
        ((8, 16, 4, 2, 1), {"XNNConv2d": 4, "XNNConcatenate4": 1}),
        ((8, 16, 2, 2), {"XNNConv2d": 1}),  # phases that are alike are channels of one
        ((8, 3, 4, 2, 1), {"XNNConvTranspose2d": 1}),  # few channels
        ((8, 16, 3, 2, 1), {"XNNConvTranspose2d": 1}),  # an odd number of rows
    ],
)
def test_transposed_convolutions_are_plain_ones_by_phase(
    arguments: tuple[int, ...], nodes: dict[str, int]
) -> None:
    exported = torch.export.export(
        nn.ConvTranspose2d(*arguments).eval(), (torch.randn(1, 8, 5, 6),)
    )
    (graph,) = graphs(to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]))
    copies = ("XNNStaticTranspose", "XNNStaticReshape")
    assert {kind: n for kind, n in kinds(graph).items() if kind not in copies} == nodes


def test_a_view_in_between_that_others_read_stays() -> None:
    class Scores(nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            scores = torch.bmm(q.view(6, 5, 8), k.view(6, 7, 8).transpose(1, 2))
            return torch.softmax(scores, -1).view(2, 3, 5, 7), scores

    inputs = (torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8))
    exported = torch.export.export(Scores(), inputs)
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    (graph,) = graphs(manager)
    assert kinds(graph) == {"XNNBatchMatrixMultiply": 1, "XNNSoftmax": 1, "XNNStaticReshape": 1}
    found = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)
    torch.testing.assert_close(tuple(found), Scores()(*inputs))


def test_weights_are_named_data_once() -> None:
    shared = torch.rand(4, 4)

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Parameter(shared), nn.Parameter(shared.clone())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.linear(nn.functional.linear(x, self.a), self.b)

    exported = torch.export.export(Twice(), (torch.rand(2, 4),))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    (module,) = get_lowered_backend_modules(manager.exported_program().graph_module)
    key = hashlib.sha256(shared.numpy().tobytes()).hexdigest()
    assert list(module.named_data_store_output.pte_data) == [key]
    entries = deserialize(module.processed_bytes).constant_data
    assert [(e.size, e.named_key) for e in entries] == [(0, ""), (64, key)]


@pytest.mark.req("XQ-004")
def test_the_payload_is_a_header_and_a_flatbuffer() -> None:
    exported = torch.export.export(nn.ReLU(), (torch.rand(2, 3),))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    (module,) = get_lowered_backend_modules(manager.exported_program().graph_module)
    payload = module.processed_bytes
    offset, size, constants = (
        int.from_bytes(payload[at : at + 4], "little") for at in (10, 14, 18)
    )
    assert (payload[:10], offset) == (b"\0\0\0\0XH00\x1e\0", 32)
    assert (
        payload[36:40] == b"XN01" and constants == len(payload) and constants - offset - size < 16
    )
    (graph,) = graphs(manager)
    values = [value.xvalue_union for value in graph.xvalues]
    assert [(v.dims, v.flags, v.external_id, v.id_out) for v in values] == [
        ([2, 3], 1, 0, 0),
        ([2, 3], 2, 1, 1),
    ]
    (node,) = graph.xnodes
    assert (node.output_min_max.output_min, node.output_min_max.output_max) == (0, float("inf"))


def test_what_xnnpack_does_not_take_stays_outside() -> None:
    class Mixed(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cumsum(x + x, 0).to(torch.float64) * 2

    exported = torch.export.export(Mixed(), (torch.rand(2, 3),))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    names = [n.name for n in manager.exported_program().graph.nodes if n.op == "call_function"]
    assert names[0] == "executorch_call_delegate" and "aten_mul_tensor" in names


def test_moving_data_alone_is_no_delegate() -> None:
    class Move(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.permute(1, 0).reshape(2, 3)

    exported = torch.export.export(Move(), (torch.rand(2, 3),))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert not get_lowered_backend_modules(manager.exported_program().graph_module)


def test_per_op_mode_gives_one_delegate_per_operator() -> None:
    class Three(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(torch.sigmoid(x + x))

    exported = torch.export.export(Three(), (torch.rand(2, 3),))
    manager = to_edge_transform_and_lower(
        exported, partitioner=[XnnpackPartitioner(per_op_mode=True)]
    )
    assert [kinds(graph) for graph in graphs(manager)] == [
        {"XNNAdd": 1},
        {"XNNSigmoid": 1},
        {"XNNTanh": 1},
    ]


class Cumulated(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x, 0)


def test_preprocess_says_what_it_cannot_compile() -> None:
    exported = torch.export.export(Cumulated(), (torch.rand(2, 3),))
    program = to_edge_transform_and_lower(exported).exported_program()
    words = "is not supported in XNNPACK Delegate.*cumsum.*the backend has no such operator"
    with pytest.raises(RuntimeError, match=words) as caught:
        XnnpackBackend.preprocess(program, [])
    assert isinstance(caught.value, ExportError)


@pytest.mark.parametrize("payload", [b"", b"XH00" * 8, b"\0\0\0\0XH00" + bytes(40)])
def test_bytes_that_are_no_payload_are_refused(payload: bytes) -> None:
    with pytest.raises(ValueError):
        deserialize(payload)
