# SPDX-License-Identifier: BSD-3-Clause
"""Payloads beside those of ExecuTorch 1.4.1's wheel: each reads what the other wrote, and a directory is written again
to the same bytes or to the same files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.executorchcoreml import (  # noqa: E402
    flatten_directory_contents,
    read_files,
    unflatten_directory_contents,
)
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.exir import to_edge_transform_and_lower  # noqa: E402
from executorch.exir.lowered_backend_module import get_lowered_backend_modules  # noqa: E402
from executorch.test.interop import coreml_packages, peer  # noqa: E402

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


# ---- Models of the same programs ----


def _described(payload: bytes) -> dict[str, Any]:
    files = read_files(payload)
    spec = ct.proto.Model_pb2.Model()
    spec.ParseFromString(files["model.mlpackage/Data/com.apple.CoreML/model.mlmodel"])
    description, metadata = spec.description, json.loads(files["metadata.json"])
    (function,) = spec.mlProgram.functions.values()
    block = function.block_specializations[function.opset]
    kinds = Counter(each.type for each in block.operations if each.type != "const")
    user = set(description.metadata.userDefined) - {"com.github.apple.coremltools.conversion_date"}
    return {
        "version": spec.specificationVersion,
        "opset": function.opset,
        "functions": list(spec.mlProgram.functions),
        "inputs": [(each.name, str(each.type)) for each in description.input],
        "outputs": [(each.name, str(each.type)) for each in description.output],
        "states": [(each.name, str(each.type)) for each in description.state],
        "names": [metadata["inputNames"], metadata["outputNames"]],
        "keys": sorted(metadata),
        "made with": sorted(user),
        "files": sorted(name for name in files if not name.endswith("weight.bin")),
        "operations": dict(kinds),
    }


def test_models_are_upstreams(tmp_path: Path) -> None:
    """From the same program: all that a device asks of a model, and the operations of most."""
    for name, program in coreml_packages.programs().items():
        torch.export.save(program, tmp_path / f"{name}.pt2")
    peer.lower_each(coreml_packages.__file__, tmp_path)
    differ = {}
    for path in sorted(tmp_path.glob("*.pt2")):
        theirs = _described(path.with_suffix(".pte").read_bytes())
        ours = _described(coreml_packages.lower(path))
        differ |= {
            f"{path.stem}: {key}": (ours[key], theirs[key])
            for key in ours
            if ours[key] != theirs[key]
        }
    assert differ == {}
