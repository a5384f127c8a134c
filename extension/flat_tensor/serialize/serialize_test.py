# SPDX-License-Identifier: BSD-3-Clause
"""Data files: header, table of contents, sharing, alignment, corrupted files."""

import random
import struct

import pytest
import torch

from executorch.exir._native import FormatError
from executorch.exir._serialize._cord import Cord
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize.data_serializer import DataEntry, DataPayload
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor_layout import TensorLayout
from executorch.extension.flat_tensor.serialize.serialize import (
    FlatTensorConfig,
    FlatTensorHeader,
    FlatTensorSerializer,
)

LAYOUT = TensorLayout(ScalarType.FLOAT, [3, 4], [1, 0])
PAYLOAD = DataPayload(
    buffers=[b"t" * 48, b"opaque blob", b""],
    named_data={
        "lin.weight": DataEntry(0, 1, LAYOUT),
        "blob": DataEntry(1, 32, None),
        "same blob": DataEntry(1, 1, None),
        "empty": DataEntry(2, 1, TensorLayout(ScalarType.BYTE, [0], [0])),
    },
)


def to_bytes(payload: DataPayload = PAYLOAD, **config: int) -> bytes:
    return bytes(FlatTensorSerializer(FlatTensorConfig(**config)).serialize(payload))


def header_of(file: bytes) -> FlatTensorHeader:
    return FlatTensorHeader.from_bytes(file[8:48])


@pytest.mark.req("RT-006")
def test_header() -> None:
    file = to_bytes()
    assert file[4:8] == b"FT01"
    magic, length, offset, size, base, data_size = struct.unpack_from("<4sIQQQQ", file, 8)
    assert (magic, length, offset) == (b"FH01", 40, 48)
    assert base == -(-(offset + size) // 128) * 128
    assert len(file) == base + data_size
    assert not any(file[48:56])  # padding of the header
    assert not any(file[offset + size : base])
    (root,) = struct.unpack_from("<I", file)
    assert 56 <= root < offset + size
    header = header_of(file)
    assert header.is_valid()
    assert header.to_bytes() == file[8:48]
    assert (header.segment_base_offset, header.segment_data_size) == (base, data_size)


@pytest.mark.req("RT-006")
def test_header_refuses_other_magic_and_length() -> None:
    assert not FlatTensorHeader(0, 0, 0, 0, magic=b"FH02").is_valid()
    assert not FlatTensorHeader(0, 0, 0, 0, length=39).is_valid()
    with pytest.raises(ValueError, match="bad header"):
        FlatTensorHeader(0, 0, 0, 0, magic=b"eh00").to_bytes()
    with pytest.raises(ValueError, match="40 bytes, found 39"):
        FlatTensorHeader.from_bytes(bytes(39))


@pytest.mark.req("RT-007")
def test_round_trip_and_shared_segments() -> None:
    back = FlatTensorSerializer().deserialize(Cord(to_bytes()))
    assert list(back.buffers) == list(PAYLOAD.buffers)
    for key, entry in PAYLOAD.named_data.items():
        assert back.named_data[key].buffer_index == entry.buffer_index
        assert back.named_data[key].tensor_layout == entry.tensor_layout
    output = FlatTensorSerializer().deserialize_to_named_data_store_output(to_bytes(), "model")
    assert output.pte_data == {}
    assert list(output.external_data["model"]) == list(PAYLOAD.named_data)


@pytest.mark.req("RT-007")
@pytest.mark.parametrize("segment_alignment", [16, 128, 4096])
def test_segment_alignment(segment_alignment: int) -> None:
    file = to_bytes(segment_alignment=segment_alignment)
    base = header_of(file).segment_base_offset
    assert base % segment_alignment == 0
    for marker, alignment in ((b"t" * 48, 1), (b"opaque blob", 32)):
        assert file.index(marker) % segment_alignment == 0
        assert file.index(marker) % alignment == 0


@pytest.mark.req("RT-007")
@pytest.mark.parametrize("order", [("small", "large"), ("large", "small")])
def test_one_buffer_lies_on_the_alignments_of_all_its_keys(order: tuple[str, str]) -> None:
    """Whichever comes last."""
    entries = {"small": DataEntry(1, 8, None), "large": DataEntry(1, 96, None)}
    payload = DataPayload([b"first", b"second"], {key: entries[key] for key in order})
    file = to_bytes(payload, segment_alignment=16)
    assert file.index(b"second") % 96 == 0


@pytest.mark.req("RT-007")
@pytest.mark.parametrize("alignment", [0, None])
def test_without_an_alignment_that_of_the_file_counts(alignment: int | None) -> None:
    payload = DataPayload([b"first", b"second"], {"key": DataEntry(1, alignment, None)})
    file = to_bytes(payload, segment_alignment=1024)
    header = header_of(file)
    assert file.index(b"second") == header.segment_base_offset + 1024
    assert len(file) == file.index(b"second") + len(b"second")  # nothing behind the last segment


def test_output_is_deterministic() -> None:
    assert to_bytes() == to_bytes()


@pytest.mark.req("RT-007")
def test_store_shares_equal_bytes_and_refuses_clashes() -> None:
    store = NamedDataStore()
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    store.add_named_data("a", tensor, alignment=16, external_tag="model")
    store.add_named_data("b", tensor.clone(), external_tag="model")
    store.add_named_data("a", tensor.clone(), alignment=24, external_tag="model")
    store.add_named_data("c", bytes(24), external_tag="other")
    store.add_named_data("d", bytes(24))
    output = store.get_named_data_store_output()
    assert [bytes(buffer) for buffer in output.buffers] == [tensor.numpy().tobytes(), bytes(24)]
    assert output.external_data["model"]["a"].alignment == 16
    assert output.external_data["model"]["b"].tensor_layout == TensorLayout.from_tensor(tensor)
    assert output.pte_data["d"].buffer_index == output.external_data["other"]["c"].buffer_index
    with pytest.raises(Exception, match="Duplicate key a with different data"):
        store.add_named_data("a", tensor + 1)
    merged = NamedDataStore()
    merged.merge_named_data_store(output)
    again = merged.get_named_data_store_output()
    assert len(again.buffers) == 2
    for old, new in (
        (output.pte_data, again.pte_data),
        *((entries, again.external_data[tag]) for tag, entries in output.external_data.items()),
    ):
        assert list(old) == list(new)
        for key, entry in old.items():
            assert again.buffers[new[key].buffer_index] == output.buffers[entry.buffer_index]
            assert (new[key].alignment, new[key].tensor_layout) == (
                entry.alignment,
                entry.tensor_layout,
            )


def test_channels_last_tensor_is_stored_as_it_lies() -> None:
    tensor = torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    store = NamedDataStore()
    store.add_named_data("t", tensor, external_tag="model")
    output = store.get_named_data_store_output()
    assert bytes(output.buffers[0]) == tensor.permute(0, 2, 3, 1).contiguous().numpy().tobytes()
    assert output.external_data["model"]["t"].tensor_layout.dim_order == [0, 2, 3, 1]


def _is_readable(file: bytes) -> bool:
    try:
        FlatTensorSerializer().deserialize(Cord(file))
    except FormatError:
        return False
    return True


def test_truncation_at_every_byte_is_refused() -> None:
    file = to_bytes()
    assert _is_readable(file)
    for size in range(len(file)):
        assert not _is_readable(file[:size]), size


def test_corrupted_files_are_refused_or_read() -> None:
    rng = random.Random(1)
    file = to_bytes()
    head = header_of(file).segment_base_offset
    outcomes = []
    for _ in range(3000):
        mutant = bytearray(file)
        place = rng.randrange(head)
        if rng.random() < 0.5:
            mutant[place] ^= 1 << rng.randrange(8)
        else:
            word = rng.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
            struct.pack_into("<I", mutant, min(place, head - 4), word)
        outcomes.append(_is_readable(bytes(mutant)))
    assert 0 < sum(outcomes) < len(outcomes)


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        (TensorLayout(ScalarType.FLOAT, [-1], [0]), "bad layout"),
        (TensorLayout(ScalarType.FLOAT, [2, 2], [0, 0]), "bad layout"),
        (TensorLayout(ScalarType.FLOAT, [2, 2], [0]), "bad layout"),
        (TensorLayout(ScalarType.FLOAT, [2**31 - 1] * 8, list(range(8))), "in a segment of 48"),
        (TensorLayout(ScalarType.FLOAT, [13], [0]), "a tensor of 52 bytes in a segment of 48"),
    ],
)
def test_layouts_that_do_not_fit_are_refused(layout: TensorLayout, reason: str) -> None:
    file = to_bytes(DataPayload([b"t" * 48], {"t": DataEntry(0, 1, layout)}))
    with pytest.raises(FormatError, match=reason):
        FlatTensorSerializer().deserialize(Cord(file))


@pytest.mark.parametrize(
    ("named", "reason"),
    [({"x": DataEntry(1, 1, None)}, "list index|segment 1")],
)
def test_entry_without_buffer_is_an_error(named: dict[str, DataEntry], reason: str) -> None:
    with pytest.raises((IndexError, ValueError), match=reason):
        to_bytes(DataPayload([b"x"], named))
