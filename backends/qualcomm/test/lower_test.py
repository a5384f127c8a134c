# SPDX-License-Identifier: BSD-3-Clause
"""Lowering in one call, as the documents have it, and context binaries out of programs; on the stand-ins."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import executorch.export
from executorch.backends.qualcomm.recipes import QNNRecipeType
from executorch.backends.qualcomm.test import stand_in
from executorch.backends.qualcomm.test.recorder import left
from executorch.backends.qualcomm.test.stand_in import run, specs, stand_in_sdk
from executorch.backends.qualcomm.utils.utils import (
    QcomChipset,
    dump_context_from_pte,
    to_edge_transform_and_lower_to_qnn,
)
from executorch.exir.error import ExportError
from executorch.export.recipe import ExportRecipe
from executorch.export.target_recipes import get_android_recipe
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.test.e2e.build_tree import load_backend

__all__ = ["stand_in_sdk"]
pytestmark = [
    pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing()),
    pytest.mark.usefixtures("stand_in_sdk"),
]


class Scaled(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * self.factor)


@pytest.mark.req("NPU-012")
def test_a_model_in_one_call() -> None:
    x = torch.randn(2, 3)
    manager = to_edge_transform_and_lower_to_qnn(
        Scaled(2.0), (x,), specs(), constant_methods={"version": 3}
    )
    assert left(manager) == []
    torch.testing.assert_close(run(manager, (x,))[0], Scaled(2.0)(x))
    assert run(manager, (), "version") == [3]


def test_operators_that_are_skipped_stay_on_the_cpu() -> None:
    x = torch.randn(2, 3)
    skipped = {"aten.relu.default"}
    manager = to_edge_transform_and_lower_to_qnn(
        Scaled(2.0), (x,), specs(), skip_node_op_set=skipped
    )
    assert left(manager) == ["aten.relu.default"]
    torch.testing.assert_close(run(manager, (x,))[0], Scaled(2.0)(x))


def test_methods_and_their_context_binaries(tmp_path: Path) -> None:
    models = {"kv": Scaled(2.0), "prefill": Scaled(3.0)}
    inputs = {"kv": (torch.randn(1, 3),), "prefill": (torch.randn(4, 3),)}
    manager = to_edge_transform_and_lower_to_qnn(
        models, inputs, dict.fromkeys(models, specs(weight_sharing=True))
    )
    for name, model in models.items():
        torch.testing.assert_close(run(manager, inputs[name], name)[0], model(*inputs[name]))
    path = tmp_path / "both.pte"
    path.write_bytes(manager.to_executorch().buffer)
    written = dump_context_from_pte(path)
    assert written == [str(tmp_path / f"{name}_0.bin") for name in models]
    binaries = {Path(each).read_bytes() for each in written}
    assert len(binaries) == 1 and binaries.pop().startswith(b"E-QNN-01")


@pytest.mark.parametrize("soc_model", ["SM8650", QcomChipset.SM8750])
def test_recipes_are_for_a_soc(soc_model: str | QcomChipset) -> None:
    x = torch.randn(2, 3)
    recipe = get_android_recipe(soc_model=soc_model, skip_node_op_set={"aten.relu.default"})
    session = executorch.export.export(Scaled(2.0).eval(), [(x,)], recipe)
    load_backend("qnn_executorch_backend")
    program = _load_for_executorch_from_buffer(session.get_pte_buffer())
    torch.testing.assert_close(program.forward((x,))[0], Scaled(2.0)(x))
    for wrong in ({}, {"soc_model": "SM1"}, {"soc_model": "SM8650", "speed": 1}):
        with pytest.raises(ValueError, match="soc_model"):
            ExportRecipe.get_recipe(QNNRecipeType.FP16, **wrong)


def test_upstreams_passes_are_refused() -> None:
    for options in ({"passes_job": {1: 2}}, {"convert_linear_to_conv2d": True}):
        with pytest.raises(ExportError, match=next(iter(options))):
            to_edge_transform_and_lower_to_qnn(nn.ReLU(), (torch.randn(2),), specs(), **options)


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.pte").write_bytes(b"nothing" * 20)
    with pytest.raises(ValueError):
        dump_context_from_pte(tmp_path / "x.pte")
