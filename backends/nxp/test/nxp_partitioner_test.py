# SPDX-License-Identifier: BSD-3-Clause
"""What users say of the partition, what is no partition of its own, and pairs of calls that are none."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.nxp.backend.custom_delegation_options import CustomDelegationOptions
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
from executorch.backends.nxp.neutron_partitioner import NXP_DO_NOT_DELEGATE, NeutronPartitioner
from executorch.backends.nxp.nxp_backend import generate_neutron_compile_spec
from executorch.backends.nxp.quantizer.neutron_quantizer import NeutronQuantizer
from executorch.backends.nxp.quantizer.utils import calibrate_and_quantize
from executorch.backends.nxp.test.nxp_calls import EVEN, Case, call, same, values, weight
from executorch.backends.test.conformance.single_call import OPERAND, program_of
from executorch.backends.test.corpus.row import Function
from executorch.exir import EdgeProgramManager, to_edge
from executorch.exir.graph_facts import op_name

IDLE = "the NPU would compute nothing"


def edge(model: Any, *inputs: Tensor) -> EdgeProgramManager:
    module = (model if isinstance(model, nn.Module) else Function(model)).eval()
    quantized = calibrate_and_quantize(
        torch.export.export(module, inputs), [inputs], NeutronQuantizer()
    )
    return to_edge(torch.export.export(quantized, inputs))


def left(
    program: EdgeProgramManager, partitioner: NeutronPartitioner | None = None
) -> dict[str, str]:
    """Reasons by operator, of calls that compute."""
    found = (partitioner or NeutronPartitioner()).why_not_delegated(program)
    names = {op_name(node): why for node, why in found.items()}
    return {name: why for name, why in names.items() if "quantized_decomposed" not in name}


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.linear = nn.Conv2d(4, 8, 3), nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(torch.relu(self.conv(x)).flatten(1)).softmax(-1)


IMAGE = torch.randn(1, 4, 4, 4)


@pytest.mark.req("NPU-032")
def test_all_of_a_network_is_delegated_with_few_arguments() -> None:
    program = edge(Layers(), IMAGE)
    assert left(program) == {}
    specs = generate_neutron_compile_spec("imxrt700")
    for given in ({"compile_spec": specs}, {"neutron_target_spec": NeutronTargetSpec("imxrt700")}):
        assert left(program, NeutronPartitioner(**given)) == {}


@pytest.mark.req("NPU-032")
def test_operators_not_to_delegate() -> None:
    program = edge(Layers(), IMAGE)
    for name in ("aten::convolution", "aten_convolution", "convolution"):
        specs = generate_neutron_compile_spec("imxrt700", operators_not_to_delegate=[name])
        reasons = left(program, NeutronPartitioner(specs))
        assert reasons["aten.convolution.default"] == "its operator is in operators_not_to_delegate"
        assert "aten.linear.default" not in reasons


def test_a_limit_that_is_not_delegated_leaves_the_call_before_it() -> None:
    specs = generate_neutron_compile_spec("imxrt700", operators_not_to_delegate=["aten_relu"])
    reasons = left(edge(Layers(), IMAGE), NeutronPartitioner(specs))
    assert set(reasons) == {"aten.relu.default", "aten.convolution.default"}


def test_nodes_that_a_user_marks_stay() -> None:
    program = edge(Layers(), IMAGE)
    for node in program.exported_program().graph.nodes:
        if op_name(node) == "aten.linear.default":
            node.meta[NXP_DO_NOT_DELEGATE] = True
    assert left(program)["aten.linear.default"] == f"its meta has {NXP_DO_NOT_DELEGATE}"


ADDED = weight(3, 8, scale=0.05)
ADDED.tensor.zero_()
IDLE_CASES = [
    same("view_copy.default", values(2, 3), [6]),
    same("alias_copy.default", values(2, 3)),
    same("cat.default", [values(2, 3)], 1),
    same("permute_copy.default", values(2, 1, 3), [1, 0, 2]),
    same("amax.default", values(2, 1, 3), [1], True),
    same("mean.dim", values(2, 1, 3), [1]),
    same("slice_copy.Tensor", values(2, 3), 1, 0, 3),
    same("constant_pad_nd.default", values(2, 3), [0, 0]),
    same("add.Tensor", values(3, 8), ADDED),
    same("relu.default", values(2, 3)),
    same("upsample_nearest2d.vec", values(1, 2, 3, 4), [3, 4], None),
    same("clamp.default", values(2, 3), -9.0, 9.0),
]
BUSY_CASES = [
    same("permute_copy.default", values(2, 3, 4), [1, 0, 2]),
    same("add.Tensor", values(1, 8), ADDED),
    same("clamp.default", values(2, 3), -5.0, 5.0),
    Case(call("relu.default", values(2, 3)), EVEN, OPERAND),
]


def test_what_computes_nothing_is_no_delegate_of_its_own() -> None:
    """But where the user wants it so."""
    anyhow = NeutronPartitioner(custom_delegation_options=CustomDelegationOptions(True))
    for case in IDLE_CASES:
        if case.call.name == "aten.relu.default":
            case = Case(
                case.call, (0.05, -128, -128, 127, torch.int8), (0.05, -128, -128, 127, torch.int8)
            )
        program = program_of(case.call, case.operand, case.result)
        assert IDLE in NeutronPartitioner().why_not_delegated(program).values(), case.call
        assert IDLE not in anyhow.why_not_delegated(program).values(), case.call
    for case in BUSY_CASES:
        program = program_of(case.call, case.operand, case.result)
        assert IDLE not in NeutronPartitioner().why_not_delegated(program).values(), case.call


def test_a_view_beside_what_computes_is_in_its_delegate() -> None:
    assert left(edge(lambda x: torch.sigmoid(x.view(4, 16)), IMAGE)) == {}


def test_pairs_that_give_back_what_they_read_are_folded() -> None:
    """Where a dropout was."""
    program = edge(nn.Sequential(nn.Conv2d(4, 8, 1), nn.Dropout(), nn.Conv2d(8, 4, 1)), IMAGE)
    partitioner = NeutronPartitioner()
    partitioner.prepare(program.exported_program())
    result = partitioner.partition(program.exported_program())
    assert list(result.partition_tags) == ["tag0"]


def test_a_target_spec_of_another_target_is_refused() -> None:
    spec = NeutronTargetSpec("imxrt700")
    spec.neutron_target = type(spec.neutron_target)("other", False, 1, 8, 8, spec.get_hw_version())
    with pytest.raises(ValueError, match="expected a target spec of imxrt700"):
        NeutronPartitioner(neutron_target_spec=spec)


def test_operators_that_a_user_wants_preserved() -> None:
    aten = torch.ops.aten
    program = torch.export.export(Layers(), (IMAGE,))
    wanted = NeutronPartitioner(preserve_ops=[aten.linear.default, aten.lstm.input])
    ops, check = wanted.ops_to_not_decompose(program)
    assert aten.linear.default in ops and aten.lstm.input not in ops and check is None
    ops, check = NeutronPartitioner(
        preserve_ops=[aten.mean.dim], check_op_support=lambda node: False
    ).ops_to_not_decompose(program)
    kept = {op_name(node) for node in program.graph.nodes if check(node)}
    assert aten.mean.dim in ops and kept == {"aten.linear.default"}
