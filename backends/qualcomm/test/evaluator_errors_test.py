# SPDX-License-Identifier: BSD-3-Clause
"""What the evaluator refuses: it names operator, parameter or tensor, what it expected and what it found."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from executorch.backends.qualcomm.aot.graph import (
    DataType,
    Encoding,
    EncodingType,
    Graph,
    flag,
    float32,
    int32,
    ints,
    uint32,
    uints,
)
from executorch.backends.qualcomm.test.one_operator import graph_of, per_tensor, static, tensor
from executorch.backends.qualcomm.test.reference.evaluator import evaluate
from executorch.backends.test.graph_run import InvalidGraph

X = torch.rand(2, 3)
F32 = tensor(X)
U8 = tensor(X, DataType.UFIXED_POINT_8, encoding=per_tensor(0.5, 0))
OTHER = replace(U8, encoding=per_tensor(0.25, 0))
FLAT = replace(F32, dims=(6,))
I32 = replace(F32, dtype=DataType.INT_32)
THREES = static(torch.full((2, 3), 3, dtype=torch.int32))
IMAGE = replace(F32, dims=(1, 4, 4, 3))
FILTERS = static(torch.rand(3, 3, 2, 4))
STRIDE, NO_PADS = uints([1, 1]), uints([0] * 4, 2, 2)
HALF = per_tensor(0.5, 0)
PER_AXIS = Encoding(EncodingType.AXIS_SCALE_OFFSET, (1.0,), (0,), axis=1)
BLOCKS = Encoding(EncodingType.BLOCKWISE_EXPANSION, (1.0,), (0,), axis=1)
THREE_BLOCKS = replace(BLOCKS, scales=(1.0,) * 3, offsets=(0,) * 3, bitwidth=4)

REFUSED = {
    "type": (graph_of("Swish", [F32], [F32]), "op (Swish): expected a known operator"),
    "parameter": (
        graph_of("Relu", [F32], [F32], {"alpha": float32(1)}),
        "op (Relu): expected no parameter, found alpha",
    ),
    "mandatory": (
        graph_of("ReduceMax", [F32], [F32]),
        "op (ReduceMax), parameter axes: expected a value",
    ),
    "dtype of a parameter": (
        graph_of("ReduceMax", [F32], [F32], {"axes": ints([1])}),
        "parameter axes: expected UINT_32, found INT_32",
    ),
    "scalar": (
        graph_of("ReduceMax", [F32], [F32], {"axes": uint32(1)}),
        "parameter axes: expected Array, found Scalar",
    ),
    "dims of a parameter": (
        graph_of("Transpose", [F32], [F32], {"perm": uints([0, 1, 2])}),
        "parameter perm: expected dims (2,), found (3,)",
    ),
    "enum": (
        graph_of("ElementWiseUnary", [F32], [F32], {"operation": uint32(16)}),
        "parameter operation: expected integers from 0 to 15, found 16",
    ),
    "sign of a parameter": (
        graph_of("Softmax", [F32], [F32], {"axis": uint32(-1)}),
        "parameter axis: expected integers from 0 to 4294967295, found -1",
    ),
    "number of inputs": (
        graph_of("ElementWiseAdd", [F32], [F32]),
        "expected 2 to 2 inputs, found 1",
    ),
    "number of outputs": (
        graph_of("UnPack", [F32], [replace(F32, dims=(3,))] * 3),
        "expected 2 outputs, found 3",
    ),
    "dims": (graph_of("Relu", [F32], [FLAT]), "output t1: expected dims (2, 3), found (6,)"),
    "dims of inputs": (
        graph_of("ElementWiseAdd", [F32, replace(F32, dims=(4, 3))], [F32]),
        "expected inputs that it takes",
    ),
    "channels": (
        graph_of("Conv2d", [IMAGE, FILTERS], [IMAGE], {"stride": STRIDE, "pad_amount": NO_PADS}),
        "op (Conv2d): expected inputs that it takes",
    ),
    "type of values": (
        graph_of("ElementWiseLess", [F32, F32], [F32]),
        "output t2: expected type bool, found FLOAT_32",
    ),
    "floats of two types": (
        graph_of("Relu", [F32], [replace(F32, dtype=DataType.FLOAT_16)]),
        "expected one type of floats, found ['FLOAT_16', 'FLOAT_32']",
    ),
    "integers of two types": (
        graph_of("ElementWiseNeg", [I32], [replace(I32, dtype=DataType.UINT_32)]),
        "expected t1 of INT_32, found UINT_32",
    ),
    "floats and quantized": (
        graph_of("ElementWiseAdd", [F32, U8], [U8]),
        "expected floats only or quantized tensors only, found ['t1', 't2'] quantized",
    ),
    "another encoding": (graph_of("Reshape", [U8], [OTHER]), "op (Reshape): expected t1 with"),
    "no encoding": (
        graph_of("Relu", [replace(U8, encoding=None)], [U8]),
        "tensor t0: expected an encoding of UFIXED_POINT_8, found None",
    ),
    "an encoding of floats": (
        graph_of("Relu", [replace(F32, encoding=per_tensor(1.0, 0))], [F32]),
        "tensor t0: expected no encoding of FLOAT_32",
    ),
    "scales": (
        graph_of("Relu", [replace(U8, encoding=PER_AXIS)], [U8]),
        "tensor t0: encoding: expected 3 scales, found 1",
    ),
    "blocks": (
        graph_of("Relu", [replace(U8, encoding=BLOCKS)], [U8]),
        "tensor t0: encoding: expected 3 scales, found 1",
    ),
    "sizes of blocks": (
        graph_of(
            "Relu", [replace(U8, encoding=replace(THREE_BLOCKS, block_scales=bytes(9)))], [U8]
        ),
        "tensor t0: encoding: expected blocks of one size in 2 values, found 9 scales",
    ),
    "scales of blocks": (
        graph_of(
            "Relu", [replace(U8, encoding=replace(THREE_BLOCKS, block_scales=b"\1\2\21"))], [U8]
        ),
        "tensor t0: scales of blocks: expected 1 to 16, found 17",
    ),
    "bits": (
        graph_of("Relu", [replace(U8, encoding=replace(HALF, bitwidth=4))], [U8]),
        "expected 2 to 7, or 0, found 4",
    ),
    "quantize": (graph_of("Quantize", [U8], [U8]), "t0 is float, found UFIXED_POINT_8"),
    "indices": (
        graph_of("Gather", [F32, THREES], [F32], {"axis": int32(1)}),
        "indices from 0 to 2, found 3 to 3",
    ),
    "both flags": (
        graph_of(
            "ResizeBilinear",
            [IMAGE],
            [IMAGE],
            {"align_corners": flag(True), "half_pixel_centers": flag(True)},
        ),
        "exclude each other",
    ),
    "range": (
        graph_of("StridedSlice", [F32], [F32], {"ranges": ints([0, 2, 1, 0, 4, 1], 2, 3)}),
        "range 0:4:1 along axis 1 of 3",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_graph_is_refused(name: str) -> None:
    graph, message = REFUSED[name]
    with pytest.raises(InvalidGraph) as refused:
        evaluate(graph, [_value(graph, place) for place in graph.inputs])
    assert message in str(refused.value)


def _value(graph: Graph, place: int) -> torch.Tensor:
    given = graph.tensors[place]
    is_float = given.dtype is DataType.FLOAT_32
    return torch.zeros(given.dims, dtype=torch.float32 if is_float else torch.int32)


def test_inputs_are_checked() -> None:
    graph = graph_of("Relu", [U8], [U8])
    for given, message in (
        ([], "graph forward: expected 1 inputs, found 0"),
        ([torch.zeros(3, 2, dtype=torch.uint8)], "tensor t0: expected values of (2, 3)"),
        ([X], "tensor t0: expected torch.uint8 for UFIXED_POINT_8, found torch.float32"),
        ([torch.full((2, 3), 256)], "tensor t0: expected 0 to 255, found 256 to 256"),
    ):
        with pytest.raises(InvalidGraph) as refused:
            evaluate(graph, given)
        assert message in str(refused.value)


def test_values_are_written_once_and_before_they_are_read() -> None:
    graph = graph_of("Relu", [F32], [F32])
    for changed, message in (
        (replace(graph, operators=graph.operators * 2), "op (Relu): expected t1 written once"),
        (replace(graph, operators=()), "output t1: expected an operator that writes it"),
        (
            replace(graph, operators=(replace(graph.operators[0], inputs=(1,)),)),
            "op (Relu): expected t1 written before it is read",
        ),
    ):
        with pytest.raises(InvalidGraph) as refused:
            evaluate(changed, [X])
        assert message in str(refused.value)
