# SPDX-License-Identifier: BSD-3-Clause
"""Subclasses of Tensor among a program's data become plain tensors, as torch's own decomposition names them."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram, export
from torch.testing._internal.two_tensor import TwoTensor
from torchao.quantization.granularity import PerGroup
from torchao.quantization.quant_api import (
    Int8DynamicActivationIntxWeightConfig,
    IntxWeightOnlyConfig,
    quantize_,
)

from executorch.exir import to_edge_transform_and_lower
from executorch.exir.retrace.tensor_subclasses import with_plain_tensors
from executorch.runtime import Runtime


class _Counting(nn.Module):
    """Quantized layers, and a buffer that every call writes."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 64)
        self.inner = nn.Linear(64, 32)
        self.last = nn.Linear(32, 3, bias=False)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return self.last(self.inner(self.table(ids))) + self.calls


_IDS = (torch.tensor([[1, 7, 3]]),)


def _quantized() -> nn.Module:
    torch.manual_seed(0)
    model = _Counting().eval()
    quantize_(
        model,
        Int8DynamicActivationIntxWeightConfig(
            weight_dtype=torch.int4, weight_granularity=PerGroup(32)
        ),
    )
    table = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))
    quantize_(model, table, lambda module, _: isinstance(module, nn.Embedding))
    return model


@torch.no_grad()
def _exported(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> ExportedProgram:
    return export(model, inputs)


def _assert_same_data(ours: ExportedProgram, theirs: ExportedProgram) -> None:
    assert ours.state_dict.keys() == theirs.state_dict.keys()
    for name, tensor in theirs.state_dict.items():
        assert type(ours.state_dict[name]) is type(tensor), name
        assert torch.equal(ours.state_dict[name], tensor), name
    kinds = [
        {(spec.kind, spec.arg.name, spec.target) for spec in program.graph_signature.input_specs}
        for program in (ours, theirs)
    ]
    assert kinds[0] == kinds[1]


def test_quantized_weights_become_what_torch_makes_of_them() -> None:
    program = _exported(_quantized(), _IDS)
    names = set(program.state_dict)
    plain = with_plain_tensors(program)
    _assert_same_data(plain, program.run_decompositions({}))
    assert set(program.state_dict) == names and "inner.weight" in names
    with torch.no_grad():
        assert torch.equal(plain.module()(*_IDS), _quantized()(*_IDS))
    assert with_plain_tensors(plain) is plain


def test_a_program_that_writes_buffers_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's decomposition costs more than all the rest of the export."""
    program = _exported(_quantized(), _IDS)
    outputs = []
    for data in (program.run_decompositions({}), program):
        if data is program:
            monkeypatch.setattr(ExportedProgram, "run_decompositions", None)
        buffer = to_edge_transform_and_lower(data).to_executorch().buffer
        method = Runtime.get().load_program(buffer).load_method("forward")
        outputs.append([method.execute([*_IDS])[0] for _ in range(2)])
    for theirs, ours in zip(*outputs, strict=True):
        assert torch.equal(theirs, ours)
    assert torch.equal(outputs[0][1], outputs[0][0] + 1)


class _Nested(nn.Module):
    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight.a.b


def test_a_subclass_in_a_subclass() -> None:
    one, two, three = (torch.full((2,), float(value)) for value in (1, 2, 3))
    program = _exported(_Nested(TwoTensor(TwoTensor(one, two), three)), (torch.zeros(2),))
    plain = with_plain_tensors(program)
    assert {name: v.tolist() for name, v in plain.state_dict.items()} == {
        "parametrizations.weight.original1": [2.0, 2.0]
    }
    assert plain.module()(torch.zeros(2)).tolist() == [2.0, 2.0]


class _Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(TwoTensor(torch.ones(2), torch.ones(2)), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.weight * 2).a + x


def test_what_calls_an_operator_with_the_subclass_is_left_to_torch() -> None:
    program = _exported(_Whole(), (torch.zeros(2),))
    _assert_same_data(with_plain_tensors(program), program.run_decompositions({}))
