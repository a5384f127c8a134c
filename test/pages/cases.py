# SPDX-License-Identifier: BSD-3-Clause
"""The pages that people look at, empty and full: a new one is a line of PAGES, or of COMMANDS where a command makes it
of a program."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from executorch.devtools.commands import main as devtools
from executorch.devtools.commands.output.page import page
from executorch.devtools.commands.output.report import (
    Figure,
    Folded,
    Picture,
    Report,
    Row,
    Table,
)
from executorch.devtools.commands.output.svg import (
    Bar,
    Box,
    histogram,
    lanes,
    layout,
    steps,
)
from executorch.devtools.commands.output.words import number_of
from executorch.devtools.commands.view.graph import INPUT, Graph, GraphNode, Weight
from executorch.devtools.commands.view.page import graph_page

WHY = "no kernel of this library takes float64, and the delegate has no such operator"
LINE = "models/vision/detection/a_rather_long_name_of_a_file.py:123: return self.head(self.body(x))"
# As doctor's findings: ten columns.
FINDINGS: list[Row] = [
    {
        "kind": kind,
        "finding": f"{number_of(calls, 'call')} of aten::convolution.out are outside of delegates",
        "ms": 12.5 * calls,
        "share": "12.5%",
        "why": WHY,
        "next step": "executorch export --backend xnnpack, or convert it to float32 before",
        "calls": calls,
        "bytes": 123_456_789 * calls,
        "layers": Folded({"layer": f"body.{i}", "ms": 1.5} for i in range(calls)),
        "line": LINE,
    }
    for calls, kind in enumerate(("stops", "slow", "memory"), 1)
]
# Written from the largest to the least; as texts, 9.00 ms would come before 1.50 s.
MS = [1500.0, 20.0, 9.0, 1.5, 0.25] + [0.2 / (1 + i) for i in range(35)]
OPERATORS: list[Row] = [
    {"operator": f"aten::op{i}.out", "module": "m" * 90, "ms": ms, "bytes": 10**i % 10**10}
    for i, ms in enumerate(MS)
]
TABLES = [
    Table("findings", "Findings <1>", FINDINGS, "ms"),
    Table("operators", "Operators", OPERATORS, "ms"),
    Table("one", "One row", [{"part": "constants", "bytes": 1, "share": "100%"}]),
    Table("empty", "Nothing", []),
]
SUMMARY = ["2 things stop it.", "/a/path/" + "without_a_space" * 9]
FIGURES = [Figure("size of the file", "13.9 MB"), Figure("one run took", "12.5 ms")]
PICTURES = [
    Picture("Times", histogram("Times", [1.0, 2.0, 2.5, 9.0], "ms", (1.0, 3.0))),
    Picture(
        "Memory", steps("Memory", [5, 9, 4], "call 0", "3 calls, at most 9 bytes at call 1", 1)
    ),
    Picture(
        "Timeline",
        lanes(
            "Timeline",
            [Bar("calls", i, i + 1.0, f"XnnpackBackend {i}", "x", i % 3 == 0) for i in range(40)],
            40.0,
            "40.0 ms; in orange: kernels",
        ),
    ),
    Picture(
        "Arena",
        layout(
            "Arena",
            [Box(0, 2, 0, 900, "float32[1, 3]", "x"), Box(1, 1, 900, 950, "b", "y", True)],
            3,
            1000,
            "call 0",
            "3 calls, 1.00 kB high",
        ),
    ),
]
REPORT = Report("a folder & a model.pte", SUMMARY, TABLES, PICTURES, {}, status=1, figures=FIGURES)
WEIGHT = Weight("w", "float32[8, 8]", 0, -1.25, 1.5, tuple(range(24)))
NODES = [
    GraphNode("x", INPUT, outputs=("float32[1]",)),
    *(
        GraphNode(
            f"y{i}",
            "aten::cos.out",
            f"body.{i // 4}",
            LINE,
            backend="" if i % 3 else "kernels",
            why="" if i % 3 else WHY,
            inputs=(i,),
            ms=0.5 * i,
            num_bytes=1000 * i,
            weights=(WEIGHT,),
            call=i,
        )
        for i in range(30)
    ),
]


REASON = "the backend has no such operator"


def _node(i: int) -> GraphNode:
    weight = Weight(f"w{i}", "float32[512, 512]", 0, -1.25, 1.5, tuple(range(24)))
    part = "attention" if i % 100 < 50 else "mlp"
    is_outside = i % 7 == 0
    return GraphNode(
        f"n{i}",
        f"aten::op{i % 17}.out",
        f"model.layers.{i // 100}.{part}",
        f"/src/model.py:{i % 300}",
        f"y = f{i % 300}(x)",
        (i - 1, *((i - 9,) if i > 10 and i % 5 == 0 else ())),
        ("float32[1, 512]",),
        "kernels" if is_outside else "XnnpackBackend",
        REASON if is_outside else "",
        10 * i,
        0.001 * i,
        weights=(weight,) if i % 3 == 0 else (),
        call=i - 1,
    )


def big_page(count: int) -> str:
    """A graph of this many nodes in layers of 100, with memory and a table."""
    first = GraphNode("x", INPUT, outputs=("float32[1, 512]",))
    nodes = [first, *map(_node, range(1, count))]
    graph = Graph("big.pte", "forward", nodes, [1000 + 37 * i % 5000 for i in range(count)])
    table = Table("t", "A table", [{"module": "model", "bytes": 7}], "bytes")
    return graph_page("big.pte", [f"{count:,} nodes"], [graph], [table])


def _stages(count: int) -> str:
    from executorch.extension.llm.export.stages import Stage, Stages

    made = [
        Stage(f"lower {i}", 10.0 + 3 * i, 1.5 + i, 2.5 + i, 10**9 * (i + 1)) for i in range(count)
    ]
    return page(Stages(False, made)._report(), "export_llm")


def _evaluated(count: int) -> str:
    """Programs beside a model, or a model alone."""
    from executorch.cli.evaluating import report_of

    row = {"name": "net.py:net", "value": 0.91, "low": 0.9, "high": 0.92, "milliseconds": 12.5}
    beside = {"value": -0.011, "low": -0.02, "high": -0.002}
    others = [{**row, "name": f"{i}.pte", "beside the model": beside} for i in range(count)]
    head = {
        "data": "photos",
        "kind": "pictures",
        "samples": 1,
        "metric": "top1",
        "beside": "labels",
    }
    head |= {"what": "share that is right", "more is better": True, "interval": "95 %, Wilson"}
    return page(report_of(head, [row, *others]), "executorch eval")


PAGES: dict[str, Callable[[], str]] = {
    "report, empty": lambda: page(Report("empty", [])),
    "report, full": lambda: page(REPORT, "executorch doctor"),
    "viewer, empty": lambda: graph_page("empty.pte", [], [], []),
    "viewer, full": lambda: graph_page(
        "a.pte",
        SUMMARY,
        [Graph("a.pte", "forward", NODES, [7 * i for i in range(30)])],
        TABLES[:3],
        FIGURES,
    ),
    "eval, empty": lambda: _evaluated(0),
    "eval, full": lambda: _evaluated(14),
    "export_llm, empty": lambda: _stages(0),
    "export_llm, full": lambda: _stages(5),
}


@dataclass(frozen=True)
class Programs:
    """A network as a program for XNNPACK and one of kernels alone, with their records."""

    delegated: Path
    plain: Path


COMMANDS: dict[str, Callable[[Programs], list[object]]] = {
    "doctor": lambda p: [p.delegated, "--etrecord", p.delegated.with_suffix(".etrecord")],
    "doctor, kernels": lambda p: [p.plain, "--etrecord", p.plain.with_suffix(".etrecord")],
    "bench": lambda p: [p.delegated, p.plain, "--rounds", 3, "--runs", 2],
    "explain": lambda p: [p.plain, "--etrecord", p.plain.with_suffix(".etrecord")],
    "explain, delegated": lambda p: [p.delegated],
    "bisect": lambda p: [p.plain.with_suffix(".etrecord"), p.plain],
    "diff": lambda p: [p.delegated, p.plain],
    "diff, equal": lambda p: [p.plain, p.plain],
    "check": lambda p: [p.plain],
    "check, not there": lambda p: [p.plain, "--memory", 1],
    "self_test": lambda p: [
        p.plain,
        "--etrecord",
        p.plain.with_suffix(".etrecord"),
        "--output",
        p.plain.with_suffix(".tested"),
    ],
    "view": lambda p: [p.plain, "--etrecord", p.plain.with_suffix(".etrecord")],
    "view, two": lambda p: [p.plain, p.delegated],
}


def programs(folder: Path) -> Programs:
    import torch

    from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
        XnnpackPartitioner,
    )
    from executorch.exir import to_edge_transform_and_lower

    torch.manual_seed(0)
    convolution = torch.nn.Conv2d(8, 8, 3, padding=1)
    blocks = [torch.nn.Sequential(convolution, torch.nn.GELU(), torch.nn.ReLU()) for _ in range(6)]
    model = torch.nn.Sequential(*blocks, torch.nn.Softmax(1)).eval()
    exported = torch.export.export(model, (torch.randn(1, 8, 24, 24),))
    paths = []
    for name, partitioner in (("delegated", [XnnpackPartitioner()]), ("plain", None)):
        lowered = to_edge_transform_and_lower(
            exported, partitioner=partitioner, generate_etrecord=True
        ).to_executorch()
        paths.append(folder / f"{name}.pte")
        paths[-1].write_bytes(lowered.buffer)
        lowered.get_etrecord().save(paths[-1].with_suffix(".etrecord"))
    return Programs(*paths)


def page_of(command: str, made: Programs, path: Path) -> None:
    """ValueError with what the command said, where it wrote none."""
    name, printed = command.partition(",")[0], io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        devtools([name, *map(str, COMMANDS[command](made)), "--html", str(path)])
    if not path.exists():
        raise ValueError(f"{command}: {printed.getvalue()}")
