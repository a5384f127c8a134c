# SPDX-License-Identifier: BSD-3-Clause
"""Exporting says which operators no kernel serves: all of them, where they come from, and the ways out."""

from __future__ import annotations

import re
import warnings

import pytest
import torch
from torch.export import export

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.operator.served import served_operators
from executorch.runtime import Runtime

library = torch.library.Library("unserved", "DEF")
library.define("own(Tensor x) -> Tensor")
library.define("own.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
library.impl("own", lambda x: x + 1, "CompositeExplicitAutograd")


class Singular(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values = torch.linalg.svd(x)[1]
        return values, x.mode(-1)[0], x.mode(0)[0]


class Branch(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.mode(0)[0], lambda x: x[0] + 1, (x,))


class Own(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.unserved.own(x)


X = (torch.randn(3, 3),)


def test_all_of_them_are_told_with_their_lines_and_the_ways_out() -> None:
    edge = to_edge({"first": export(Singular(), X), "second": export(Branch(), X)})
    with pytest.raises(ExportError) as caught:
        edge.to_executorch()
    assert caught.value.error_code == ExportErrorType.NOT_SUPPORTED
    text = str(caught.value)
    assert text.count("no kernel serves these operators") == 2
    for pattern in (
        r"method first cannot become a program:\n- no kernel",
        r"aten::_linalg_svd\.U: node \S+ from File \S+unserved_test\.py\S* line \d+, .*torch\.linalg\.svd\(x\)",
        r"aten::mode\.values: node \S+ .*x\.mode\(-1\)\[0\], .* \(and 1 more\)",
        r"method second cannot become a program:\n- no kernel serves .*\n    aten::mode\.values",
        r"run_decompositions\(",
        r"with a partitioner",
        r"torch\.library",
        r"ExecutorchBackendConfig\(allow_missing_kernels=True\)",
    ):
        assert re.search(pattern, text), (pattern, text)


def test_with_the_option_they_are_a_warning_and_the_file_is_written() -> None:
    edge = to_edge(export(Singular(), X))
    with pytest.warns(UserWarning, match=r"no kernel serves [^$]*aten::mode\.values") as caught:
        program = edge.to_executorch(ExecutorchBackendConfig(allow_missing_kernels=True))
    assert caught[0].filename == __file__
    plan = program.executorch_program.execution_plan[0]
    assert "aten::_linalg_svd" in {operator.name for operator in plan.operators}


class Convert(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float32)


class Move(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        i = torch.tensor([1, 0])
        moved = [x.T, x[1:], x[:, 0], x[i], x.index_select(0, i), torch.cat([x, x]), x.reshape(-1)]
        moved += [x.expand(2, 2, 3), x.clone(), torch.stack([x, x]), x.repeat(2, 1), x.flip(0)]
        moved += [*x.chunk(3, 1), *x.unbind(0), x.roll(1, 0), x.unfold(1, 2, 1), x.diagonal()]
        return [*moved, torch.slice_scatter(x, x[:1], 0, 1), torch.nn.functional.embedding(i, x)]


RARE = [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("dtype", RARE)
def test_dtypes_that_kernels_only_move(dtype: torch.dtype) -> None:
    x = torch.arange(6.0).reshape(2, 3).to(dtype)
    pattern = rf"_to_dim_order_copy has no kernel for {dtype}: .*x\.to\(torch\.float32\)"
    with pytest.raises(ExportError, match=pattern):
        to_edge(export(Convert(), (x,))).to_executorch()
    data = to_edge(export(Move(), (x,))).to_executorch().buffer
    found = Runtime.get().load_program(data).load_method("forward").execute([x])
    for have, want in zip(found, Move()(x), strict=True):
        assert have.dtype == dtype
        torch.testing.assert_close(have.double(), want.double())


def test_operators_that_take_no_complex_numbers() -> None:
    class Running(torch.nn.Module):
        def forward(self, z: torch.Tensor) -> torch.Tensor:
            return z.abs().cumsum(0) + z.cumsum(0).abs()

    z = torch.complex(torch.randn(3), torch.randn(3))
    with pytest.raises(
        ExportError, match=r"aten::cumsum has no kernel for torch\.complex64: node"
    ) as caught:
        to_edge(export(Running(), (z,))).to_executorch()
    assert str(caught.value).count("has no kernel") == 1


def test_operators_of_the_users_own_namespaces_are_the_users() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = to_edge(export(Own(), X)).to_executorch()
    (operator,) = program.executorch_program.execution_plan[0].operators
    assert (operator.name, operator.overload) == ("unserved::own", "out")


def test_a_decomposition_of_the_users_is_a_way_out() -> None:
    table = {torch.ops.aten.mode.default: lambda x, dim, keepdim=False: (x[0], x[0].long())}
    edge = to_edge(export(Branch(), X).run_decompositions(table))
    assert edge.to_executorch().buffer


def test_the_tables_of_all_kernel_libraries_are_read() -> None:
    served = served_operators()
    assert {
        "aten::add.out",
        "dim_order_ops::_clone_dim_order.out",
        "quantized_decomposed::quantize_per_tensor.out",
    } <= served
    assert "aten::mode.values" not in served
