# SPDX-License-Identifier: BSD-3-Clause
"""Operators are defined from the table of their kernels, in both forms, and one function says what both compute."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.export import export

from executorch.exir import to_edge
from executorch.exir.backend.lowering.kernels.library import KernelLibrary

TABLE = """
- func: kernel_library_test::twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  kernels: [{arg_meta: null, kernel_name: "mine::twice_out"}]
- func: kernel_library_test::scaled.by_number_out(Tensor x, float factor=2.0, *, Tensor(a!) out) -> Tensor(a!)
  kernels: [{arg_meta: null, kernel_name: "mine::scaled_out"}]
- func: kernel_library_test::halves.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!))
  kernels: [{arg_meta: null, kernel_name: "mine::halves_out"}]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    path = tmp_path_factory.mktemp("table") / "functions.yaml"
    path.write_text(TABLE)
    made = KernelLibrary("kernel_library_test", path)

    @made.implement("twice")
    def twice(x: Tensor) -> Tensor:
        return x + x

    @made.implement("scaled.by_number")
    def scaled(x: Tensor, factor: float = 2.0) -> Tensor:
        return x * factor

    @made.implement("halves")
    def halves(x: Tensor) -> tuple[Tensor, Tensor]:
        low, high = x.chunk(2)
        return low.clone(), high.clone()

    return made


def test_both_forms_are_there(library: KernelLibrary) -> None:
    assert library.names() == ["twice", "scaled.by_number", "halves"]
    own, x = torch.ops.kernel_library_test, torch.arange(4.0)
    assert torch.equal(own.twice(x), 2 * x)
    assert torch.equal(own.twice.out(x, out=torch.empty(0)), 2 * x)
    assert torch.equal(own.scaled.by_number(x, 3.0), 3 * x) and torch.equal(
        own.scaled.by_number(x), 2 * x
    )
    low, high = torch.empty(0), torch.empty(0)
    own.halves.out(x, low=low, high=high)
    assert torch.equal(torch.cat([low, high]), x)
    for operator, arguments in ((own.twice.default, (x,)), (own.halves.default, (x,))):
        torch.library.opcheck(operator, arguments)


def test_a_program_calls_the_out_variant(library: KernelLibrary) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            low, high = torch.ops.kernel_library_test.halves(x)
            return torch.ops.kernel_library_test.scaled.by_number(low, 0.5) + high

    program = to_edge(export(Model(), (torch.ones(4),))).to_executorch(
        config=_even_without_kernels()
    )
    names = {each.name for each in program.executorch_program.execution_plan[0].operators}
    assert {"kernel_library_test::halves", "kernel_library_test::scaled"} <= names


def _even_without_kernels() -> object:
    from executorch.exir import ExecutorchBackendConfig

    return ExecutorchBackendConfig(allow_missing_kernels=True)


def test_rows_that_are_no_out_variants_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "functions.yaml"
    for row in (
        "bad::add(Tensor x) -> Tensor",
        "bad::add.other(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    ):
        path.write_text(f"- func: '{row}'\n")
        with pytest.raises(ValueError, match="expected an out variant"):
            KernelLibrary("bad", path)
