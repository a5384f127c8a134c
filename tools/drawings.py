# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of docs/images that are data: what an example model is on its way to a file, which calls a backend
takes, where its tensors are in memory, and what a run does when.

python -m executorch.tools.drawings [--model bert]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch.devtools.commands.output.words import number_of
from executorch.tools import pages
from executorch.tools.bench.suite.picture import document, words

ROOT = Path(__file__).resolve().parents[1]
WIDTH, FONT, RUNS = 760, 12, 20
TAKEN, LEFT, INK, LINE = "#1d5fbf", "#b34700", "#222", "#999"


@dataclass(frozen=True)
class Block:
    """A tensor in the plan: `start` and `end` are the first and the last step that need it."""

    start: int
    end: int
    offset: int
    size: int


@dataclass(frozen=True)
class Span:
    """An event of a run, in microseconds since its start; `depth`: how many others it is inside of."""

    name: str
    start: float
    end: float
    depth: int = 0


def rectangle(x: float, y: float, width: float, height: float, colour: str, title: str = "") -> str:
    inside = f"<title>{title}</title>" if title else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" fill="{colour}" '
        f'stroke="white" stroke-width="0.5">{inside}</rect>'
    )


def steps(rows: Sequence[tuple[str, str, str]]) -> str:
    """What happens, what is left of it, and the call of Python that does it; an arrow leads from each to the next."""
    step, left = 58, 220
    parts = []
    for i, (title, what, call) in enumerate(rows):
        y = 14 + step * i
        parts += [
            f'<rect x="10" y="{y}" width="{left - 30}" height="34" rx="6" fill="{TAKEN}"/>',
            words(24, y + 22, title, fill="white", font_weight="bold"),
            words(left, y + 14, what, fill=INK),
            words(left, y + 31, call, fill=LEFT, font_family="monospace"),
        ]
        if i:
            parts.append(
                f'<path d="M100 {y - 22} v14 m-5 -5 l5 6 l5 -6" stroke="{INK}" fill="none"/>'
            )
    return document(WIDTH, 14 + step * len(rows), parts, FONT)


def delegation(calls: Sequence[tuple[str, bool]], backend: str) -> str:
    """A square a call, in the order of the program."""
    side, each_row, top = 18, (WIDTH - 20) // 18, 40
    parts = [
        rectangle(10, 10, 14, 14, TAKEN),
        words(
            30, 21, f"{number_of(sum(taken for _, taken in calls), 'call')} of {backend}", fill=INK
        ),
        rectangle(250, 10, 14, 14, LEFT),
        words(
            270,
            21,
            f"{number_of(sum(not taken for _, taken in calls), 'call')} of the kernels",
            fill=INK,
        ),
    ]
    for i, (name, taken) in enumerate(calls):
        row, column = divmod(i, each_row)
        colour = TAKEN if taken else LEFT
        parts.append(
            rectangle(10 + side * column, top + side * row, side - 2, side - 2, colour, name)
        )
    return document(WIDTH, top + side * (1 + (len(calls) - 1) // each_row) + 10, parts, FONT)


def memory(blocks: Sequence[Block]) -> str:
    """Steps from left to right, bytes from the bottom up: no two blocks overlap."""
    left, right, top, height = 20, 10, 40, 300
    last = max(block.end for block in blocks) + 1
    arena = max(block.offset + block.size for block in blocks)
    across, up = (WIDTH - left - right) / last, height / arena
    sizes = sum(block.size for block in blocks)
    head = f"{len(blocks)} tensors of {sizes:,} bytes in an arena of {arena:,} bytes"
    parts = [words(left, 22, head, fill=INK)]
    for i, block in enumerate(sorted(blocks, key=lambda each: (each.start, each.offset))):
        colour = (TAKEN, "#4a86d8", "#8a4fbf", "#2b7a4b")[i % 4]
        title = f"{block.size:,} bytes at {block.offset:,}, steps {block.start} to {block.end}"
        y = top + height - (block.offset + block.size) * up
        wide = (block.end - block.start + 1) * across
        parts.append(
            rectangle(left + block.start * across, y, wide, block.size * up, colour, title)
        )
    parts += [
        f'<path d="M{left} {top} v{height} h{WIDTH - left - right}" stroke="{INK}" fill="none"/>',
        words(left, top + height + 18, "steps of the program, from first to last", fill=INK),
        words(14, top + height, "bytes", fill=INK, transform=f"rotate(-90 14 {top + height})"),
    ]
    return document(WIDTH, top + height + 30, parts, FONT)


def timeline(spans: Sequence[Span]) -> str:
    """Time from left to right; what happens inside of an event is below it."""
    left, top, row = 10, 40, 30
    whole = max(span.end for span in spans)
    across = (WIDTH - 2 * left) / whole
    parts = [
        words(left, 22, f"one run of {whole:,.0f} microseconds, {len(spans)} events", fill=INK)
    ]
    for i, span in enumerate(spans):
        x, y, wide = (
            left + span.start * across,
            top + row * span.depth,
            (span.end - span.start) * across,
        )
        colour = LINE if span.depth == 0 else (TAKEN if "DELEGATE" in span.name else LEFT)
        if span.depth > 1:
            colour = ("#4a86d8", "#8a4fbf")[i % 2]
        parts.append(
            rectangle(x, y, wide, row - 4, colour, f"{span.name}: {span.end - span.start:.1f} us")
        )
        if wide > 7 * len(span.name):
            parts.append(
                words(x + 4, y + 17, span.name, fill="black" if span.depth == 0 else "white")
            )
    bottom = top + row * (1 + max(span.depth for span in spans)) + 16
    legend = [
        ("an operator by a kernel", LEFT),
        ("a call of a delegate", TAKEN),
        ("what these did", "#8a4fbf"),
    ]
    for i, (text, colour) in enumerate(legend):
        parts += [
            rectangle(left + 200 * i, bottom - 11, 12, 12, colour),
            words(left + 18 + 200 * i, bottom, text, fill=INK),
        ]
    return document(WIDTH, bottom + 10, parts, FONT)


def nested(events: Sequence[tuple[str, float, float]]) -> list[Span]:
    """Of (name, start, end): the first starts at 0."""
    found: list[Span] = []
    begin = min(start for _, start, _ in events)
    for name, start, end in sorted(events, key=lambda each: (each[1], -each[2])):
        depth = sum(each.start <= start - begin and end - begin <= each.end for each in found)
        found.append(Span(name, start - begin, end - begin, depth))
    return found


def blocks_of(graph: Any) -> list[Block]:
    """Of a planned graph, without constants and what has no place."""
    from torch.utils import _pytree as pytree

    found = {}
    for node in graph.nodes:
        for spec in pytree.tree_leaves(node.meta.get("spec")):
            is_planned = getattr(spec, "mem_offset", None) is not None and not spec.const
            if is_planned and spec.allocated_memory:
                start, end = spec.lifetime
                found[id(spec)] = Block(start, end, spec.mem_offset, spec.allocated_memory)
    return [*found.values()]


def calls_of(graph_module: Any) -> list[tuple[str, bool]]:
    """In the order of the program; those of a delegate where it is called."""
    from executorch.exir.delegate import executorch_call_delegate

    found = []
    for node in graph_module.graph.nodes:
        if node.op != "call_function" or node.target.__name__ == "getitem":
            continue
        if node.target is executorch_call_delegate:
            inside = getattr(graph_module, node.args[0].name).original_module.graph_module
            found += [(name, True) for name, _ in calls_of(inside)]
        else:
            found.append((str(node.target.__name__), False))
    return found


def events_of(program: Any, inputs: Any, folder: Path) -> list[Span]:
    """Of the fastest run."""
    from executorch.devtools import Inspector
    from executorch.runtime import Runtime

    path = folder / "events.etdp"
    loaded = Runtime.get().load_program(program.buffer, enable_etdump=True)
    method = loaded.load_method("forward")
    for _ in range(RUNS):
        method.execute(inputs)
    loaded.write_etdump_result_to_file(str(path), str(folder / "values.bin"))
    inspector = Inspector(etdump_path=str(path))
    (block,) = (each for each in inspector.event_blocks if each.name == "Execute")
    (whole,) = (each for each in block.events if each.name == "Method::execute")
    run = whole.perf_data.raw.index(whole.perf_data.min)
    events = []
    for event in block.events:
        start = event.start_time[run] / 1e3
        events.append((event.name, start, start + event.perf_data.raw[run] * 1e3))
    return nested(events)


def pictures(model: str) -> dict[str, str]:
    """By name of the file."""
    import torch

    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.examples.models import make_example
    from executorch.exir import to_edge, to_edge_transform_and_lower

    method = make_example(model).forward
    exported = method.export()
    edge = to_edge(exported)
    of_edge = calls_of(edge.exported_program().graph_module)
    lowered = to_edge_transform_and_lower(method.export(), partitioner=[XnnpackPartitioner()])
    calls = calls_of(lowered.exported_program().graph_module)
    alone, program = edge.to_executorch(), lowered.to_executorch()
    planned = blocks_of(program.exported_program().graph)
    plan = program.executorch_program.execution_plan[0]
    operators = sum(node.op == "call_function" for node in exported.graph.nodes)
    parameters = sum(each.numel() for each in method.module.parameters())
    taken = sum(inside for _, inside in calls)
    arena = max(each.offset + each.size for each in planned)
    parts = f"{len(plan.delegates)} parts with {taken} calls"
    instructions = len(plan.chains[0].instructions)
    rows = [
        ("A module of PyTorch", f"{model}: {parameters:,} parameters", "module"),
        (
            "Captured",
            f"{number_of(operators, 'call')} of ATen's operators",
            "torch.export.export(module, inputs)",
        ),
        (
            "Edge dialect",
            f"{number_of(len(of_edge), 'call')} of core operators, with their dtypes",
            "to_edge_transform_and_lower(...)",
        ),
        (
            "Given to a backend",
            f"{parts} for XNNPACK, {len(calls) - taken} calls left to kernels",
            "partitioner=[XnnpackPartitioner()]",
        ),
        (
            "Memory planned",
            f"{len(planned)} tensors in an arena of {arena:,} bytes",
            "lowered.to_executorch()",
        ),
        (
            "A file",
            f"{len(program.buffer):,} bytes with {instructions} instructions",
            'program.save("model.pte")',
        ),
    ]
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        spans = events_of(program, method.inputs, Path(folder))
    return {
        "model_to_file.svg": steps(rows),
        "delegation.svg": delegation(calls, "XNNPACK"),
        "memory_plan.svg": memory(blocks_of(alone.exported_program().graph)),
        "etdump_timeline.svg": timeline(spans),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="bert", help="a name of `executorch export --list`")
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "images")
    options = parser.parse_args()
    for name, text in pictures(options.model).items():
        pages.write(options.folder / name, text)
        print(f"wrote {options.folder / name}: {len(text):,} bytes")


if __name__ == "__main__":
    main()
