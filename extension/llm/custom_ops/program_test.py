# SPDX-License-Identifier: BSD-3-Clause
"""Programs that call the operators of language models, on the Python runtime."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim, export

import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  (registers the operators)
from executorch.exir import to_edge
from executorch.extension.llm.custom_ops import rows as plain
from executorch.extension.llm.custom_ops.blocks_test import run
from executorch.extension.llm.custom_ops.custom_ops_test import Attention, llama, rows
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


@pytest.mark.req("KS-007")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_a_cache_lives_from_call_to_call(dtype: torch.dtype) -> None:
    shapes = ({1: Dim("rows", min=1, max=7)}, None)
    model = Attention().eval()
    for name in ("keys", "values"):
        setattr(model, name, getattr(model, name).to(dtype))
    program = export(model, (rows(1, 3, 8), torch.tensor([1])), dynamic_shapes=shapes)
    edge = to_edge(program)
    buffer = edge.to_executorch().buffer
    module, eager = _load_for_executorch_from_buffer(buffer), copy.deepcopy(model)
    for start, count in ((0, 4), (4, 1), (5, 1), (6, 2), (2, 3)):
        inputs = (rows(1, count, 8) + start, torch.tensor([start]))
        (found,) = module.forward(inputs)
        torch.testing.assert_close(found, eager(*inputs), rtol=1e-5, atol=1e-5)
    with pytest.raises(RuntimeError, match="start_pos 6"):
        module.forward((rows(1, 3, 8), torch.tensor([6])))


class Rest(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, 6, 1, 4))

    def forward(self, x: torch.Tensor, at: torch.Tensor) -> tuple[torch.Tensor, ...]:
        new = x[:, :, :1]
        llama.update_cache_with_indices(new, self.keys, 0, at)
        out = llama.sdpa_with_kv_cache(x, new, -new, self.keys, self.values, 1, 2, None, 0.0, True)
        turned = llama.fast_hadamard_transform(x)
        y = x.transpose(1, 2)
        delta, state = llama.channelwise_gated_delta_rule(
            y, y, y, y, y[..., 0], y.new_zeros(1, 2, 4, 4)
        )
        return out, turned, delta, state


def test_the_other_operators_in_one_program() -> None:
    inputs = (rows(1, 2, 2, 4) * 0.5, torch.tensor([[5, 3]]))
    model = Rest()
    program = to_edge(export(model, inputs)).to_executorch()
    found = _load_for_executorch_from_buffer(program.buffer).forward(inputs)
    for one, other in zip(found, model(*inputs), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


class Function(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def on_runtime(
    function: Callable[..., torch.Tensor], inputs: tuple[torch.Tensor, ...]
) -> torch.Tensor:
    program = to_edge(export(Function(function), inputs)).to_executorch()
    return _load_for_executorch_from_buffer(program.buffer).forward(inputs)[0]


# One operator, the operators that it stands for, and inputs; widths are no multiples of any vector.
ROWS = {
    "rms_norm": (
        lambda x, weight: llama.rms_norm(x, weight, 1e-5),
        lambda x, weight: plain.rms_norm(x, weight, 1e-5),
        ((2, 3, 77), (77,)),
    ),
    "rotate": (
        lambda x, cos, sin: llama.rotate(x, cos, sin, False),
        lambda x, cos, sin: plain.rotate(x, cos, sin, False),
        ((2, 5, 3, 38), (5, 19), (5, 19)),
    ),
    "rotate halves": (
        lambda x, cos, sin: llama.rotate(x, cos, sin, True),
        lambda x, cos, sin: plain.rotate(x, cos, sin, True),
        ((1, 5, 3, 38), (5, 38), (5, 38)),
    ),
    "silu_gate": (llama.silu_gate, plain.silu_gate, ((3, 101, 67), (3, 101, 67))),
}


@pytest.mark.parametrize("name", ROWS)
def test_one_operator_gives_what_those_give_that_it_stands_for(name: str) -> None:
    fused, spelled, shapes = ROWS[name]
    torch.manual_seed(0)
    inputs = tuple(torch.randn(shape) * 3 for shape in shapes)
    found = on_runtime(fused, inputs)
    assert torch.equal(found, on_runtime(spelled, inputs))  # to the bit
    torch.testing.assert_close(found, spelled(*inputs), rtol=1e-5, atol=1e-5)


def test_wrong_arguments_of_these_operators_are_refused() -> None:
    x, table = torch.ones(2, 3, 4), torch.ones(2, 2)
    with pytest.raises(ValueError, match="eps of 0 or more"):
        llama.rms_norm(x, torch.ones(4), -1.0)
    with pytest.raises(ValueError, match="expected weight of 4, found 3"):
        llama.rms_norm(x, torch.ones(3), 1e-5)
    with pytest.raises(ValueError, match="cos columns of 4, found 2"):
        llama.rotate(x, table, table, True)
    with pytest.raises(ValueError, match="sin rows of 2, found 3"):
        llama.rotate(x, table, torch.ones(3, 2), False)
    with pytest.raises(ValueError, match="each size of by of 3, found 1"):
        llama.silu_gate(x, torch.ones(2, 1, 4))
    with pytest.raises(ValueError, match="by float32"):
        llama.silu_gate(x, x.half())
    for name, inputs in {
        "rms_norm": [x, torch.ones(3), 1e-5],
        "rotate": [x, table, torch.ones(3, 2), False],
        "silu_gate": [x, torch.ones(2, 1, 4)],
    }.items():
        run(name, inputs, [torch.empty_like(x)], status=1)
