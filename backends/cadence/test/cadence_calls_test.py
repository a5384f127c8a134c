# SPDX-License-Identifier: BSD-3-Clause
"""Single calls on stored values, lowered without an export, by the operators in Python beside eager PyTorch: arguments
that layers seldom give, of each dtype that the kernels have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.cadence.aot import table
from executorch.backends.test.conformance.quantized_single_calls import quanta_off, tensors_of
from executorch.backends.test.conformance.single_call import (
    OPERAND,
    Call,
    Data,
    Numbers,
    program_of,
)
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.graph_facts import op_name
from executorch.exir.program._transform import _transform

BYTES: Numbers = (0.05, 130, 0, 255, torch.uint8)
WIDE: Numbers = (2.0**-9, 5, -32768, 32767, torch.int16)


def call(name: str, *args: object, **kwargs: object) -> Call:
    return Call(f"aten.{name}", args, kwargs)


def values(*sizes: int) -> Tensor:
    return torch.rand(sizes) * 8 - 4


def weight(*sizes: int) -> Data:
    return Data(torch.randint(-127, 128, sizes, dtype=torch.int8), 0.01)


def calls() -> Iterator[Call]:
    x, y = values(2, 3, 6), values(2, 3, 6)
    yield call("add.Tensor", x, y)
    yield call("add.Tensor", x, values(6), alpha=1)
    yield call("add.Tensor", values(3, 1), x)
    yield call("relu.default", x)
    for name, right in ("bmm", values(2, 6, 4)), ("matmul", values(2, 6, 4)):
        yield call(f"{name}.default", x, right)
    yield call("mm.default", x[0], values(6, 4))
    for dim in (-1, 2):
        yield call("_softmax.default", x, dim, False)
    scale, shift = Data(values(6)), Data(values(6))
    for given in (None, None), (scale, None), (None, shift), (scale, shift):
        yield call("native_layer_norm.default", x, [6], *given, 0.1)
    yield call("native_layer_norm.default", x, [3, 6], None, None, 1e-5)


def data_movement() -> Iterator[Call]:
    image, largest = values(2, 3, 6, 7), "max_pool2d_with_indices.default"
    for more in ([2, 3],), ([3], [2], [1]), ([3, 2], [], [1, 0]), ([2], [1, 2], [0], [2, 1]):
        yield call(largest, image, *more)
    yield call(largest, image, [2, 2], [2, 2], [0, 0], [1, 1], True)
    yield call("cat.default", [image, image[:, :1].contiguous()], 1)
    yield call("cat.default", [image, image])


def layers() -> Iterator[Call]:
    """Biases in quanta of the operand times the weight's."""
    x = values(2, 3, 6)

    def bias(count: int) -> Data:
        return Data(torch.randint(-300, 300, (count,), dtype=torch.int32), OPERAND[0] * 0.01)

    for given in (), (None,), (bias(5),):
        yield call("linear.default", x, weight(5, 6), *given)

    def conv(x: Tensor, w: Data, groups: int = 1, b: Data | None = None, **more: list[int]) -> Call:
        least = {"stride": [1], "pad": [0], "gap": [1]}
        lists = [more.get(name, each) for name, each in least.items()]
        return call("convolution.default", x, w, b, *lists, False, [0], groups)

    image, line = values(2, 4, 6, 7), values(2, 4, 9)
    yield conv(image, weight(5, 4, 3, 2))
    yield conv(image, weight(5, 4, 3, 2), b=bias(5), stride=[2, 1], pad=[1, 0], gap=[1, 2])
    yield conv(image, weight(6, 2, 2, 3), 2, bias(6), stride=[2])
    yield conv(image, weight(4, 1, 3, 2), 4, bias(4), pad=[1])
    yield conv(line, weight(5, 4, 3), b=bias(5), stride=[2], pad=[1], gap=[2])
    yield conv(line, weight(4, 1, 3), 4, bias(4), pad=[1])
    yield conv(line, weight(6, 2, 3), 2)
    yield conv(values(2, 1, 9), weight(3, 1, 3))


COARSE: Numbers = (0.2, -11, -128, 127, torch.int8)
# Operands, results; a norm's and a softmax's factors are of float32.
CASES = [
    (calls, OPERAND, (0.04, -9, -128, 127, torch.int8)),
    (calls, BYTES, (0.04, 99, 0, 255, torch.uint8)),
    (calls, WIDE, (2.0**-10, -7, -32768, 32767, torch.int16)),
    (data_movement, OPERAND, OPERAND),
    (data_movement, WIDE, WIDE),
    (layers, OPERAND, COARSE),
]


@pytest.mark.req("NPU-047")
@pytest.mark.parametrize(("family", "operand", "result"), CASES)
def test_quantized_calls_round_once(family: object, operand: Numbers, result: Numbers) -> None:
    torch.manual_seed(0)
    errors = []
    for each in family():
        program = program_of(each, operand, result)
        for one in TablePass(table.TABLE, program), TablePass(table.QUANTIZE_TABLE):
            program = _transform(program, one)
        left = [
            op_name(n) for n in program.graph.nodes if op_name(n).startswith("quantized_decomp")
        ]
        (found,) = program.module()(*tensors_of(each))
        errors.append((str(each), left, quanta_off(each, found, operand, result)))
    assert [each for each in errors if each[1] or each[2] > 0.51] == []


def test_weights_beside_floats() -> None:
    """The bias as 8 bits of its own scale, at least 2^-12."""
    torch.manual_seed(0)
    for bias in (values(5), torch.full((5,), 1e-3), torch.zeros(5)):
        each = call("linear.default", values(2, 1, 8), weight(5, 8), Data(bias))
        program = program_of(each)
        program = _transform(program, TablePass(table.TABLE, program))
        assert [op_name(n) for n in program.graph.nodes if n.op == "call_function"] == [
            "cadence.quantized_w8a32_linear.default"
        ]
        (found,) = program.module()(*tensors_of(each))
        unit = max(bias.abs().max().item() / 127, 2**-12)
        wanted = F.linear(each.args[0], each.args[1].tensor * 0.01, (bias / unit).round() * unit)
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def test_what_operators_refuse() -> None:
    own, x = torch.ops.cadence, torch.ones(2, 4)
    whole, none = x.to(torch.uint8), torch.zeros(2, dtype=torch.int64)
    for reason, operator, given in (
        ("pruned weights", own.quantized_embedding_byte, (whole, x[:, 0], None, none, True)),
        ("compute_uv is expected", own.linalg_svd, (x, False, False)),
        ("the last dimension is expected, found 0", own.quantized_softmax.per_tensor,
         (whole, none, 0, 0, none, 0.1, 0, 0.1, 0)),
        ("a condition of bool is expected", own.where_Scalar, (x, 1.0, 2.0)),
    ):  # fmt: skip
        with pytest.raises((ValueError, NotImplementedError), match=reason):
            operator(*given)
