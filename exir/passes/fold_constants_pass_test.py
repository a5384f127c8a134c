# SPDX-License-Identifier: BSD-3-Clause
"""Constants are made at export where the file stays about as large, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram, export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name
from executorch.exir.passes.fold_constants_pass import fold_constants_pass
from executorch.exir.program_copies import own_copy
from executorch.runtime import Runtime


class Standardized(nn.Conv2d):
    """Its filters have mean 0 and variance 1, as in BiT."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = self.weight.reshape(1, self.out_channels, -1)
        weight = nn.functional.batch_norm(flat, None, None, training=True, eps=1e-8)
        return nn.functional.conv2d(x, weight.reshape_as(self.weight), self.bias)


class Calls(nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor], **tensors: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self, x)


def folded(module: nn.Module, x: torch.Tensor) -> tuple[ExportedProgram, list[str]]:
    program = own_copy(to_edge(export(module.eval(), (x,))).exported_program())
    fold_constants_pass(program)
    torch.testing.assert_close(program.module()(x), module(x))
    return program, [name for node in program.graph.nodes if (name := op_name(node))]


def test_weights_made_of_parameters_are_constants_that_a_backend_takes() -> None:
    x, module = torch.randn(1, 4, 8, 8), Standardized(4, 8, 3).eval()
    assert folded(module, x)[1] == ["aten.convolution.default"]
    lowered = to_edge_transform_and_lower(export(module, (x,)), partitioner=[XnnpackPartitioner()])
    nodes = lowered.exported_program().graph.nodes
    assert [op_name(n) for n in nodes if op_name(n).startswith("aten")] == []
    method = Runtime.get().load_program(lowered.to_executorch().buffer).load_method("forward")
    torch.testing.assert_close(method.execute([x])[0], module(x), rtol=1e-4, atol=1e-5)


def test_normalized_weights_are_constants() -> None:
    module = nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 4, 3))
    assert folded(module, torch.randn(1, 4, 9))[1] == ["aten.convolution.default"]


def test_a_table_of_positions_on_its_way_through_a_matrix_may_be_large() -> None:
    """As in Transformer-XL: sines become less than the matrix that they go through."""

    def moved(module: Calls, x: torch.Tensor) -> torch.Tensor:
        angles = torch.arange(256.0).outer(module.rates)
        return x + torch.cat([angles.sin(), angles.cos()], 1) @ module.weight

    module = Calls(moved, rates=torch.rand(256), weight=torch.randn(512, 256) / 512)
    assert folded(module, torch.randn(256, 256))[1] == ["aten.add.Tensor"]
    long = Calls(
        lambda m, x: x + torch.arange(2048.0).outer(m.rates).sin() @ m.weight,
        rates=torch.rand(256),
        weight=torch.randn(256, 256) / 256,
    )
    assert "aten.sin.default" in folded(long, torch.randn(2048, 256))[1]


def test_masks_of_numbers_alone_are_constants() -> None:
    def causal(m: Calls, x: torch.Tensor) -> torch.Tensor:
        place = torch.arange(x.shape[-1])
        return x.masked_fill(place[None, :] > place[:, None], -1e4)

    program, names = folded(Calls(causal), torch.randn(2, 16, 16))
    assert "aten.arange.start_step" not in names and "aten.gt.Tensor" not in names
    assert sum(spec.kind.name == "CONSTANT_TENSOR" for spec in program.graph_signature.input_specs)


def test_the_strides_of_the_graph_stay() -> None:
    program, names = folded(Calls(lambda m, x: x @ m.w.t(), w=torch.randn(8, 4)), torch.ones(2, 4))
    assert names == ["aten.mm.default"]
    (weight,) = program.constants.values()
    assert weight.stride() == (8, 1)


def repeated(m: Calls, x: torch.Tensor) -> torch.Tensor:
    return x + m.w.expand(512, 64, 64).contiguous()


def gathered(m: Calls, x: torch.Tensor) -> torch.Tensor:
    return x + m.w[torch.zeros(512, 64, dtype=torch.long)]


@pytest.mark.parametrize("function", [repeated, gathered])
def test_what_would_make_the_file_larger_stays(function: Callable[..., torch.Tensor]) -> None:
    program, names = folded(Calls(function, w=torch.randn(64, 64)), torch.ones(512, 64, 64))
    assert len(names) > 1
    assert sum(tensor.nbytes for tensor in program.state_dict.values()) == 64 * 64 * 4


def test_many_small_results_stay_within_a_part_of_the_constants() -> None:
    tables = {f"t{i}": torch.randn(4) for i in range(100)}

    def grow(m: Calls, x: torch.Tensor) -> torch.Tensor:
        for i in range(100):
            x = x * (getattr(m, f"t{i}").repeat(2048) * 2)
        return x

    program, _ = folded(Calls(grow, **tables), torch.ones(8192))
    kept = {**program.state_dict, **program.constants}
    assert sum(tensor.nbytes for tensor in kept.values()) <= (1 << 16) + 100 * 4 * 4


def test_random_and_written_values_are_no_constants() -> None:
    def noisy(m: Calls, x: torch.Tensor) -> torch.Tensor:
        m.n.add_(1)
        return x * m.n * 2 + torch.zeros_like(m.w).bernoulli(0.0)

    module = Calls(noisy, n=torch.ones(3), w=torch.ones(3))
    program = own_copy(to_edge(export(module, (torch.ones(3),))).exported_program())
    before = [op_name(node) for node in program.graph.nodes]
    fold_constants_pass(program)
    after = [op_name(node) for node in program.graph.nodes]
    assert [name for name in before if "mul" in name] == [name for name in after if "mul" in name]
    assert any("bernoulli" in name or "rand" in name for name in after)
    assert "n" in {spec.target for spec in program.graph_signature.input_specs}


def test_a_window_that_no_kernel_makes_is_a_constant() -> None:
    def windowed(module: Calls, x: torch.Tensor) -> torch.Tensor:
        return x * torch.kaiser_window(6) + torch.arange(6)

    assert folded(Calls(windowed), torch.randn(6))[1] == [
        "aten.mul.Tensor", "aten.arange.start_step", "aten.add.Tensor",
    ]  # fmt: skip
