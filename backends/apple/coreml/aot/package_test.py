# SPDX-License-Identifier: BSD-3-Clause
"""What a payload says of a saved model: the calls that operations come from, names, and the identifier."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.aot import package  # noqa: E402
from executorch.backends.apple.coreml.compiler import CoreMLBackend  # noqa: E402

HANDLES = "executorch_debug_handle_mapping.json"  # as coremltools calls it


def step(operator: str | None = None, output: str | None = None) -> dict[str, str]:
    return {k: v for k, v in (("Operator", operator), ("Output", output)) if v is not None}


def test_symbols_of_operations() -> None:
    """Of the last of a path."""
    for path, symbol in (
        ([], None),
        ([{}], None),
        ([step("relu")], None),
        ([step(output="y")], None),
        ([step("relu", "y")], "y:relu"),
        ([step("main", "all"), step("add", "z")], "z:add"),
        ([step("relu", "y"), step("add")], None),
    ):
        assert package.debug_symbol(path) == symbol
        assert CoreMLBackend.get_debug_symbol(path) == symbol


def test_what_coremltools_wrote_of_calls(tmp_path: Path) -> None:
    """Handles of each operation with an output; what coremltools has no handle for is left out."""
    assert CoreMLBackend.get_model_debug_info(tmp_path) is None
    relu, add, nameless = (
        [step("relu", "y")],
        [step("main", "all"), step("add", "z")],
        [step("add")],
    )
    written = {"5": [relu], "6": [add, nameless], "7": [relu], "-1": [add], "none": [add], "8": []}
    (tmp_path / HANDLES).write_text(json.dumps({"version": 3, "mapping": written}))
    found = CoreMLBackend.get_model_debug_info(tmp_path)
    assert found == package.ModelDebugInfo(
        "3", {"y:relu": relu, "z:add": add}, {"y:relu": [5, 7], "z:add": [6]}
    )
    CoreMLBackend.save_model_debug_info(found, tmp_path)
    assert json.loads((tmp_path / "debug_info.json").read_text()) == {
        "versionInfo": "3",
        "debugSymbolToOperationPath": {"y:relu": relu, "z:add": add},
        "debugSymbolToHandles": {"y:relu": [5, 7], "z:add": [6]},
    }


def test_handles_that_a_payload_has(tmp_path: Path) -> None:
    root = tmp_path / package.ROOT
    root.mkdir()
    (root / "metadata.json").write_text("{}")
    flat = package.flatten_directory_contents
    assert package.result_of(flat(str(root))).debug_handle_map is None
    (root / "debug_info.json").write_text(json.dumps({"debugSymbolToHandles": {"y:relu": [5, 7]}}))
    found = package.result_of(flat(str(root)))
    assert found.debug_handle_map == {"y:relu": (5, 7)} and found.processed_bytes == flat(str(root))


def test_names_of_inputs_and_outputs() -> None:
    one, two, three = (SimpleNamespace(name=name) for name in "abc")
    described = SimpleNamespace(input=[two, one], output=[three])
    found: Any = CoreMLBackend.model_metadata_from_spec(
        SimpleNamespace(description=described), "id"
    )
    assert found == package.ModelMetadata(["b", "a"], ["c"], "id")


def saved(folder: Path, order: int) -> Path:
    """A package with what differs from run to run: names of items, orders, the date."""
    file = folder / "Data" / "com.apple.CoreML" / "model.mlmodel"
    file.parent.mkdir(parents=True)
    spec = ct.proto.Model_pb2.Model()
    for key in [f"key {i}" for i in range(64)][::order]:
        spec.description.metadata.userDefined[key] = "x"
    spec.description.metadata.userDefined["com.github.apple.coremltools.conversion_date"] = str(
        order
    )
    file.write_bytes(spec.SerializeToString())
    items = [(f"{order} {path}", {"path": path}) for path in ("weights", "model")][::order]
    written = {
        "itemInfoEntries": dict(items),
        "rootModelIdentifier": f"{order} model",
        "fileFormatVersion": "1",
    }
    (folder / "Manifest.json").write_text(json.dumps(dict(list(written.items())[::order])))
    return folder


def test_packages_of_one_model_have_equal_bytes(tmp_path: Path) -> None:
    one, other = (saved(tmp_path / str(order), order) for order in (1, -1))
    keys = [list(package.settled(each).description.metadata.userDefined) for each in (one, other)]
    assert sorted(keys[0]) == sorted(keys[1]) == sorted(f"key {i}" for i in range(64))
    for name in ("Manifest.json", package._MODEL):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    manifest = json.loads((one / "Manifest.json").read_text())
    assert manifest["itemInfoEntries"][manifest["rootModelIdentifier"]] == {"path": "model"}
    assert package.identifier_of(one) == package.identifier_of(other)


def test_identifiers_are_of_what_is_compiled(tmp_path: Path) -> None:
    """Bytes, names and sizes of files below Data, and nothing else."""
    data = tmp_path / "Data"
    (data / "weights").mkdir(parents=True)
    seen = set()
    for name, text in (
        ("model", "ab"),
        ("weights/one", "c"),
        ("weights/one", "d"),
        ("weights/two", ""),
    ):
        (data / name).write_text(text)
        seen.add(package.identifier_of(tmp_path))
    (tmp_path / "Manifest.json").write_text("other")
    seen.add(package.identifier_of(tmp_path))
    assert len(seen) == 4 and all(len(each) == len("executorch_") + 32 for each in seen)
