# SPDX-License-Identifier: BSD-3-Clause
"""What options, sizes that change, buffers and several methods make of a payload (VK-001, VK-004, VK-012)."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import Dim

from executorch.backends.vulkan.aot.schema import VkMemoryLayout, VkStorageType
from executorch.backends.vulkan.partitioner.vulkan_partitioner import (
    VulkanPartitioner,
    parse_compile_options,
)
from executorch.backends.vulkan.test.lowered import (
    chain,
    check_values,
    delegates,
    graphs,
    left,
    lower,
    machine,
)
from executorch.backends.vulkan.vulkan_preprocess import parse_compile_spec
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.error import ExportError

X = torch.linspace(-2, 2, 24).view(2, 3, 4)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 5)

    def forward(self, x):
        return torch.relu(self.linear(x)) + 1


def tensors(edge):
    return [
        each.value
        for graph in graphs(edge)
        for each in graph.values
        if type(each.value).__name__ == "VkTensor"
    ]


def test_options_are_compile_specs() -> None:
    given = {
        "force_fp16": True,
        "small_texture_limits": True,
        "require_dynamic_shapes": True,
        "buffer_limit": 1000,
    }
    specs = parse_compile_options(given)
    assert [(each.key, bytes(each.value)) for each in specs] == [
        ("force_fp16", b"\1"), ("small_texture_limits", b"\1"), ("require_dynamic_shapes", b"\1"),
    ]  # fmt: skip
    assert parse_compile_options({}) == [] and parse_compile_spec([]) == {}
    assert [each.key[-1] for each in parse_compile_options({"texture_limits": (1, 2, 3)})] == [
        "x",
        "y",
        "z",
    ]
    storage = {
        "storage_type_override": VkStorageType.BUFFER,
        "memory_layout_override": VkMemoryLayout.TENSOR_WIDTH_PACKED,
    }
    (first, second) = parse_compile_options(storage)
    assert bytes(first.value) == bytes(second.value) == bytes(4)
    assert parse_compile_spec([first, second]) == storage
    for name in ("small_texture_limits", "skip_memory_planning", "force_fp16"):
        assert parse_compile_spec(parse_compile_options({name: True})) == {name: True}


def test_options_that_there_are_not() -> None:
    with pytest.raises(
        ExportError, match="no option required_dynamic_shapes.* is require_dynamic_shapes meant"
    ):
        VulkanPartitioner({"required_dynamic_shapes": True})
    with pytest.raises(ValueError, match="force_fp16: expected a bool, found 1"):
        VulkanPartitioner({"force_fp16": 1})


def test_half_precision_is_inside_alone() -> None:
    """VK-004."""
    edge = lower(Net(), (X,), {"force_fp16": True})
    found = {
        (each.datatype.name, each.staging_datatype.name)
        for each in tensors(edge)
        if each.constant_id < 0
    }
    assert (
        found <= {("FLOAT16", "FLOAT32"), ("FLOAT16", "FLOAT16")}
        and ("FLOAT16", "FLOAT32") in found
    )
    torch.manual_seed(0)
    model = Net()
    check_values(model, (X,), lower(model, (X,), {"force_fp16": True}), rtol=0.1, atol=2e-2)


@pytest.mark.parametrize("is_root_first", [True, False])
def test_a_constant_of_roots_and_of_halves(is_root_first: bool) -> None:
    """What halves round by 2 %, as numbers near 1e-6, is float32 where squares are, whoever reads it first."""
    small = (torch.arange(21, 25) + 0.45) * 2.0**-24  # in halves whole multiples of 2**-24

    class Scaled(nn.Module):
        def forward(self, x):
            first = (x.square().mean(-1, keepdim=True) * small).rsqrt() if is_root_first else None
            product = x * small
            root = (x.square().mean(-1, keepdim=True) * small).rsqrt() if first is None else first
            return root, product * 1000

    x = torch.linspace(400, 900, 12).view(3, 4)
    edge = lower(Scaled(), (x,), {"force_fp16": True})
    root, product = machine(edge).run([x])
    expected = Scaled()(x)
    torch.testing.assert_close(root, expected[0], rtol=2e-3, atol=0)
    torch.testing.assert_close(product, expected[1], rtol=0.025, atol=0)


def test_hints() -> None:
    plain = [each for each in tensors(lower(Net(), (X,))) if each.constant_id < 0]
    assert {each.storage_type.name for each in plain} == {"BUFFER"}
    assert any(each.mem_obj_id >= 0 for each in plain)
    none = lower(Net(), (X,), {"skip_tag_memory_metadata": True, "skip_memory_planning": True})
    assert {each.storage_type.name for each in tensors(none)} == {"DEFAULT_STORAGE"}
    assert {each.mem_obj_id for each in tensors(none)} == {-1}


def test_lists_of_operators_and_modules() -> None:
    relu = "aten.relu.default"
    assert relu in left(lower(Net(), (X,), operator_blocklist=[torch.ops.aten.relu.default]))
    assert chain(lower(Net(), (X,), operator_allowlist=[torch.ops.aten.relu.default])) == [relu]
    assert chain(lower(Net(), (X,), nn_module_allowlist=["Linear"])) == ["aten.linear.default"]
    assert "aten.linear.default" in left(lower(Net(), (X,), nn_module_blocklist=["Linear"]))


def test_booleans_stay_outside() -> None:
    class Chosen(nn.Module):
        def forward(self, x):
            return torch.where(x > 0, x, x * 2)

    assert not left(lower(Chosen(), (X,)))
    outside = left(lower(Chosen(), (X,), {"skip_bool_tensors": True}))
    assert "aten.where.self" in outside and "aten.mul.Tensor" not in outside


def test_sizes_that_change() -> None:
    """VK-012."""

    class Parts(nn.Module):
        def forward(self, x):
            half = x.shape[1] // 2
            first, second = x[:, :half], x[:, half:]
            return torch.cat([second, first], 1).reshape(1, -1).argmax(-1), x.sum(1)

    size = 2 * Dim("n", max=16)
    x = torch.linspace(-1, 1, 96).sin().view(1, 12, 8)
    edge = lower(Parts(), (x,), {"require_dynamic_shapes": True}, dynamic_shapes=({1: size},))
    assert not left(edge), left(edge)
    assert {"sym_size.int", "floordiv"} <= set(chain(edge))
    check_values(Parts(), (x,), edge, runs=[(x,), (x[:, :4].contiguous(),), (x.repeat(1, 2, 1),)])
    (graph,) = graphs(edge)
    assert graph.values[graph.input_ids[0]].value.dims == [1, 32, 8]


def test_sizes_that_two_delegates_compute() -> None:
    """Each its own, as what goes between them is tensors."""

    class Parts(nn.Module):
        def forward(self, x):
            half = x.shape[1] // 2
            return (x[:, :half] + 1).cumsum(1) * 2 + x[:, half : 2 * half]

    x = torch.linspace(-1, 1, 96).sin().view(1, 12, 8)
    edge = lower(Parts(), (x,), dynamic_shapes=({1: 2 * Dim("n", max=16)},))
    assert left(edge) == ["aten.cumsum.default"] and len(delegates(edge)) == 2
    assert all("floordiv" in [call.name for call in graph.chain] for graph in graphs(edge))
    for module in delegates(edge):
        values = [
            node.meta["val"] for node in module.original_module.graph.find_nodes(op="placeholder")
        ]
        assert all(isinstance(each, torch.Tensor) for each in values)


def test_sizes_of_int64_of_another_delegate() -> None:
    """The second delegate reads nothing of the tokens but how many they are."""

    class Tokens(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(8, 4)

        def forward(self, tokens):
            rows = self.table(tokens).cumsum(1)
            return rows * 2 + torch.arange(tokens.shape[1]).view(1, -1, 1)

    tokens = torch.tensor([[1, 2, 7]])
    shapes = ({1: Dim("count", min=1, max=8)},)
    edge = lower(Tokens(), (tokens,), dynamic_shapes=shapes)
    assert "aten.cumsum.default" in left(edge) and len(delegates(edge)) == 2


def test_norms_of_linear_layers() -> None:
    """A batch norm of rows goes into the layer before it; alone, and behind something else, it is a call."""
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.BatchNorm1d(6))
    layer.train()(torch.randn(32, 4))
    edge = check_values(layer.eval(), (torch.randn(3, 4),))
    norm = "aten._native_batch_norm_legit_no_training.default"
    assert chain(edge) == ["aten.linear.default", "aten.relu.default", norm] and not left(edge)


def test_what_nobody_reads_is_not_written() -> None:
    """Two layers that read the same integers: what turns them into floats is left out."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
        VulkanQuantizer,
        get_static_quantization_config,
    )

    torch.manual_seed(0)
    x = torch.randn(1, 8)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).eval()
    quantizer = VulkanQuantizer().set_global(get_static_quantization_config())
    prepared = prepare_pt2e(torch.export.export(model, (x,)).module(), quantizer)
    prepared(x)
    names = chain(lower(convert_pt2e(prepared), (x,)))
    assert sum("dequantize" in name for name in names) == 1, names


def test_buffers_that_are_written() -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.ones(4))

        def forward(self, x):
            self.total.add_(x)
            return self.total * 2

    edge = lower(Sum(), (X[0, 0],))
    assert not left(edge) and len(delegates(edge)) == 1
    (graph,) = graphs(edge)
    assert len(graph.output_ids) == 1
    loaded, x = machine(edge), X[0, 0]
    for count in (1, 2, 3):
        torch.testing.assert_close(loaded.run([x])[0], 2 * (1 + count * x))


def test_several_methods() -> None:
    model = Net().eval()
    methods = {
        "forward": torch.export.export(model, (X,)),
        "other": torch.export.export(model, (X[:1],)),
    }
    partitioners = {name: [VulkanPartitioner()] for name in methods}
    edge = to_edge_transform_and_lower(methods, partitioner=partitioners)
    for name in methods:
        assert not [
            node for node in edge.exported_program(name).graph.nodes if "aten" in str(node.target)
        ]


def test_debug_handles_are_those_of_the_calls() -> None:
    (module,) = delegates(lower(Net(), (X,)))
    handles = module.meta["debug_handle_map"]
    (graph,) = graphs(lower(Net(), (X,)))
    names = {call.node_id: call.name for call in graph.chain}
    assert {names[number] for number in handles} >= {"aten.linear.default", "aten.relu.default"}
