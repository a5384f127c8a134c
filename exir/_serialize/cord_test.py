# SPDX-License-Identifier: BSD-3-Clause
"""Cords and files: pieces are written without a copy, and a file is complete or not there."""

import copy
import io
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from executorch.exir._native import Blob
from executorch.exir._serialize._cord import Cord, write_atomically
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.error import ExportError


def test_cord_joins_pieces_in_order() -> None:
    tensor = torch.tensor([1, 2, 3], dtype=torch.uint8)
    inner = Cord(b"in").append(memoryview(b"ner"))
    cord = Cord(b"a").append(inner).append(Blob(tensor.numpy())).pad_to(12)
    assert bytes(cord) == b"ainner\x01\x02\x03\0\0\0"
    assert len(cord) == 12
    assert len(cord.pad_to(5)) == 12
    out = io.BytesIO()
    cord.write_to_file(out)
    assert out.getvalue() == bytes(cord)


def test_blob_is_a_view() -> None:
    tensor = torch.zeros(4, dtype=torch.uint8)
    blob = Blob(tensor.numpy())
    assert blob.address == tensor.data_ptr()
    assert not blob.any()
    tensor[2] = 7
    assert blob.any()
    assert bytes(blob) == b"\0\0\x07\0"
    assert blob == b"\0\0\x07\0"
    assert b"\0\0\x07\0" == blob
    assert blob != b"\0\0\x07"
    assert blob != 7
    assert memoryview(blob).readonly
    assert copy.deepcopy(blob) is blob
    assert pickle.loads(pickle.dumps(blob)) == blob
    del tensor
    assert bytes(blob) == b"\0\0\x07\0"  # keeps its owner alive


@pytest.mark.parametrize(
    ("data", "expected"), [(b"", False), (b"\0", False), (b"\1", True), (b"\0\0\1", True)]
)
def test_any(data: bytes, expected: bool) -> None:
    assert Blob(data).any() is expected


def test_strided_memory_is_no_blob() -> None:
    with pytest.raises(ValueError, match="expected contiguous bytes"):
        Blob(memoryview(b"abcdef")[::2])


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0),
        torch.arange(6.0).reshape(2, 3).t(),
        torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last),
        torch.arange(12.0).reshape(3, 4)[:, ::2],
        torch.arange(12.0).reshape(3, 4)[1:],
        torch.tensor(3, dtype=torch.bfloat16),
        torch.tensor([True, False]),
        torch.zeros(0, 3),
        torch.ones(3).expand(2, 3),
    ],
    ids=str,
)
def test_tensor_bytes_follow_the_dim_order(tensor: torch.Tensor) -> None:
    plain = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    assert bytes(tensor_bytes(tensor, tuple(range(tensor.dim())))) == plain
    order = tuple(reversed(range(tensor.dim())))
    turned = tensor.permute(order).contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    assert bytes(tensor_bytes(tensor, order)) == turned


def test_dense_tensors_are_not_copied() -> None:
    tensor = torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last)
    assert tensor_bytes(tensor).address == tensor.data_ptr()
    assert tensor_bytes(tensor, (0, 2, 3, 1)).address == tensor.data_ptr()


@pytest.mark.parametrize(
    "tensor", [torch.zeros(2, device="meta"), torch.eye(2).to_sparse()], ids=str
)
def test_tensors_without_plain_bytes_are_errors(tensor: torch.Tensor) -> None:
    with pytest.raises(ExportError, match="constant tensor"):
        tensor_bytes(tensor)


def test_file_is_complete_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    write_atomically(path, Cord(b"first"))
    assert path.read_bytes() == b"first"
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask

    class Broken(Cord):
        def write_to_file(self, outfile: io.BufferedIOBase) -> None:
            outfile.write(b"half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, Broken())
    assert path.read_bytes() == b"first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.pte"]
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "missing" / "model.pte", Cord(b"x"))


@pytest.mark.machine("resident memory")
@pytest.mark.req("RT-009")
def test_writing_a_file_holds_no_second_copy_of_the_weights(tmp_path: Path) -> None:
    script = f"""
        import re, torch
        from torch.export import export
        from executorch.exir import to_edge
        def peak():  # KiB; ru_maxrss would also know what the parent held before exec
            return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
        class Scale(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.randn(50, 1000, 1000))
            def forward(self, x):
                return x * self.w
        edge = to_edge(export(Scale(), (torch.randn(1),)))
        before = peak()
        program = edge.to_executorch()
        with open({str(tmp_path / "scale.pte")!r}, "wb") as file:
            program.write_to_file(file)
        print(peak() - before)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert (tmp_path / "scale.pte").stat().st_size > 200_000_000
    assert int(run.stdout) < 20_000  # KiB; the weights are 195,000
