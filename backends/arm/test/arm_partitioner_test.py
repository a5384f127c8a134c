# SPDX-License-Identifier: BSD-3-Clause
"""What partitioners leave besides what a row refuses, and what they are given: checks and operators of one's own."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.backends.arm.aot.rows import BETWEEN
from executorch.backends.arm.test.arm_reference import delegates
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.backends.test.conformance.single_call import OPERAND, Call, program_of
from executorch.exir import EdgeProgramManager
from executorch.exir.graph_facts import op_name

X = torch.zeros(2, 3)
SUM = Call("aten.add.Tensor", (X, X))


class NoSums(OperatorSupportBase):
    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return op_name(node) != "aten.add.Tensor"


def reasons(partitioner: TOSAPartitioner, program: ExportedProgram) -> set[str]:
    return set(partitioner.why_not_delegated(program).values())


def test_a_check_of_ones_own_leaves_a_call() -> None:
    spec = TosaCompileSpec("TOSA-1.0+FP")
    assert reasons(TOSAPartitioner(spec), program_of(SUM)) == set()
    checked = TOSAPartitioner(spec, [NoSums()])
    assert reasons(checked, program_of(SUM)) == {"Rejected by NoSums"}
    assert reasons(checked, program_of(Call("aten.abs.default", (X,)))) == set()


def test_an_operator_of_ones_own_stays_whole() -> None:
    partitioner = TOSAPartitioner(TosaCompileSpec("TOSA-1.0+FP"))
    program, op = program_of(SUM), torch.ops.aten.lerp.Scalar
    assert op not in partitioner.ops_to_not_decompose(program)[0]
    partitioner.register_custom_partition_op(op)
    kept, is_fully_delegated = partitioner.ops_to_not_decompose(program)
    assert op in kept and torch.ops.aten.linear.default in kept and is_fully_delegated is not None


NOTHING = [
    Call("aten.view_copy.default", (X, [3, 2])),
    Call("aten.unsqueeze_copy.default", (X, 0)),
    Call("aten.squeeze_copy.dims", (X[:1], [0])),
    Call("aten.alias_copy.default", (X,)),
    Call("dim_order_ops._clone_dim_order.default", (X,)),
    Call("aten.detach_copy.default", (X,)),
]


@pytest.mark.parametrize("stored", [False, True])
def test_what_computes_nothing_is_left(stored: bool) -> None:
    """Stored values as well, though a quantize and a dequantize stand around them."""
    numbers = (OPERAND, OPERAND) if stored else ()
    partitioner = TOSAPartitioner(
        TosaCompileSpec("TOSA-1.0+FP" if not stored else "TOSA-1.0+FP+INT")
    )
    for call in NOTHING:
        edge = EdgeProgramManager({"forward": program_of(call, *numbers)}).to_backend(partitioner)
        assert delegates(edge) == [], call
        assert "nothing is computed" in reasons(partitioner, program_of(call, *numbers))
        assert BETWEEN not in reasons(partitioner, program_of(call, *numbers))
    assert (
        reasons(partitioner, program_of(Call("aten.permute_copy.default", (X, [1, 0])), *numbers))
        == set()
    )


def test_what_only_quantizes_is_left() -> None:
    partitioner = TOSAPartitioner(TosaCompileSpec("TOSA-1.0+FP+INT"))
    rounded = torch.ops.quantized_decomposed.quantize_per_tensor.default
    call = Call("quantized_decomposed.quantize_per_tensor.default", (X, *OPERAND))
    assert call.op is rounded
    assert reasons(partitioner, program_of(call)) == {BETWEEN}
