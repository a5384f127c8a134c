# SPDX-License-Identifier: BSD-3-Clause
"""What `view` knows of small programs: modules, lines, backends, reasons, sizes, ranges, weights, times, changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.commands import main
from executorch.devtools.commands.view import changes
from executorch.devtools.commands.view.graph import Graph, GraphNode, described
from executorch.devtools.commands.view.weights import weight_of
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

ROWS, WIDTH = 2, 4
INPUTS = (torch.ones(ROWS, WIDTH),)
LINE = "return torch.relu(self.linear(x)).cumsum(1)"


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)).cumsum(1)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """m.pt2, m.pte for XNNPACK, p.pte for kernels alone, their records, and a run of m.pte."""
    folder = tmp_path_factory.mktemp("view")
    program = export(Model(), INPUTS)
    torch.export.save(program, folder / "m.pt2")
    for name, partitioner in (("m", [XnnpackPartitioner()]), ("p", None)):
        lowered = to_edge_transform_and_lower(
            program, partitioner=partitioner, generate_etrecord=True
        ).to_executorch()
        (folder / f"{name}.pte").write_bytes(lowered.buffer)
        lowered.get_etrecord().save(str(folder / f"{name}.etrecord"))
    loaded = Runtime.get().load_program((folder / "m.pte").read_bytes(), enable_etdump=True)
    loaded.load_method("forward").execute(INPUTS)
    loaded.write_etdump_result_to_file(folder / "m.etdp", None)
    return folder


def viewed(capsys: pytest.CaptureFixture[str], *arguments: Any) -> dict[str, Any]:
    assert main(["view", *map(str, arguments), "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def nodes(found: dict[str, Any], graph: int = 0) -> list[dict[str, Any]]:
    return found["graphs"][graph]["nodes"]


def by_operator(found: dict[str, Any], operator: str) -> list[dict[str, Any]]:
    return [node for node in nodes(found) if node["operator"].partition(".")[0] == operator]


def test_constant_methods_have_no_graph_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As those of language models: the record has the program of forward alone."""
    lowered = to_edge_transform_and_lower(
        export(Model(), INPUTS), constant_methods={"get_n_layers": 2}, generate_etrecord=True
    ).to_executorch()
    (tmp_path / "c.pte").write_bytes(lowered.buffer)
    lowered.get_etrecord().save(str(tmp_path / "c.etrecord"))
    found = viewed(capsys, tmp_path / "c.pte", "--etrecord", tmp_path / "c.etrecord")
    operators = {
        graph["method"]: sum(node["operator"].startswith("aten") for node in graph["nodes"])
        for graph in found["graphs"]
    }
    assert operators["get_n_layers"] == 0 < operators["forward"]


def test_a_program_with_its_record_and_a_run(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--etrecord", files / "m.etrecord", "--etdump", files / "m.etdp")
    found = viewed(capsys, files / "m.pte", *more)
    assert found["summary"][0] == "forward: 6 operators: 4 XnnpackBackend, 2 kernels"
    linears, relus, sums = (
        by_operator(found, f"aten::{name}") for name in ("linear", "relu", "cumsum")
    )
    assert [node["module"] for node in linears] == ["layers.0.linear", "layers.1.linear"]
    assert {node["backend"] for node in linears + relus} == {"XnnpackBackend"}
    assert {(node["backend"], node["module"]) for node in sums} == {
        ("kernels", "layers.0"),
        ("kernels", "layers.1"),
    }
    assert {node["why"] for node in sums} == {"the backend has no such operator"}
    assert {node["source"] for node in relus} == {LINE}
    assert all(node["line"].rpartition(":")[0].endswith("view_test.py") for node in relus)
    # A weight of 4 x 4 and a bias of 4 floats each; a result of 2 x 4.
    assert [node["num_bytes"] for node in linears] == [4 * (16 + 4)] * 2
    assert {tuple(node["outputs"]) for node in linears} == {("float32[2, 4]",)}
    assert all(node["ms"] > 0 for node in linears + sums)
    # Of the calls - delegate, cumsum, delegate, cumsum - each reads and writes 2 x 4 floats.
    assert found["graphs"][0]["memory"] == [2 * 4 * ROWS * WIDTH] * 4
    assert [node.get("call", 0) for node in sums] == [1, 3]


def test_edges_are_those_of_the_model(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = ["x", "linear", "relu", "cumsum", "linear", "relu", "cumsum", "output"]
    for file in ("m.pt2", "m.etrecord"):
        found = nodes(viewed(capsys, files / file))
        assert [node.get("inputs", []) for node in found] == [[], *([i] for i in range(7))], file
        names = [node["operator"].replace("aten::", "").split(".")[0] for node in found]
        assert names[1:] == chain[1:], file


def test_a_program_alone(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = viewed(capsys, files / "m.pte", "--etdump", files / "m.etdp")
    listed = nodes(found)
    assert [node["operator"] for node in listed] == [
        "input",
        *["delegate", "FullyConnected", "aten::cumsum.out"] * 2,
        "output",
    ]
    assert [node.get("inputs") for node in listed if node["operator"] != "FullyConnected"] == [
        None,
        [0],
        [1],
        [3],
        [4],
        [6],
    ]
    assert [node["num_bytes"] for node in listed if node["operator"] == "FullyConnected"] == [
        80,
        80,
    ]
    assert all(node["ms"] > 0 for node in listed if node["operator"] == "delegate")
    assert "--etrecord" in found["summary"][-1]


def test_a_view_without_a_call_is_what_it_views(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Flat(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(ROWS * WIDTH, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(torch.relu(x).flatten()).abs()

    program = to_edge_transform_and_lower(export(Flat(), INPUTS)).to_executorch()
    (tmp_path / "flat.pte").write_bytes(program.buffer)
    found = nodes(viewed(capsys, tmp_path / "flat.pte"))
    assert not any("view" in node["operator"] for node in found)
    assert found[1]["operator"] == "aten::relu.out" and found[-2]["operator"] == "aten::abs.out"
    for place, node in enumerate(found[1:]):
        assert node["inputs"] == [place], node


def test_weights_of_a_file_are_counted(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same by a file's bytes, a record's program and an exported program."""
    exported = torch.export.load(files / "m.pt2").state_dict["layers.1.linear.weight"].detach()
    low, high = float(exported.min()), float(exported.max())
    for file in ("m.pt2", "m.etrecord", "p.pte"):
        found = nodes(viewed(capsys, files / file))
        held = [each for node in found for each in node.get("weights", ())]
        ends = {(each["low"], each["high"]) for each in held if each["kind"] == "float32[4, 4]"}
        assert (low, high) in ends, file


def test_quantized_values_have_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Quantized(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            ops = torch.ops.quantized_decomposed
            about = (0.5, 3, -128, 127, torch.int8)
            return ops.dequantize_per_tensor(ops.quantize_per_tensor(x, *about), *about)

    torch.export.save(export(Quantized(), INPUTS), tmp_path / "q.pt2")
    found = viewed(capsys, tmp_path / "q.pt2")
    # (-128 - 3) * 0.5 and (127 - 3) * 0.5
    assert [node.get("limits") for node in nodes(found)[1:2]] == [[-65.5, 62.0]]


def test_two_files_say_what_differs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = ("--etrecord", files / "m.etrecord", "--etrecord", files / "p.etrecord")
    found = viewed(capsys, files / "m.pte", files / "p.pte", *records)
    assert [graph["file"] for graph in found["graphs"]] == ["m.pte", "p.pte"]
    relu = by_operator(found, "aten::relu")[0]
    assert relu["change"] == "backend: XnnpackBackend -> kernels"
    assert "change" not in by_operator(found, "aten::cumsum")[0]
    assert any("bytes (" in sentence for sentence in found["summary"])


def test_a_node_of_one_file_alone() -> None:
    both = GraphNode("a", "aten::add", "m", outputs=("float32[1]",))
    one = Graph("a.pte", "forward", [both, GraphNode("b", "aten::add", "m")])
    other = Graph("b.pte", "forward", [both])
    before, after = changes.mark_changes([one], [other], ["a.pte", "b.pte"])
    assert [node.change for node in before[0].nodes] == ["", "only in a.pte"]
    assert [node.change for node in after[0].nodes] == [""]


def test_layouts_have_names() -> None:
    rows = [
        ((0, 1, 2, 3), "int8[1, 3, 8, 9]"),
        ((0, 2, 3, 1), "int8[1, 3, 8, 9] channels last"),
        ((1, 0, 2, 3), "int8[1, 3, 8, 9] dim order (1, 0, 2, 3)"),
        (None, "int8[1, 3, 8, 9]"),
    ]
    for dim_order, text in rows:
        assert described("int8", (1, 3, 8, 9), dim_order) == text


def test_histograms() -> None:
    # 24 parts of 0..24: each holds one of 0..23, the last one 24, too.
    counted = weight_of("w", "float32[25]", 100, torch.arange(25.0))
    assert (counted.low, counted.high, counted.bins) == (0.0, 24.0, (50,) * 23 + (100,))
    same = weight_of("w", "int8[8]", 8, torch.full((8,), 3, dtype=torch.int8))
    assert (same.low, same.high, sum(same.bins)) == (3.0, 3.0, 100)
    for values in (None, torch.ones(3), torch.full((9,), float("nan"))):
        assert weight_of("w", "float32[3]", 12, values).bins == ()


@pytest.mark.parametrize("name", ["m.pte", "m.pt2", "m.etrecord", "m.etdp"])
def test_a_corrupted_file_gives_a_sentence(
    name: str, files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / name
    wrong.write_bytes((files / name).read_bytes()[:100])
    given = [files / "m.pte", "--etdump", wrong] if name == "m.etdp" else [wrong]
    assert main(["view", *map(str, given), "--html", str(tmp_path / "page.html")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("python -m executorch.devtools view: ") and error.count("\n") == 1
    assert name in error
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("is_found", [True, False])
def test_the_page_opens_in_the_browser(
    is_found: bool,
    files: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or is_found)
    assert main(["view", str(files / "m.pte")]) == 0
    (page,) = tmp_path.glob("executorch-view-*/m.html")
    assert opened == [page.as_uri()]
    assert page.read_text().startswith("<!doctype html>")
    printed = capsys.readouterr().out
    assert str(page) in printed and ("no browser was found" in printed) is not is_found


def test_options_that_do_not_fit(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        ([files / "m.pte"] * 3, "one file or two"),
        ([files / "m.pt2", "--etrecord", files / "m.etrecord"], "expected a .pte file"),
        ([files / "m.pte", *["--etdump", files / "m.etdp"] * 2], "one for each file"),
        ([files / "none.pte"], "none.pte"),
    ]
    for given, sentence in rows:
        assert main(["view", *map(str, given), "--json"]) == 2
        assert sentence in capsys.readouterr().err
