# SPDX-License-Identifier: BSD-3-Clause
"""Payloads beside those of ExecuTorch 1.4.1's wheel: each reads what the other wrote, and a directory is written again
to the same bytes or to the same files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.executorchcoreml import (
    flatten_directory_contents,
    read_files,
    unflatten_directory_contents,
)
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.test.interop import peer

pytestmark = pytest.mark.full
_BOTH = """
import pathlib, sys
from executorch.backends.apple.coreml import executorchcoreml as peer
ours, folder, theirs = sys.argv[1:]
pathlib.Path(folder).mkdir()
assert peer.unflatten_directory_contents(pathlib.Path(ours).read_bytes(), folder)
(root,) = pathlib.Path(folder).iterdir()
pathlib.Path(theirs).write_bytes(peer.flatten_directory_contents(str(root)))
"""


def _through_the_peer(blob: bytes, place: Path) -> tuple[Path, bytes]:
    """The directory that upstream's wheel makes of it, and the blob that it makes of that."""
    ours, folder, theirs = place / "ours", place / "folder", place / "theirs"
    ours.write_bytes(blob)
    peer.run("-c", _BOTH, ours, folder, theirs, cwd=place)
    return next(folder.iterdir()), theirs.read_bytes()


def _files(root: Path) -> dict[str, bytes]:
    return {
        each.relative_to(root).as_posix(): each.read_bytes()
        for each in root.rglob("*")
        if each.is_file()
    }


def _payload() -> bytes:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten())
    program = torch.export.export(model.eval(), (torch.randn(1, 3, 8, 8),))
    edge = to_edge_transform_and_lower(program, partitioner=[CoreMLPartitioner()])
    module = edge.exported_program().graph_module
    (delegate,) = get_lowered_backend_modules(module)
    return bytes(delegate.processed_bytes)


def _check_both_ways(blob: bytes, place: Path) -> None:
    root, theirs = _through_the_peer(blob, place)
    files = {name: bytes(data) for name, data in read_files(blob).items()}
    assert files and _files(root) == files
    assert {name: bytes(data) for name, data in read_files(theirs).items()} == files
    back = place / "back"
    back.mkdir()
    assert unflatten_directory_contents(theirs, str(back))
    assert _files(next(back.iterdir())) == files
    assert flatten_directory_contents(str(next(back.iterdir()))) == blob


def test_payloads_go_both_ways(tmp_path: Path) -> None:
    _check_both_ways(_payload(), tmp_path)


def test_directories_of_many_files_go_both_ways(tmp_path: Path) -> None:
    root = tmp_path / "lowered_module"
    for place in range(20):
        file = root / f"level{place % 3}" / "more" / f"file {place}.bin"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes([place]) * (1 + 1000 * place))
    _check_both_ways(flatten_directory_contents(str(root)), tmp_path)
