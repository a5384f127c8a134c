# SPDX-License-Identifier: BSD-3-Clause
"""The small parts of serialization that tools import: JSON of dataclasses, flatc, headers, padding."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from executorch.exir import to_edge
from executorch.exir._serialize._cord import Cord
from executorch.exir._serialize._dataclass import _DataclassEncoder, _json_to_dataclass
from executorch.exir._serialize._flatbuffer import (
    _flatc_compile,
    _flatc_decompile,
    _is_valid_alignment,
    _prepare_schema,
    _program_flatbuffer_to_json,
    _program_json_to_flatbuffer,
)
from executorch.exir._serialize._flatbuffer_program import (
    _flatbuffer_to_program,
    _program_to_flatbuffer,
)
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize._program import (
    PTEFile,
    _ExtendedHeader,
    _get_extended_header,
    _insert_flatbuffer_header,
    serialize_pte_binary,
)
from executorch.exir._serialize.padding import aligned_size, pad_to, padding_required
from executorch.exir.schema import (
    BackendDelegateInlineData,
    Buffer,
    Double,
    EValue,
    Int,
    Null,
    Program,
)
from executorch.exir.tensor_layout import TensorLayout


@pytest.fixture(scope="module")
def program() -> Program:
    class Scale(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.arange(4.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.w

    manager = to_edge(torch.export.export(Scale(), (torch.ones(4),)))
    return manager.to_executorch().executorch_program


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (EValue(Int(3)), {"val": {"int_val": 3}, "val_type": "Int"}),
        (EValue(Null()), {"val": {}, "val_type": "Null"}),
        (EValue(Double(float("-inf"))), {"val": {"double_val": "-inf"}, "val_type": "Double"}),
        (Buffer(b"\x01\x02"), {"storage": [1, 2]}),
    ],
)
def test_dataclasses_to_json_and_back(value: object, text: dict) -> None:
    assert json.loads(json.dumps(value, cls=_DataclassEncoder)) == text
    assert _json_to_dataclass(text, type(value)) == value


def test_a_program_to_json_and_back(program: Program) -> None:
    text = json.dumps(program, cls=_DataclassEncoder)
    again = _json_to_dataclass(json.loads(text), Program)
    assert json.dumps(again, cls=_DataclassEncoder) == text
    with pytest.raises(TypeError, match="Received no value for field: int_val"):
        _json_to_dataclass({}, Int)
    with pytest.raises(KeyError, match="val_type"):
        _json_to_dataclass({"val": {"int_val": 3}}, EValue)


def test_flatc_reads_what_the_codec_writes_and_back(program: Program, tmp_path: Path) -> None:
    flatbuffer = _program_to_flatbuffer(program)
    assert flatbuffer.max_alignment == 16
    info = _prepare_schema(str(tmp_path))
    assert info.file_identifier == b"ET12" and info.tensor_alignment == 16
    (tmp_path / "p.bin").write_bytes(flatbuffer.data)
    _flatc_decompile(str(tmp_path), info.root_path, str(tmp_path / "p.bin"), ["--raw-binary"])
    by_flatc = json.loads((tmp_path / "p.json").read_text())
    ours = json.loads(_program_flatbuffer_to_json(flatbuffer.data))
    assert by_flatc["execution_plan"][0]["name"] == ours["execution_plan"][0]["name"] == "forward"
    again = _program_json_to_flatbuffer(json.dumps(ours))
    assert _flatbuffer_to_program(again.data) == _flatbuffer_to_program(flatbuffer.data)
    (tmp_path / "q.json").write_bytes(_program_flatbuffer_to_json(flatbuffer.data))
    _flatc_compile(str(tmp_path), info.root_path, str(tmp_path / "q.json"))
    compiled = (tmp_path / "q.pte").read_bytes()
    assert _flatbuffer_to_program(compiled) == _flatbuffer_to_program(flatbuffer.data)
    with pytest.raises(subprocess.CalledProcessError):
        _flatc_compile(str(tmp_path), info.root_path, str(tmp_path / "none.json"))


def test_alignments_are_powers_of_two(program: Program, tmp_path: Path) -> None:
    assert [_is_valid_alignment(n) for n in (0, 1, 2, 3, 16, -2)] == [0, 1, 1, 0, 1, 0]
    info = _prepare_schema(str(tmp_path), 32, 64)
    assert (info.tensor_alignment, info.delegate_alignment, info.max_alignment) == (32, 64, 64)
    text = Path(info.root_path).read_text()
    assert "force_align: 32" in text and "force_align: 64" in text
    with pytest.raises(ValueError, match="Bad constant_tensor_alignment 3"):
        serialize_pte_binary(PTEFile(program), constant_tensor_alignment=3)
    with pytest.raises(ValueError, match="Bad delegate_alignment 5"):
        _program_to_flatbuffer(program, delegate_alignment=5)


@pytest.mark.parametrize("order", [("small", "large"), ("large", "small")])
def test_named_data_lie_on_the_alignments_of_all_their_keys(
    program: Program, order: tuple[str, str]
) -> None:
    """Whichever comes last."""
    alignments = {"small": 8, "large": 96}
    store = NamedDataStore()
    store.add_named_data("before", b"before")
    for key in order:
        store.add_named_data(key, b"the same", alignment=alignments[key])
    named = store.get_named_data_store_output()
    data = bytes(serialize_pte_binary(PTEFile(program, None, named), segment_alignment=16))
    assert data.index(b"the same") % 96 == 0


def test_blobs_that_no_delegate_has_cannot_become_segments(program: Program) -> None:
    lost = replace(program, backend_delegate_data=[BackendDelegateInlineData(b"lost")])
    with pytest.raises(ValueError, match=r"backend_delegate_data \[0\]: no delegate"):
        serialize_pte_binary(PTEFile(lost), extract_delegate_segments=True)
    serialize_pte_binary(PTEFile(lost))


def test_named_tensors_are_as_their_layout_says() -> None:
    store = NamedDataStore()
    image = torch.ones(2, 3, 4, 5)
    with pytest.raises(ValueError, match="Tensor is not contiguous"):
        store.add_named_data("turned", image.transpose(1, 2))
    with pytest.raises(ValueError, match="does not match"):
        last = image.to(memory_format=torch.channels_last)
        store.add_named_data("last", last, tensor_layout=TensorLayout.from_tensor(image))
    assert not store.get_named_data_store_output().pte_data
    store.add_named_data("last", last, tensor_layout=TensorLayout.from_tensor(last))
    assert store.pte_data["last"].tensor_layout.dim_order == [0, 2, 3, 1]


def test_headers(program: Program) -> None:
    data = bytes(serialize_pte_binary(PTEFile(program)))
    header = _get_extended_header(data)
    assert header.is_valid() and header.segment_base_offset + header.segment_data_size == len(data)
    assert _ExtendedHeader.from_bytes(header.to_bytes()) == header
    assert _get_extended_header(b"abc") is None and _get_extended_header(bytes(64)) is None
    with pytest.raises(ValueError, match="Not enough data for extended header"):
        _ExtendedHeader.from_bytes(b"123")
    flatbuffer = _program_to_flatbuffer(program).data
    longer = _insert_flatbuffer_header(flatbuffer, r"ET..", header.to_bytes())
    assert longer[8:40] == header.to_bytes() and longer[40:] == flatbuffer[8:]
    assert _flatbuffer_to_program(_insert_flatbuffer_header(flatbuffer, "ET", bytes(16)))
    with pytest.raises(ValueError, match="does not match pattern"):
        _insert_flatbuffer_header(flatbuffer, r"ZZ", b"")
    with pytest.raises(ValueError, match="length 0 < 8"):
        _insert_flatbuffer_header(b"", r"ET", b"")


def test_padding() -> None:
    assert (padding_required(5, 4), padding_required(8, 4), aligned_size(5, 4)) == (3, 0, 8)
    assert pad_to(b"abc", 5) == b"abc\0\0"
    with pytest.raises(ValueError, match="Data length 3 > padded length 2"):
        pad_to(b"abc", 2)


def test_a_cord_takes_bytes_and_cords() -> None:
    cord = Cord(b"ab")
    cord.append(Cord(b"c"))
    assert (cord._buffers, cord._byte_size, bytes(cord)) == ([b"ab", b"c"], 3, b"abc")
    with pytest.raises(TypeError, match="Can only append bytes or Cords"):
        cord.append(3)


def test_one_key_names_one_content() -> None:
    store = NamedDataStore()
    store.add_named_data("a", b"12", alignment=4)
    store.add_named_data("a", b"12", alignment=8)  # known: nothing changes
    store.add_named_data("b", b"12", alignment=16)  # the same bytes are kept once
    store.add_named_data("b", b"12", external_tag="t")  # known in the program
    store.add_named_data("c", b"12", alignment=None, external_tag="t")
    assert store.buffers == [b"12"] and store.key_to_buffer_idx == {"a": 0, "b": 0, "c": 0}
    assert {key: entry.alignment for key, entry in store.pte_data.items()} == {"a": 4, "b": 16}
    assert list(store.external_data["t"]) == ["c"]
    with pytest.raises(ValueError, match="Duplicate key a with different data"):
        store.add_named_data("a", b"34")
    with pytest.raises(ValueError, match="Alignment must be greater than 0"):
        store.add_named_data("d", b"1", alignment=0)
    other = NamedDataStore()
    other.add_named_data("a", b"99")
    with pytest.raises(ValueError, match="Duplicate key a"):
        other.merge_named_data_store(store.get_named_data_store_output())
