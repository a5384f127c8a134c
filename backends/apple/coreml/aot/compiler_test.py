# SPDX-License-Identifier: BSD-3-Clause
"""Why coremltools refuses a program, as it is told, and which models are not taken."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.export import Dim

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.aot import compiler, torch_ops  # noqa: E402
from executorch.backends.apple.coreml.aot.several_methods import _reference, _why_not  # noqa: E402
from executorch.backends.test.corpus.row import Function, numbers  # noqa: E402
from executorch.exir import to_edge  # noqa: E402
from executorch.exir.backend.compile_spec_schema import CompileSpec  # noqa: E402
from executorch.exir.backend.lowering.external.compiler import Refused  # noqa: E402

X = numbers(3, 4)


def edge(code: Any, *inputs: Any, **how: Any) -> torch.export.ExportedProgram:
    return to_edge(torch.export.export(Function(code), inputs, **how)).exported_program()


def test_hints_are_for_weights_of_a_later_target() -> None:
    for reason, is_hinted in (
        ("weights of torchao needs minimum_deployment_target iOS18 or later, iOS17 was asked for", True),
        ("iOS18.constexpr_blockwise_shift_scale is of a later opset", True),
        ("8-bit weights with a scale for each row needs minimum_deployment_target iOS16 or later", False),
        ("a state needs minimum_deployment_target iOS18 or later, iOS17 was asked for", False),
        ("constexpr_lut_to_dense is in iOS16", False),
    ):  # fmt: skip
        found = torch_ops.with_hint(reason)
        assert found.startswith(reason)
        assert ("minimum_deployment_target=ct.target.iOS18)` (or higher)" in found) is is_hinted, (
            reason
        )


def test_targets_that_an_error_asks_for() -> None:
    asks = "update the minimum_deployment_target to at least coremltools.target.{}"
    assert compiler._later_target(ValueError(asks.format("iOS17"))) is ct.target.iOS17
    assert compiler._later_target(ValueError(f"please {asks.format('iOS16')}.")) is ct.target.iOS16
    assert compiler._later_target(ValueError("something else of iOS17")) is None


def test_the_call_that_is_refused() -> None:
    """The last that coremltools logged, where the program has it."""
    program = edge(lambda x: x.relu() + 1, X)
    message = "converting 'relu' op (located at: '{}'):"
    for heard, nodes in (
        ([], set()),
        (["something"], set()),
        ([message.format("aten_relu_default")], {"aten_relu_default"}),
        (
            [message.format("aten_relu_default"), message.format("aten_add_tensor")],
            {"aten_add_tensor"},
        ),
        ([message.format("aten_relu_default"), message.format("other")], set()),
    ):
        found = compiler._refusal(ValueError(" no\n  such "), heard, program)
        assert str(found) == "coremltools: no such" and set(found.nodes) == nodes
    assert str(compiler._refusal(KeyError(), [], program)) == "coremltools: KeyError"


def model_of(*sizes: list[int]) -> Any:
    """Of results of these sizes."""
    kinds = [SimpleNamespace(multiArrayType=SimpleNamespace(shape=each)) for each in sizes]
    output = [SimpleNamespace(type=each) for each in kinds]
    spec = SimpleNamespace(description=SimpleNamespace(output=output))
    return SimpleNamespace(get_spec=lambda: spec)


def test_results_are_those_of_the_program() -> None:
    """As many, of their sizes; what has no dimensions has one of 1, and sizes that change are not compared."""

    def both(x: torch.Tensor) -> Any:
        return x.relu(), x.sum()

    rows = (({0: Dim("rows", min=2, max=9)},),)
    fixed, changing = edge(both, X), edge(both, X, dynamic_shapes=rows)
    for program, sizes in (
        (fixed, ([3, 4], [1])),
        (fixed, ([], [])),  # coremltools says nothing
        (changing, ([2, 4], [1])),
        (changing, ([], [1])),
    ):
        compiler._check_results(model_of(*sizes), program)
    for program, sizes, reason in (
        (fixed, ([3, 4],), "coremltools gives 1 results, 2 are expected"),
        (fixed, ([3, 4], [1], [1]), "coremltools gives 3 results, 2 are expected"),
        (fixed, ([4, 3], [1]), r"coremltools gives sizes \[4, 3\], \[3, 4\] are expected"),
        (fixed, ([3, 4], [2]), r"coremltools gives sizes \[2\], \[\] are expected"),
        (changing, ([2, 4], [2]), r"coremltools gives sizes \[2\], \[\] are expected"),
    ):
        with pytest.raises(Refused, match=reason):
            compiler._check_results(model_of(*sizes), program)


def test_methods_name_the_model_that_they_share() -> None:
    """As the runtime reads it."""
    found = _reference("coreml_x", "prefill", b"model")
    record = json.loads(found.processed_bytes.removeprefix(b"CMJR"))
    assert record == {"version": 1, "key": "coreml_x", "functionName": "prefill"}
    (entry,) = found.data_store_output.pte_data.items()
    assert (
        entry[0] == "coreml_x"
        and found.data_store_output.buffers[entry[1].buffer_index] == b"model"
    )


def test_methods_that_share_no_model() -> None:
    """None where they do; empty where nobody expects it."""

    def compile_specs(**given: str) -> list[CompileSpec]:
        return [CompileSpec(key, text.encode()) for key, text in given.items()]

    sharing = "multimethod_weight_sharing_strategy"
    target = {name: str(ct.target[name].value) for name in ("iOS17", "iOS18")}
    old, new = (compile_specs(min_deployment_target=target[each]) for each in ("iOS17", "iOS18"))
    late = "a model of several functions needs iOS18 or later, iOS17 was asked for"
    for counts, specs, expected in (
        ((1,), [compile_specs()], ""),
        ((1, 1), [], ""),
        ((1, 1), [compile_specs(), compile_specs()], None),
        ((2, 2), [new, new], None),
        ((1, 1), [new, old], late),
        ((1, 1), [old, new], late),
        ((1, 1), [compile_specs(**{sharing: "disabled"}), compile_specs()], ""),
        ((1, 2), [compile_specs(**{sharing: "disabled"}), compile_specs()], ""),
        ((1, 1), [compile_specs(**{sharing: "positional"}), compile_specs()], None),
        (
            (1, 1),
            [compile_specs(model_type="compiled_model"), compile_specs()],
            "compiled models stand alone",
        ),
        ((1, 1), [compile_specs(model_type="model"), compile_specs()], None),
    ):
        alone: Any = {f"method {place}": [None] * count for place, count in enumerate(counts)}
        given = {name: [each] for name, each in zip(alone, specs, strict=False)}
        assert _why_not(alone, given) == expected, (counts, specs)
    with pytest.raises(ValueError, match="Method 'b' has 2 partitions, but 'a' has 1"):
        _why_not({"a": [None], "b": [None] * 2}, {"a": [compile_specs()]})  # type: ignore[list-item]
