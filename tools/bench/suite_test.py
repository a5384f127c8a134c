# SPDX-License-Identifier: BSD-3-Clause
"""The suite's rows can be made, a sample of them equals eager on our engines, and the page follows from the results."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from executorch.tools.bench.suite import (
    accuracy,
    files,
    heat,
    latency,
    memory,
    page,
    ratios,
    results,
    shapes,
    variants,
)
from executorch.tools.bench.suite.__main__ import command, measured
from executorch.tools.bench.suite.measure import Engine, save
from executorch.tools.bench.suite.network import Network
from executorch.tools.bench.suite.picture import svg
from executorch.tools.bench.suite.table import NETWORKS, chosen
from executorch.tools.measure import json_lines

TOLERANCE = 1e-4
OPTIONS = argparse.Namespace(
    precision="float", threads=1, rounds=2, clock="ms", priority=0, batch=1, seed=0
)


def sample() -> Network:
    layers = (nn.Conv2d(3, 8, 3), nn.LayerNorm(14), nn.GELU())
    return Network("sample", "test", lambda: (nn.Sequential(*layers), (torch.randn(1, 3, 16, 16),)))


def row_of(network: Network, folder: Path, options: argparse.Namespace = OPTIONS) -> results.Row:
    engines = [
        Engine(k, k, sys.executable, folder, 1) for k in (ratios.EAGER, ratios.PLAIN, ratios.OURS)
    ]
    row = measured(network, engines, options)
    for engine in engines:
        engine.close()
    return row


def row(name: str, **times: float) -> results.Row:
    answers = {engine: {"ms": ms} for engine, ms in times.items()}
    return {
        "name": name,
        "family": "test",
        "precision": "float",
        "threads": 2,
        "clock": "ms",
        "engines": answers,
    }


def test_engines_answer_what_eager_does(tmp_path: Path) -> None:
    answers = row_of(sample(), tmp_path)["engines"]
    assert answers.keys() == {ratios.EAGER, ratios.PLAIN, ratios.OURS}
    for answer in answers.values():
        assert answer["difference"] < TOLERANCE
        assert answer["busy"] > 0 and len(answer["rounds"]) == OPTIONS.rounds
        assert 0 < answer["ms"] == min(answer["rounds"]) <= answer["median"]


def test_inputs_stand_in_each_batch_and_in_the_precision_asked(tmp_path: Path) -> None:
    program, calls = save(sample(), tmp_path, batch=4, dtype=torch.float16)
    (inputs,), (expected,), _ = torch.load(calls, weights_only=True)
    assert inputs.shape == (4, 3, 16, 16) and inputs.dtype == expected.dtype == torch.float16
    assert all(torch.equal(each, inputs[0]) for each in inputs)
    state = torch.export.load(program).state_dict.values()
    assert {each.dtype for each in state} == {torch.float16}


def test_of_several_ways_the_fastest_that_is_right_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(page.__file__).parent))
    process = importlib.import_module("engines.process")
    program, calls = save(sample(), tmp_path)

    def way(seconds: float, off: float) -> Callable[[Any], Any]:
        def make(case: Any) -> Any:
            module = case.program.module()

            def run() -> Any:
                time.sleep(seconds)
                return module(*case.inputs) + off

            return run

        return make

    def refuses(case: Any) -> Any:
        raise RuntimeError("no such operator")

    ways = {"wrong": way(0, 1.0), "slow": way(0.05, 0), "fast": way(0, 0), "none": refuses}
    monkeypatch.setitem(process.WAYS, "sample", ways)
    _, answer = process.prepare("sample", "float", str(program), str(calls), 60, 1e-2)
    assert answer["way"] == "fast" and answer["difference"] == 0
    assert answer["refused"] == {"none": "RuntimeError: no such operator"}
    assert answer["tried"]["slow"] >= 50


def test_an_engine_that_cannot_says_so(tmp_path: Path) -> None:
    engine = Engine("missing", "no_such_engine", sys.executable, tmp_path, 1)
    answer = engine.prepare("float", tmp_path / "x.pt2", tmp_path / "x.calls")
    engine.close()
    assert "error" in answer


@pytest.mark.full
@pytest.mark.parametrize("name", ["lstm_step", "unet_diffusion", "vocoder", "shufflenet"])
def test_networks_equal_eager(name: str, tmp_path: Path) -> None:
    for answer in row_of(chosen([name])[0], tmp_path)["engines"].values():
        assert answer["difference"] < TOLERANCE


def test_names_are_unique_and_choose() -> None:
    counts = Counter(row.name for row in NETWORKS)
    assert [name for name, count in counts.items() if count > 1] == []
    assert {row.family for row in chosen(["recurrent"])} == {"recurrent"}
    with pytest.raises(SystemExit, match="no_such_network"):
        chosen(["no_such_network"])


def test_page_has_the_worst_first_and_the_means() -> None:
    rows = [
        row("fast", xnnpack=1.0, kernels=4.0, onnxruntime=3.0, openvino=2.0),
        row("slow", xnnpack=8.0, kernels=4.0, onnxruntime=4.0, openvino=9.0),
    ]
    rows[0]["engines"]["upstream"] = {"error": "RuntimeError: no\nsuch operator"}
    text = page.text(rows, "command", "A note.", "suite.svg")
    assert "| ours / best rival | 2 | 1.00 | 1.25 | 1.85 | 2.00 | slow |" in text
    assert "| delegated / not | 2 | 0.71 | 1.12 | 1.82 | 2.00 | slow |" in text
    assert text.index("| slow | test |") < text.index("| fast | test |")
    assert "| fast | upstream | RuntimeError: no such operator |" in text
    assert svg(rows).count("<circle") == 4


def test_other_backends_stand_beside_xnnpack_and_the_rival_of_their_library() -> None:
    engines = {"xnnpack": 4.0, "openvino": 2.0, "openvino delegate": 2.1, "demo delegate": 8.0}
    rows = [row("one", **engines), row("two", xnnpack=1.0)]
    text = page.text(rows, "command", "", "suite.svg")
    assert "| openvino delegate / xnnpack | 1 | 0.53 |" in text
    assert "| openvino delegate / openvino | 1 | 1.05 |" in text
    assert "| demo delegate / xnnpack | 1 | 2.00 |" in text and "demo delegate / demo" not in text
    assert "| eager | demo delegate | openvino delegate |" in text
    assert page.head(ratios.columns(rows)).index("openvino delegate") < page.brief(rows[0]).index(
        "2.10"
    )


def test_any_backend_of_ours_can_run(tmp_path: Path) -> None:
    """By its name alone, quantized as it quantizes."""
    label = f"xnnpack{ratios.DELEGATE}"
    program, calls = save(sample(), tmp_path)
    engine = Engine(label, label, sys.executable, tmp_path, 1)
    answers = [engine.prepare(precision, program, calls) for precision in ("float", "int8")]
    engine.close()
    assert answers[0]["difference"] < TOLERANCE < answers[1]["difference"] < 0.1


def test_a_rival_that_is_wrong_does_not_count_and_is_told() -> None:
    one = row("one", xnnpack=2.0, onnxruntime=1.0, openvino=4.0)
    one["engines"]["onnxruntime"]["difference"] = 0.02
    assert ratios.ratio(one, ratios.OURS, *ratios.RIVALS) == 0.5
    assert "| one | onnxruntime | wrong: differs from eager by 0.02 |" in page.problems([one])
    one["precision"] = "int8"
    assert ratios.ratio(one, ratios.OURS, *ratios.RIVALS) == 2.0


def test_the_worst_is_shown_with_its_spread_and_its_second_measurement() -> None:
    one = row("one", xnnpack=2.0, openvino=1.6)
    one["engines"]["xnnpack"]["rounds"] = [2.0, 3.0]
    one["engines"]["openvino"]["rounds"] = [2.0, 1.6]
    one["again"] = {"xnnpack": {"ms": 1.8}, "openvino": {"ms": 2.0}}
    text = page.text([one], "command", "", "suite.svg")
    assert "| 1.25 (rounds 1.00 to 1.88, again 0.90) | one |" in text
    assert "| 1.25 |  | 1.00-1.88 | 0.90 |" in text


def test_extreme_rows_of_upstream_are_left_out_of_a_second_mean() -> None:
    rows = [row(f"even{i}", xnnpack=1.0, upstream=1.0) for i in range(20)]
    rows += [row(f"far{i}", xnnpack=1.0, upstream=100.0) for i in range(5)]
    found = dict(ratios.tables(rows))
    (rest,) = (r for label, r in found.items() if label.startswith("ours / upstream without"))
    assert len(found["ours / upstream"]) == 25 and set(rest.values()) == {1.0}


def test_a_page_is_of_one_run_and_a_run_of_one_commit(tmp_path: Path) -> None:
    rows = [row("one", xnnpack=1.0) | {"run": run} for run in ("monday", "tuesday")]
    with pytest.raises(SystemExit, match="these rows are of 2: monday, tuesday"):
        page.text(rows, "command", "", "suite.svg")
    known = {results.key(rows[0]): rows[0] | {"commit": "0123456"}}
    assert results.run_name(known, resume=False)["run"] != "monday"
    with pytest.raises(SystemExit, match="of commit 0123456"):
        results.run_name(known, resume=True)
    same = {results.key(rows[0]): rows[0] | {"commit": results.commit()}}
    assert results.run_name(same, resume=True)["run"] == "monday"


def test_what_a_network_leaves_out_is_told() -> None:
    cuts = {name: chosen([name])[0].cut() for name in ("bert", "bert_base_full", "unet")}
    assert cuts["bert"] == "vocab_size 8192 of 30522, num_hidden_layers 4 of 12"
    assert cuts["bert_base_full"] == "" and cuts["unet"] == "half width"
    shown = row("bert", xnnpack=1.0) | {"cut": cuts["bert"]}
    assert f"bert ({cuts['bert']})" in page.text([shown], "command", "", "suite.svg")


def test_variants_are_told_by_section() -> None:
    one = row("one", xnnpack=2.0, openvino=4.0, upstream=1.0, eager=8.0)
    text = variants.section("batch 4", [one])
    assert "## batch 4" in text and "| one | 2.00 | 0.50 | 2.00 | 0.25 |" in text


def test_drawn_layers_are_the_same_again_and_within_bounds() -> None:
    some, more = ([row.name for row in shapes.drawn(["conv2d"], count)] for count in (3, 6))
    assert more[:3] == some
    assert some != [row.name for row in shapes.drawn(["conv2d"], 3, seed=1)]
    with pytest.raises(SystemExit, match="no_such_family.*conv2d"):
        shapes.drawn(["no_such_family"], 1)
    for row in shapes.drawn([], 4):
        assert row.place and shapes.WORK[0] <= row.place[1] <= shapes.WORK[1]


@pytest.mark.parametrize("family", shapes.FAMILIES)
def test_drawn_layers_run(family: str) -> None:
    for row in shapes.drawn([family], 2):
        module, inputs = row.build()
        with torch.no_grad():
            assert torch.isfinite(module(*inputs)).all(), row.name


def test_heat_maps_say_where_ours_is_slower() -> None:
    rows = [row("even", xnnpack=1.0, eager=1.0), row("slow", xnnpack=3.0, eager=1.0)]
    rows.append(row("short", xnnpack=0.03, eager=0.01))
    for each, work in zip(rows, (1 << 17, 1 << 28, 1 << 20)):
        each["place"] = [64, work]
    text = heat.text(rows, "command", "", "shapes.svg")
    assert "| test | 2: 1.73, 50%, 3.00 |" in text
    assert [line for line in text.splitlines() if "delegated / eager 3.00" in line]
    assert "short" not in text
    assert heat.svg(rows).count("layers, worst") == 2


def test_a_page_shows_the_command_without_what_is_this_machines() -> None:
    words = ["vit", "--against", "upstream", "--note", "a b", "--results=/tmp/x", "--resume"]
    assert command(words) == "python -m executorch.tools.bench.suite vit --against upstream"


def test_results_are_kept_by_row(tmp_path: Path) -> None:
    path = tmp_path / "build" / "suite.jsonl"
    for each in (row("a", xnnpack=2.0), row("b", xnnpack=3.0), row("a", xnnpack=1.0)):
        json_lines.append(path, each)
    known = json_lines.read(path, results.key)
    assert len(known) == 2
    assert ratios.taken(known["a", "float", 2, 1], ratios.OURS) == 1.0


@pytest.mark.machine("resident memory")
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is resident")
def test_memory_of_a_network_is_that_of_its_weights_and_more() -> None:
    wide = Network("wide", "test", lambda: (nn.Linear(2048, 2048), (torch.randn(1, 2048),)))
    found = files.measured(
        wide, {files.OURS: sys.executable}, 1, lambda it, question: it.ask(["memory", *question])
    )
    answer = found["engines"][files.OURS]
    weights = 4 * (2048 * 2048 + 2048)
    assert found["weights"] == weights <= found["file"] <= 1.01 * weights
    assert weights <= answer["thrice"] <= 1.25 * weights + 8e6
    assert 0 < answer["once"] <= answer["peak"] >= answer["thrice"]


def test_runs_from_the_first_on_are_told_and_drawn() -> None:
    wide = Network("wide", "test", lambda: (nn.Linear(512, 512), (torch.randn(1, 512),)))
    both = dict.fromkeys((files.OURS, latency.PACKS), sys.executable)
    found = files.measured(wide, both, 1, latency.asked)
    every = latency.series(found)
    assert list(every) == [files.OURS, latency.PACKS]
    for each in every.values():
        assert each["load"] > 0 and len(each["runs"]) == latency.RUNS and min(each["runs"]) > 0
    assert latency.table([found]).count("| wide |") == 2
    assert latency.svg([found]).count("<polyline") == 2


def test_the_memory_page_compares_with_the_least_of_the_rivals() -> None:
    def answer(size: int) -> dict[str, int]:
        return dict.fromkeys(memory.MOMENTS, size)

    engines = {
        "ours": answer(3_000_000),
        "onnxruntime": answer(6_000_000),
        "openvino": {"error": "no"},
    }
    rows = [{"name": "small", "weights": 1_000_000, "file": 2_000_000, "engines": engines}]
    text = memory.text(rows, "COMMAND", 2)
    assert "| ours / best rival | peak | 1 | 0.50 | 0.50 | small |" in text
    assert "| small | 1.0 | 2.0 | 0.50 | 3.0 | 3.0 | 3.0 | 6.0 | 6.0 | 6.0 |  |  |  |" in text


def test_inputs_that_did_not_calibrate_are_drawn_and_told(tmp_path: Path) -> None:
    first, second = sample().others(2)
    assert not torch.equal(first[0], second[0])
    assert torch.equal(first[0], next(sample().others(1))[0])
    engine = Engine(files.OURS, ratios.OURS, sys.executable, tmp_path, 1)
    found = accuracy.measured(sample(), [engine], 2, 1)
    engine.close()
    one, other = found["engines"][files.OURS]["differences"]
    assert 1e-4 < min(one, other) and max(one, other) < 0.1 and one != other


def test_the_accuracy_page_has_the_worst_first_and_who_refused_last() -> None:
    def row(name: str, ours: list[float], theirs: list[float]) -> files.Row:
        upstream = {"differences": theirs} if theirs else {"error": "RuntimeError: no"}
        return {
            "name": name,
            "inputs": 2,
            "engines": {"ours": {"differences": ours}, "upstream": upstream},
        }

    rows = [
        row("refused", [0.5, 0.5], []),
        row("even", [0.03, 0.04], [0.04, 0.03]),
        row("worse", [0.06, 0.08], [0.03, 0.04]),
        row("all", [0.1, 0.1], [1.2, 1.4]),
    ]
    text = accuracy.text(rows, "COMMAND", "", "accuracy.svg")
    assert "| ours / upstream | 2 | 1.41 | 2.00 | worse |" in text
    assert "| worse | 0.0707 | 0.0354 | 2.00 |" in text
    assert "| refused | 0.5 |  |  |" in text
    places = [text.index(f"| {name} | 0.") for name in ("worse", "even", "refused")]
    assert places == sorted(places)
    assert accuracy.svg(rows).count("<circle") == 3
