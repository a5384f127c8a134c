# SPDX-License-Identifier: BSD-3-Clause
"""Payloads made by hand: the classes that users import, header and constants."""

from __future__ import annotations

import pytest

from executorch.backends.xnnpack.serialization import xnnpack_graph_schema as schema
from executorch.backends.xnnpack.serialization.graph import deserialize
from executorch.backends.xnnpack.serialization.xnnpack_graph_serialize import (
    CONSTANT_TENSOR_ALIGNMENT,
    XNNHeader,
    serialize_xnnpack_binary,
)


def value(place: int, flags: int) -> schema.XValue:
    kind = schema.XNNDatatype.xnn_datatype_fp32
    return schema.XValue(schema.XNNTensorValue(kind, 1, [2], 0, place, flags, place))


def sum_of_two() -> schema.XNNGraph:
    add = schema.XNNAdd(input1_id=0, input2_id=1, output_id=2, flags=0)
    return schema.XNNGraph(
        version="0",
        xnodes=[schema.XNode(xnode_union=add, debug_handle=1)],
        xvalues=[value(0, 1), value(1, 1), value(2, 2)],
        num_externs=3,
        input_ids=[0, 1],
        output_ids=[2],
        constant_data=[schema.ConstantDataOffset(0, 0)],
    )


def test_a_graph_is_written_and_read() -> None:
    read = deserialize(serialize_xnnpack_binary(sum_of_two(), bytearray()))
    assert isinstance(read.xnodes[0].xnode_union, schema.XNNAdd)
    assert (read.xnodes[0].xnode_union.input2_id, read.output_ids) == (1, [2])
    assert isinstance(read.xnodes[0].xnode_union, schema.XNNNode2x1)


def test_constants_lie_behind_the_graph() -> None:
    payload = serialize_xnnpack_binary(sum_of_two(), bytearray(b"12345"))
    header = XNNHeader.from_bytes(payload[: XNNHeader.EXPECTED_LENGTH])
    assert payload[header.constant_data_offset :] == b"12345" and header.constant_data_size == 5
    assert header.constant_data_offset % CONSTANT_TENSOR_ALIGNMENT == 0
    assert header.to_bytes() == payload[:30]


def test_bytes_of_the_header() -> None:
    # 4 bytes, magic, its length (30), then offset and size of graph and constants; numbers of 2, 4, 4, 4 and 8 bytes
    expected = (
        "00000000" + "58483030" + "1e00" + "20000000" + "0a000000" + "30000000" + "05" + "00" * 7
    )
    assert XNNHeader(32, 10, 48, 5).to_bytes().hex() == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bytes(30), "invalid magic bytes"),
        (b"", "invalid magic bytes"),
        (b"\0\0\0\0XH00" + bytes(22), "Invalid parsed length: expected 30 bytes, found 0"),
        (b"\0\0\0\0XH00\x1e\0", "Invalid parsed length"),
    ],
)
def test_what_is_no_header_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"Invalid XNNHeader: {message}"):
        XNNHeader.from_bytes(data)


def test_a_header_without_a_graph_is_refused() -> None:
    assert not XNNHeader(32, 0, 48, 0).is_valid() and not XNNHeader(32, 40, 48, 0).is_valid()
    with pytest.raises(ValueError, match="failed is_valid"):
        XNNHeader(32, 0, 48, 0).to_bytes()
