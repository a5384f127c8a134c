# SPDX-License-Identifier: BSD-3-Clause
"""Twelve networks as others run them: in batches of four, on one thread, in float16, with dynamic quantization; each
beside upstream and the rivals, as the suite measures.

usage: python -m executorch.tools.bench.suite.variants [--networks NAME ...] [--rounds 5] [--priority 10]
           [--page build/pages/suite-variants.md]

example: python -m executorch.tools.bench.suite.variants --networks bert resnet18 --variants "batch 4" "1 thread"
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from executorch.tools import pages
from executorch.tools.bench.figures import processor
from executorch.tools.bench.suite import page, ratios, results
from executorch.tools.bench.suite.__main__ import arguments, measure_all
from executorch.tools.bench.suite.table import chosen
from executorch.tools.measure import json_lines

NETWORKS = (
    "resnet18 mobilenet_v2 efficientnet_b0 convnext vit swin segformer bert distilbert t5 wav2vec2 lstm"
).split()
VARIANTS = {
    "batch 4": ["--batch", "4"],
    "1 thread": ["--threads", "1"],
    "float16": ["--precision", "float16"],
    "dynamic int8": ["--precision", "dynamic"],
}
AGAINST = ["--against", ratios.UPSTREAM, *ratios.RIVALS]
PAIRS = (*ratios.PAIRS[:2], ("ours / eager", ratios.OURS, (ratios.EAGER,)))
HEAD = """# Networks in batches, on one thread, in half precision, with dynamic quantization

Milliseconds of ours and its ratios to the best rival, to upstream and to eager, by minima of rounds; beside the first
the ratios of single rounds. As [suite.md](suite.md) otherwise. {date}, commit {commit}, {processor}.

    {command}

"""


def cells(row: results.Row) -> list[str]:
    mine = ratios.taken(row, ratios.OURS)
    found = [ratios.ratio(row, above, *below) for _, above, below in PAIRS]
    words = ["" if each is None else f"{each:.2f}" for each in (mine, *found)]
    if ends := ratios.spread(row, *PAIRS[0][1:2], *PAIRS[0][2]):
        words[1] += f" ({ends[0]:.2f}-{ends[1]:.2f})"
    return words


def section(name: str, rows: list[results.Row]) -> str:
    labels = " | ".join(label for label, *_ in PAIRS)
    lines = [f"## {name}", "", page.summary(rows), f"| network | ours | {labels} |"]
    lines.append("|---|" + "--:|" * (1 + len(PAIRS)))
    lines += [f"| {' | '.join([row['name'], *cells(row)])} |" for row in ratios.by_worst(rows)]
    if refused := page.problems(rows):
        lines += ["", "| network | engine | what it said |", "|---|---|---|", *refused]
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.tools.bench.suite.variants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="all other options are the suite's",
    )
    parser.add_argument(
        "--networks", nargs="+", default=NETWORKS, help="names or families; twelve unless given"
    )
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--page", type=Path, help="write the page")
    own, more = parser.parse_known_args(argv)
    sections, last = [], {}
    for name in own.variants:
        print(f"\n{name}")
        options = arguments([*AGAINST, *VARIANTS[name], *more])
        rows = measure_all(
            chosen(own.networks), options, json_lines.read(options.results, results.key)
        )
        sections.append(section(name, rows))
        last = rows[0]
    if own.page:
        head = HEAD.format(
            date=last["run"][:10],
            commit=last["commit"],
            processor=processor(),
            command=" ".join([parser.prog, *(argv or sys.argv[1:])]),
        )
        pages.write(own.page, head + "\n".join(sections))
    return 0


if __name__ == "__main__":
    sys.exit(main())
