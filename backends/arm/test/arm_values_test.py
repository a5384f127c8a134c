# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of Ethos-U and VGF: their own partitioners and compile specs, and the graph that Vela or the model converter
is given, evaluated beside float64. What the compilers make of it runs on their devices alone."""

from __future__ import annotations

import pytest
import torch

from executorch.backends.arm import arm_vela
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.test.arm_cases import FAMILIES as CASES
from executorch.backends.arm.test.arm_operators_test import OUTSIDE, is_fully_delegated
from executorch.backends.arm.test.arm_quantized_rows import FAMILIES
from executorch.backends.arm.test.arm_reference import delegates, lowered, through_reference_all
from executorch.backends.arm.vgf import VgfCompileSpec, VgfPartitioner, model_converter
from executorch.exir.backend.lowering.external.tool import ExternalTool

SPECS = {
    "ethos-u55-128": lambda: EthosUPartitioner(EthosUCompileSpec("ethos-u55-128")),
    "ethos-u85-256": lambda: EthosUPartitioner(EthosUCompileSpec("ethos-u85-256")),
    "vgf": lambda: VgfPartitioner(VgfCompileSpec("TOSA-1.0+INT+int16")),
}
_COMPARE = ("eq", "ne", "gt", "ge", "lt", "le")
# Ethos-U55 has no comparisons, REVERSE, GATHER, RESIZE and conv3d.
NOT_ON_U55 = {
    "sums": {*_COMPARE, *(f"{each} number" for each in _COMPARE), "gt of one value", "where"},
    "products": {"requantize"},
    "layers": {"conv3d"},
    "data_movement": {"view", "flip", "flip rescaled", "index", "nearest", "nearest odd"},
    "along_axes": {"bilinear", "bilinear aligned"},
}
EVERY = 4  # of a family one of so many rows is in the fast tier


@pytest.fixture(autouse=True)
def graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler's payload is the graph that it is given."""
    monkeypatch.setattr(ExternalTool, "require", lambda self: None)
    monkeypatch.setattr(ExternalTool, "version", lambda self: "that gives graphs back")
    monkeypatch.setattr(arm_vela, "vela_compile", lambda graph, *flags, **more: graph)
    monkeypatch.setattr(model_converter, "vgf_compile", lambda graph, *flags, **more: graph)


def check(target: str, family: str, every: int = 1) -> None:
    torch.manual_seed(0)
    rows = list(FAMILIES[family]())[::every]
    programs = [
        (lowered(each.call, each.inputs, "", SPECS[target]()), each.inputs) for each in rows
    ]
    whole = [is_fully_delegated(edge) for edge, _ in programs]
    outside = {each.name for each, is_in in zip(rows, whole, strict=True) if not is_in}
    expected = NOT_ON_U55.get(family, set()) if "u55" in target else set()
    assert outside == expected & {each.name for each in rows}
    backend = "VgfBackend" if target == "vgf" else "EthosUBackend"
    assert {each.backend_id for edge, _ in programs for each in delegates(edge)} == {backend}
    found = through_reference_all(programs)
    wrong = [each.why_wrong(results[0]) for each, results in zip(rows, found, strict=True)]
    assert [each for each in wrong if each] == []


@pytest.mark.parametrize("target", SPECS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_of_integers(target: str, family: str) -> None:
    check(target, family, EVERY)


@pytest.mark.full
@pytest.mark.parametrize("target", SPECS)
@pytest.mark.parametrize("family", FAMILIES)
def test_integers(target: str, family: str) -> None:
    check(target, family)


@pytest.mark.parametrize("family", CASES)
def test_floats_of_vgf(family: str) -> None:
    """By the default specification, which has floats and integers."""
    torch.manual_seed(0)
    cases = list(CASES[family]())[::EVERY]
    programs = [
        (lowered(module.eval(), inputs, "", VgfPartitioner()), inputs)
        for _, module, inputs in cases
    ]
    found, wrong = through_reference_all(programs), []
    for (name, module, inputs), (edge, _), (result, *_) in zip(cases, programs, found, strict=True):
        assert is_fully_delegated(edge) or name in OUTSIDE["TOSA-1.0+FP"].get(family, set()), name
        expected = module(*inputs)
        error = (result.float() - expected.float()).abs().max().item()
        if error > 1e-5 * max(1, expected.float().abs().max().item()):
            wrong.append((name, error))
    assert wrong == []
