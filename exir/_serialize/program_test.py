# SPDX-License-Identifier: BSD-3-Clause
"""Program files: headers, segments, alignments, round trips, corrupted files."""

import contextlib
import copy
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from executorch.exir import schema
from executorch.exir._native import FormatError, parse_program_header
from executorch.exir._serialize import (
    _deserialize_pte_binary,
    _PTEFile,
    _serialize_pte_binary,
)
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize._program import program_to_json, read_program
from executorch.exir.scalar_type import ScalarType

TENSOR = schema.Tensor(
    scalar_type=ScalarType.FLOAT,
    storage_offset=0,
    sizes=[2, 3],
    dim_order=[0, 1],
    requires_grad=False,
    layout=0,
    data_buffer_idx=0,
    allocation_info=schema.AllocationDetails(1, 0xFFFFFFF0, 3),
    shape_dynamism=schema.TensorShapeDynamism.DYNAMIC_BOUND,
    extra_tensor_info=schema.ExtraTensorInfo(
        fully_qualified_name="a.b", location=schema.TensorDataLocation.EXTERNAL
    ),
)
VALUES = [
    schema.Null(),
    schema.Int(-(2**63)),
    schema.Int(2**63 - 1),
    schema.Int(0),
    schema.Bool(True),
    schema.Bool(False),
    schema.Double(-0.0),
    schema.Double(float("inf")),
    schema.Double(0.1),
    schema.String("grüße"),
    schema.String(""),
    schema.IntList([1, 2]),
    schema.IntList([]),
    schema.DoubleList([0.5, -1e300]),
    schema.BoolList([True, False, True]),
    schema.TensorList([17, 18]),
    schema.OptionalTensorList([17, -1]),
    TENSOR,
    replace(TENSOR, scalar_type=ScalarType.COMPLEX64),
    replace(TENSOR, allocation_info=None, extra_tensor_info=None, sizes=[], dim_order=[]),
]
INSTRUCTIONS = [
    schema.KernelCall(0, [1, 2]),
    schema.DelegateCall(0, []),
    schema.MoveCall(3, 4),
    schema.JumpFalseCall(4, 4),
    schema.FreeCall(17),
]


def make_program(
    blobs: tuple[bytes, ...] = (), constants: tuple[bytes, ...] = ()
) -> schema.Program:
    delegates = [
        schema.BackendDelegate(
            id=f"backend{index}",
            processed=schema.BackendDelegateDataReference(schema.DataLocation.INLINE, index),
            compile_specs=[schema.CompileSpec("key", b"\x00value")],
        )
        for index in range(len(blobs))
    ]
    calls = [c for c in INSTRUCTIONS if blobs or not isinstance(c, schema.DelegateCall)]
    frame = schema.Frame("model.py", 12, "forward", "return x + 1")
    chain = schema.Chain(
        inputs=[],
        outputs=[],
        instructions=[schema.Instruction(call) for call in calls],
        stacktrace=[schema.FrameList([frame])] * len(calls),
    )
    plan = schema.ExecutionPlan(
        name="forward",
        container_meta_type=schema.ContainerMetadata("in", "out"),
        values=[schema.EValue(value) for value in VALUES],
        inputs=[17],
        outputs=[18],
        chains=[chain],
        operators=[schema.Operator("aten::add", "out"), schema.Operator("aten::copy_", "")],
        delegates=delegates,
        non_const_buffer_sizes=[0, 1 << 40],
        non_const_buffer_device=[schema.NonConstBufferDevice(1, schema.DeviceType.CUDA, 1)],
    )
    return schema.Program(
        version=0,
        execution_plan=[plan],
        constant_buffer=[schema.Buffer(b""), *map(schema.Buffer, constants)],
        backend_delegate_data=[schema.BackendDelegateInlineData(blob) for blob in blobs],
        segments=[],
        constant_segment=schema.SubsegmentOffsets(0, []),
    )


def segments_of(file: bytes) -> list[tuple[int, bytes]]:
    """(place in the file, bytes) of each segment."""
    header = parse_program_header(file)
    base = header.segment_base_offset
    return [
        (base + s.offset, file[base + s.offset : base + s.offset + s.size])
        for s in read_program(file).segments
    ]


@pytest.mark.req("RT-001")
def test_file_begins_with_root_offset_and_identifier() -> None:
    file = bytes(_serialize_pte_binary(_PTEFile(make_program())))
    assert file[4:8] == b"ET12"
    (root,) = struct.unpack_from("<I", file)
    assert 8 <= root <= len(file) - 4


@pytest.mark.req("RT-001")
@pytest.mark.parametrize("identifier", [b"ET11", b"ET99", b"FT01", b"\0\0\0\0"])
def test_other_identifiers_are_refused(identifier: bytes) -> None:
    file = bytes(_serialize_pte_binary(_PTEFile(make_program())))
    with pytest.raises(FormatError, match="expected file identifier ET12"):
        _deserialize_pte_binary(file[:4] + identifier + file[8:])


@pytest.mark.req("RT-002")
def test_extended_header_fields() -> None:
    file = bytes(_serialize_pte_binary(_PTEFile(make_program(constants=(b"c" * 70,)))))
    magic, length, program_size, base, data_size = struct.unpack_from("<4sIQQQ", file, 8)
    assert (magic, length) == (b"eh00", 32)
    assert base == -(-program_size // 128) * 128
    assert data_size == 70
    assert len(file) == base + data_size
    assert not any(file[program_size:base])
    (root,) = struct.unpack_from("<I", file)
    assert 40 <= root < program_size


@pytest.mark.req("RT-002")
def test_no_header_without_segment_data() -> None:
    file = bytes(_serialize_pte_binary(_PTEFile(make_program())))
    assert file[8:12] != b"eh00"
    assert parse_program_header(file) is None
    program = read_program(file)
    assert program.segments == [schema.DataSegment(0, 0)]
    assert program.constant_segment == schema.SubsegmentOffsets(0, [0])


@pytest.mark.req("RT-002")
def test_longer_header_of_a_later_version_is_read() -> None:
    """`length` may grow; the fields known today stay where they are."""
    file = bytearray(bytes(_serialize_pte_binary(_PTEFile(make_program(constants=(b"abc",))))))
    struct.pack_into("<I", file, 12, 48)
    assert _deserialize_pte_binary(bytes(file)).program.constant_buffer[1].storage == b"abc"


@pytest.mark.req("RT-002")
def test_header_of_the_first_version_has_no_data_size() -> None:
    file = bytearray(bytes(_serialize_pte_binary(_PTEFile(make_program(constants=(b"abc",))))))
    struct.pack_into("<I", file, 12, 24)
    assert parse_program_header(file).segment_data_size == 0
    assert _deserialize_pte_binary(bytes(file)).program.constant_buffer[1].storage == b"abc"


@pytest.mark.parametrize("field", ["length", "program_size", "base", "data_size"])
def test_header_outside_the_file_is_refused(field: str) -> None:
    file = bytearray(bytes(_serialize_pte_binary(_PTEFile(make_program(constants=(b"abc",))))))
    place, kind, values = {
        "length": (12, "<I", [0, 23]),
        "program_size": (16, "<Q", [len(file) + 1, 2**64 - 1]),
        "base": (24, "<Q", [len(file) + 1, 2**64 - 1, 2**64 - 4]),
        "data_size": (32, "<Q", [len(file), 2**64 - 1]),
    }[field]
    for value in values:
        struct.pack_into(kind, file, place, value)
        with pytest.raises(FormatError):
            _deserialize_pte_binary(bytes(file))


@pytest.mark.req("RT-003")
def test_round_trip_of_every_kind_of_value_and_instruction() -> None:
    file = _PTEFile(
        make_program(blobs=(b"blob", b""), constants=(b"a" * 16, b"b" * 3)),
        mutable_data=[schema.Buffer(b""), schema.Buffer(b"12345"), schema.Buffer(b"6")],
    )
    back = _deserialize_pte_binary(bytes(_serialize_pte_binary(file)))
    assert back.program == replace(file.program, named_data=[])
    assert back.mutable_data == file.mutable_data
    assert str(back.program.execution_plan[0].values[6].val.double_val) == "-0.0"


@pytest.mark.req("RT-003")
def test_segments_come_in_the_documented_order() -> None:
    store = NamedDataStore()
    store.add_named_data("x", b"named" * 5, alignment=64)
    store.add_named_data("y", b"named" * 5)
    store.add_named_data("z", b"other")
    file = _PTEFile(
        make_program(blobs=(b"one" * 100, b"two"), constants=(b"c" * 17, b"d" * 5)),
        mutable_data=[schema.Buffer(b""), schema.Buffer(b"m" * 3), schema.Buffer(b"n" * 4)],
        named_data=store.get_named_data_store_output(),
    )
    data = bytes(_serialize_pte_binary(file, extract_delegate_segments=True))
    program = read_program(data)
    found = segments_of(data)
    assert [blob for _, blob in found] == [
        b"c" * 17 + bytes(15) + b"d" * 5,
        b"mmmnnnn",
        b"one" * 100,
        b"two",
        b"named" * 5,
        b"other",
    ]
    assert all(place % 128 == 0 for place, _ in found)
    assert program.constant_segment == schema.SubsegmentOffsets(0, [0, 0, 32])
    assert program.mutable_data_segments == [schema.SubsegmentOffsets(1, [0, 0, 3])]
    where = [delegate.processed for delegate in program.execution_plan[0].delegates]
    segment = schema.DataLocation.SEGMENT
    assert [(w.location, w.index) for w in where] == [(segment, 2), (segment, 3)]
    assert program.named_data == [
        schema.NamedData("x", 4),
        schema.NamedData("y", 4),
        schema.NamedData("z", 5),
    ]
    back = _deserialize_pte_binary(data)
    assert [blob.data for blob in back.program.backend_delegate_data] == [b"one" * 100, b"two"]
    assert back.named_data.buffers == [b"named" * 5, b"other"]
    assert list(back.named_data.pte_data) == ["x", "y", "z"]


@pytest.mark.req("RT-003")
def test_delegate_blobs_shared_empty_and_inline() -> None:
    program = make_program(blobs=(b"", b"shared"))
    plan = program.execution_plan[0]
    plan.delegates.append(plan.delegates[1])
    read = read_program(
        bytes(_serialize_pte_binary(_PTEFile(program), extract_delegate_segments=True))
    )
    where = [
        (d.processed.location.name, d.processed.index) for d in read.execution_plan[0].delegates
    ]
    assert where == [("INLINE", 0), ("SEGMENT", 1), ("SEGMENT", 1)]
    assert read.backend_delegate_data == [schema.BackendDelegateInlineData(b"")]
    inline = read_program(bytes(_serialize_pte_binary(_PTEFile(program))))
    assert [blob.data for blob in inline.backend_delegate_data] == [b"", b"shared"]
    assert plan.delegates[1].processed.location == schema.DataLocation.INLINE  # left as it was


@pytest.mark.req("RT-009")
@pytest.mark.parametrize("alignment", [16, 64, 4096])
def test_constant_alignment_option(alignment: int) -> None:
    program = make_program(constants=(b"a" * 5, b"b" * 5, b"c" * 5))
    data = bytes(_serialize_pte_binary(_PTEFile(program), constant_tensor_alignment=alignment))
    base = parse_program_header(data).segment_base_offset
    for offset, letter in zip(read_program(data).constant_segment.offsets[1:], b"abc", strict=True):
        assert (base + offset) % alignment == 0
        assert data[base + offset : base + offset + 5] == bytes([letter]) * 5
    assert data[base + offset + 5 :] == b""


@pytest.mark.req("RT-003")
@pytest.mark.parametrize("alignment", [16, 128, 1024, 4096])
def test_segment_alignment_option(alignment: int) -> None:
    file = _PTEFile(make_program(blobs=(b"x" * 33, b"y" * 7), constants=(b"a" * 5,)))
    data = bytes(
        _serialize_pte_binary(file, extract_delegate_segments=True, segment_alignment=alignment)
    )
    assert all(place % alignment == 0 for place, _ in segments_of(data))


@pytest.mark.parametrize("alignment", [16, 64, 256])
def test_inline_delegate_alignment_option(alignment: int) -> None:
    marker = b"blob that can be found"
    file = _PTEFile(make_program(blobs=(marker,), constants=(b"c",)))
    data = bytes(_serialize_pte_binary(file, delegate_alignment=alignment))
    assert data.index(marker) % alignment == 0
    assert _deserialize_pte_binary(data).program == replace(file.program, named_data=[])


@pytest.mark.parametrize("option", ["segment_alignment", "constant_tensor_alignment"])
def test_bad_alignment_is_an_error(option: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        _serialize_pte_binary(_PTEFile(make_program(constants=(b"x",))), **{option: -1})


@pytest.mark.parametrize("alignment", [24, 1 << 21])
def test_delegate_alignment_is_a_power_of_two(alignment: int) -> None:
    with pytest.raises(ValueError, match=f"alignment {alignment}"):
        _serialize_pte_binary(_PTEFile(make_program(blobs=(b"x",))), delegate_alignment=alignment)


def test_output_is_deterministic_and_input_untouched() -> None:
    file = _PTEFile(make_program(blobs=(b"blob",), constants=(b"abc",)))
    before = repr(file)
    first = bytes(_serialize_pte_binary(file, extract_delegate_segments=True))
    assert bytes(_serialize_pte_binary(file, extract_delegate_segments=True)) == first
    assert repr(file) == before


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (schema.Int("7"), r"values\[0\]\.val\.int_val: expected an integer, found str"),
        (schema.Int(2**63), r"int_val: expected an integer in \[-9223372036854775808"),
        (schema.String(7), r"string_val: expected str, found int"),
        (schema.IntList(7), r"items: expected a list, found int"),
        (schema.BoolList([2]), r"items: expected an integer in \[0, 1\]"),
        (schema.Double("x"), r"double_val: expected a number"),
        (schema.FreeCall(0), r"values\[0\]\.val: expected a member of KernelTypes, found FreeCall"),
        (7, r"values\[0\]\.val: expected a member of KernelTypes, found int"),
        (
            replace(TENSOR, sizes=[2**31]),
            r"sizes: expected an integer in \[-2147483648, 2147483647\]",
        ),
        (
            replace(TENSOR, data_buffer_idx=-1),
            r"data_buffer_idx: expected an integer in \[0, 4294967295\]",
        ),
    ],
)
def test_wrong_attribute_is_named(value: object, message: str) -> None:
    program = make_program()
    program.execution_plan[0].values[0] = schema.EValue(value)
    with pytest.raises(TypeError, match=message):
        _serialize_pte_binary(_PTEFile(program))


def test_json_names_the_kind_of_unions() -> None:
    text = program_to_json(make_program())
    assert '"val_type": "Tensor"' in text
    assert '"instr_args_type": "JumpFalseCall"' in text
    assert '"scalar_type": "FLOAT"' in text


def _plan(program: schema.Program) -> schema.ExecutionPlan:
    return program.execution_plan[0]


@pytest.mark.parametrize(
    "corrupt",
    [
        lambda p: _plan(p).inputs.append(len(VALUES)),
        lambda p: _plan(p).outputs.append(-1),
        lambda p: setattr(_plan(p).values[17].val, "dim_order", [0, 0]),
        lambda p: setattr(_plan(p).values[17].val, "sizes", [2]),
        lambda p: setattr(_plan(p).values[17].val, "sizes", [2, -3]),
        lambda p: setattr(_plan(p).values[11].val, "items", [1, 99]),
        lambda p: setattr(_plan(p).values[15].val, "items", [1]),
        lambda p: setattr(_plan(p).chains[0].instructions[0].instr_args, "op_index", 2),
        lambda p: setattr(_plan(p).chains[0].instructions[0].instr_args, "args", [99]),
        lambda p: setattr(
            _plan(p).chains[0].instructions[2].instr_args, "destination_instruction", 9
        ),
        lambda p: setattr(_plan(p).values[17].val.allocation_info, "memory_id", 2),
        lambda p: setattr(_plan(p), "values", _plan(p).values + [schema.EValue(_wide_tensor())]),
    ],
)
def test_what_the_runtime_refuses_is_refused_here(
    corrupt: Callable[[schema.Program], None],
) -> None:
    program = copy.deepcopy(make_program())
    _deserialize_pte_binary(bytes(_serialize_pte_binary(_PTEFile(program))))
    corrupt(program)
    file = bytes(_serialize_pte_binary(_PTEFile(program)))
    with pytest.raises(FormatError):
        _deserialize_pte_binary(file, verify=True)
    # A tool that only reads it, or writes it again, gets what stands in it.
    again = _deserialize_pte_binary(file).program
    assert _plan(again).values == _plan(program).values
    assert _plan(again).chains == _plan(program).chains


def _wide_tensor() -> schema.Tensor:
    return replace(TENSOR, sizes=[1] * 17, dim_order=list(range(17)))


def _attempt(data: bytes) -> bool:
    """Reads corrupted bytes, with and without a look at what they mean; only a FormatError may come of it."""
    read = 0
    for verify in (False, True):
        with contextlib.suppress(FormatError):
            _deserialize_pte_binary(data, verify=verify)
            read += 1
    return read == 2


def _mutants(file: bytes, count: int) -> Iterator[bytes]:
    rng = random.Random(7)
    words = [0, 1, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC]
    for _ in range(count):
        mutant = bytearray(file)
        for _ in range(rng.choice([1, 1, 2, 8])):
            place = rng.randrange(len(file))
            if rng.random() < 0.5:
                mutant[place] ^= 1 << rng.randrange(8)
            else:
                place = place // 4 * 4
                mutant[place : place + 4] = struct.pack("<I", rng.choice(words))[
                    : len(file) - place
                ]
        yield bytes(mutant)


@pytest.fixture(scope="module")
def rich_file() -> bytes:
    store = NamedDataStore()
    store.add_named_data("key", b"named")
    file = _PTEFile(
        make_program(blobs=(b"blob",), constants=(b"a" * 20,)),
        mutable_data=[schema.Buffer(b""), schema.Buffer(b"12345")],
        named_data=store.get_named_data_store_output(),
    )
    return bytes(_serialize_pte_binary(file, extract_delegate_segments=True))


def test_truncation_at_every_byte_is_refused(rich_file: bytes) -> None:
    for size in range(len(rich_file)):
        assert not _attempt(rich_file[:size]), size


def test_corrupted_files_are_refused_or_read(rich_file: bytes) -> None:
    outcomes = [_attempt(mutant) for mutant in _mutants(rich_file, 4000)]
    assert 0 < sum(outcomes) < len(outcomes)


def _shared_buffers(count: int, size: int) -> bytes:
    """A legal flatbuffer whose list of constants holds one and the same buffer `count` times."""
    program_at, vector_at = 20, 28
    buffer_vtable_at = vector_at + 4 + 4 * count
    buffer_at = buffer_vtable_at + 8
    steps = [buffer_at - (vector_at + 4 + 4 * index) for index in range(count)]
    parts = [
        struct.pack("<I4s", program_at, b"ET12"),
        struct.pack("<HHHHHxx", 10, 8, 0, 0, 4),  # Program: constant_buffer at 4
        struct.pack("<iI", 12, vector_at - (program_at + 4)),
        struct.pack(f"<I{count}I", count, *steps),
        struct.pack("<HHHxx", 6, 8, 4),  # Buffer: storage at 4
        struct.pack("<iI", 8, 4),
        struct.pack("<I", size) + b"x" * size,
    ]
    return b"".join(parts)


def test_shared_parts_do_not_multiply_the_work() -> None:
    read = read_program(_shared_buffers(1, 8))
    assert read.constant_buffer == [schema.Buffer(b"x" * 8)]
    with pytest.raises(FormatError, match="more items than it has bytes"):
        read_program(_shared_buffers(10_000, 100_000))
