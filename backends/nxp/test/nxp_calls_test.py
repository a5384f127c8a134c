# SPDX-License-Identifier: BSD-3-Clause
"""Every row's TFLite model, run by LiteRT, beside exact arithmetic: within half a quantum of it, and another half that
TFLite's integers lose. Faults that are planted in rows are seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import torch

from executorch.backends.nxp.aot import gemm, pooling, writer
from executorch.backends.nxp.aot.ops import TABLE
from executorch.backends.nxp.backend.custom_delegation_options import CustomDelegationOptions
from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
from executorch.backends.nxp.nxp_backend import generate_neutron_compile_spec
from executorch.backends.nxp.test import stand_in
from executorch.backends.nxp.test.nxp_calls import FAMILIES, Case, same, values
from executorch.backends.test.conformance.lowered import lower_edge
from executorch.backends.test.conformance.quantized_single_calls import quanta_off, tensors_of
from executorch.backends.test.conformance.single_call import program_of
from executorch.exir.graph_facts import op_name

pytestmark = [
    pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing()),
    pytest.mark.usefixtures("stand_in_sdk"),
]
MAX_QUANTA = 1.01


def partitioner(**options: Any) -> NeutronPartitioner:
    specs = generate_neutron_compile_spec("imxrt700", **options)
    return NeutronPartitioner(
        specs, custom_delegation_options=CustomDelegationOptions(allow_no_op_partitions=True)
    )


def wrong(cases: Iterable[Case], **options: Any) -> list[str]:
    """What is not delegated, or further off."""
    backend, found = stand_in.backend(lambda: partitioner(**options)), []
    for case in cases:
        program = program_of(case.call, case.operand, case.result)
        lowered = lower_edge(backend, program)
        names = map(op_name, lowered.manager.exported_program().graph.nodes)
        left = [
            name for name in names if name and "quantize" not in name and "delegate" not in name
        ]
        if left:
            found.append(f"{case.call}: not delegated: {left}")
            continue
        try:
            (result, *_) = lowered.runner()(*tensors_of(case.call))
        except RuntimeError as error:
            found.append(f"{case.call}: LiteRT refuses it: {error}")
            continue
        off = quanta_off(case.call, result, case.operand, case.result)
        if off > MAX_QUANTA:
            found.append(f"{case.call}: {off:.2f} quanta off")
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_calls_in_litert_are_those_of_pytorch(family: str) -> None:
    torch.manual_seed(0)
    assert wrong(FAMILIES[family]()) == []


def test_every_row_has_a_call() -> None:
    torch.manual_seed(0)
    called = {case.call.name for family in FAMILIES.values() for case in family()}
    assert called == set(TABLE) - {"aten.clone.default"}  # as programs without dim orders have it


@pytest.mark.parametrize("family", ["convolutions", "windows", "along_axes"])
def test_transposes_may_be_the_runtimes(family: str) -> None:
    torch.manual_seed(0)
    assert wrong(FAMILIES[family](), use_neutron_for_format_conversion=False) == []


# ---- Faults ----


def _with_other_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Padding is 0 as it is stored, not what stands for 0."""
    own = writer.TfliteWriter.padded
    monkeypatch.setattr(
        writer.TfliteWriter,
        "padded",
        lambda w, x, pads, filling, made=None: own(w, x, pads, 0, made),
    )


def _with_plain_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer.TfliteWriter, "axis", lambda w, dim, of=None: dim % 3)


def _without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(writer._LIMITS, (0.0, 6.0), "RELU")


def _with_swapped_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    own = gemm._of_dims
    monkeypatch.setattr(
        gemm,
        "_of_dims",
        lambda node, name, added: own(node, name, added)[:: -1 if name == "stride" else 1],
    )


def _with_biases_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    own = writer.TfliteWriter._real
    monkeypatch.setattr(writer.TfliteWriter, "_real", lambda w, node: own(w, node).flip(0))


def _with_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corners of images in the place of centres of pixels."""
    monkeypatch.setattr(
        pooling, "argument", lambda node, name, default=None: name == "align_corners" or default
    )


def _with_kernel_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    own = writer.TfliteWriter.weight

    def turned(w: Any, node: Any, order: Any, axis: int = 0) -> Any:
        data, qparams = own(w, node, order, axis)
        return data.flip(1), qparams

    monkeypatch.setattr(writer.TfliteWriter, "weight", turned)


FAULTS = {
    _with_other_padding: "windows",
    _with_plain_axes: "along_axes",
    _without_limits: "functions",
    _with_swapped_strides: "convolutions",
    _with_biases_of_others: "products",
    _with_kernel_turned: "transposed_convolutions",
    _with_halves: "resizes",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_faults_are_seen(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    fault(monkeypatch)
    assert wrong(FAMILIES[FAULTS[fault]]())


def test_what_gives_back_its_input_is_no_delegate() -> None:
    for case in (
        same("view_copy.default", values(2, 3), [6]),
        same("alias_copy.default", values(2, 3)),
    ):
        program = program_of(case.call, case.operand, case.result)
        reasons = set(NeutronPartitioner().why_not_delegated(program).values())
        assert "the NPU would compute nothing" in reasons
