# SPDX-License-Identifier: BSD-3-Clause
"""Operators on images in rows of pixels: beside aten's on the permuted image, through to_edge, and taken apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.test.pass_checks import calls
from executorch.backends.transforms.channels_last_ops import IMAGE_OPS
from executorch.backends.transforms.decompose_channels_last_pass import DecomposeChannelsLastPass
from executorch.exir import to_edge
from executorch.runtime import Runtime

ops, functional = torch.ops.channels_last, nn.functional
IMAGE = torch.randn(2, 6, 8, 4)  # N, H, W, C
WEIGHT, BIAS = torch.randn(5, 4, 3, 3), torch.randn(5)
GRID = torch.rand(2, 3, 3, 2) * 2 - 1
CASES = {
    # operator: (its arguments behind the image, eager PyTorch on the image with its channels first)
    "convolution": (
        (WEIGHT, BIAS, [2, 1], [1, 0], [1, 1], False, [0, 0], 1),
        lambda x: functional.conv2d(x, WEIGHT, BIAS, (2, 1), (1, 0)),
    ),
    "avg_pool2d": (
        ([3, 2], [2, 2], [1, 0], False, False, None),
        lambda x: functional.avg_pool2d(x, (3, 2), 2, (1, 0), False, False),
    ),
    "adaptive_avg_pool2d": (([3, 2],), lambda x: functional.adaptive_avg_pool2d(x, (3, 2))),
    "upsample_bilinear2d": (
        ([9, 12], True, None),
        lambda x: functional.interpolate(x, (9, 12), mode="bilinear", align_corners=True),
    ),
    "upsample_nearest2d": (
        (None, [2.0, 1.5]),
        lambda x: functional.interpolate(x, scale_factor=(2.0, 1.5)),
    ),
    "max_pool2d_with_indices": (
        ([2, 3], [2, 1], [1, 1], [1, 1], False),
        lambda x: functional.max_pool2d(x, (2, 3), (2, 1), 1, return_indices=True),
    ),
    "grid_sampler_2d": (
        (GRID, 0, 0, False),
        lambda x: functional.grid_sample(x, GRID, align_corners=False),
    ),
}


def results_of(value: Any) -> list[torch.Tensor]:
    return [value] if isinstance(value, torch.Tensor) else list(value)


class Call(nn.Module):
    def __init__(self, name: str, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.name, self.args = name, args

    def forward(self, image: torch.Tensor) -> Any:
        return getattr(ops, self.name)(image, *self.args)


def test_every_operator_has_a_case() -> None:
    assert {op.name for op in IMAGE_OPS} == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_an_operator_is_atens_on_a_permuted_image(name: str) -> None:
    args, eager = CASES[name]
    expected = [each.permute(0, 2, 3, 1) for each in results_of(eager(IMAGE.permute(0, 3, 1, 2)))]
    model = Call(name, args)
    for found, wanted in zip(results_of(model(IMAGE)), expected, strict=True):
        torch.testing.assert_close(found, wanted)
        assert found.is_contiguous()
    edge = to_edge(torch.export.export(model, (IMAGE,)))
    assert f"channels_last.{name}.default" in calls(edge.exported_program().graph_module)
    apart = edge.transform([DecomposeChannelsLastPass()])
    names = calls(apart.exported_program().graph_module)
    assert names[0] == names[-1] == "permute_copy.default"
    assert names.count("permute_copy.default") == 1 + len(expected)
    assert not any("channels_last" in each for each in names)
    program = Runtime.get().load_program(apart.to_executorch().buffer)
    outputs = program.load_method("forward").execute([IMAGE])
    for found, wanted in zip(outputs, expected, strict=True):
        torch.testing.assert_close(found, wanted.contiguous())


def test_a_permute_is_one_permute() -> None:
    class Permute(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return ops.permute_copy(x, dims=[0, 3, 1, 2])

    assert torch.equal(Permute()(IMAGE), IMAGE.permute(0, 3, 1, 2))
    edge = to_edge(torch.export.export(Permute(), (IMAGE,)))
    apart = edge.transform([DecomposeChannelsLastPass()]).exported_program()
    assert calls(apart.graph_module) == ["permute_copy.default"]
    assert torch.equal(apart.module()(IMAGE), IMAGE.permute(0, 3, 1, 2))


def test_a_captured_program_stays_one() -> None:
    program = torch.export.export(Call("avg_pool2d", CASES["avg_pool2d"][0]), (IMAGE,))
    made = DecomposeChannelsLastPass()(program.graph_module).graph_module
    assert made.graph.find_nodes(op="call_function", target=torch.ops.aten.avg_pool2d.default)
    assert calls(made) == ["permute_copy.default", "avg_pool2d.default", "permute_copy.default"]
