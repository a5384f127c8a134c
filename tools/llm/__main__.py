# SPDX-License-Identifier: BSD-3-Clause
"""Measures language models: text and perplexity of SmolLM2's real weights, what exports cost, what operators gain.

usage: python -m executorch.tools.llm [greedy] [perplexity] [export] [factor] [attention] [shapes]
           [--page build/pages/llm.md]

Each row is kept as a JSON line when it is known; `--page` writes the page from all that are kept, and leaves tables
without any as the page has them. `attention` needs the repository's root as the working directory.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from executorch.tools import pages
from executorch.tools.llm import attention, cache_factor, export_cost, page, smollm2, true_shapes
from executorch.tools.measure.json_lines import append

ROOT = Path(__file__).resolve().parents[2]
MEASURES = {
    "greedy": smollm2.greedy,
    "perplexity": smollm2.perplexities,
    "export": export_cost.costs,
    "factor": cache_factor.factors,
    "attention": attention.ratios,
    "shapes": true_shapes.shapes,
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", choices=[[], *MEASURES], help="none unless given")
    parser.add_argument("--only", default="", help="only rows whose name contains this")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "llm", help="for files")
    parser.add_argument("--page", type=Path, help="write the Markdown page from all results")
    options = parser.parse_args(argv)
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.work / "results.jsonl"
    for name in options.measures:
        for row in MEASURES[name](options.work, options.only):
            append(results, row)
            print(json.dumps(row), flush=True)
    if options.page:
        earlier = options.page.read_text() if options.page.exists() else ""
        pages.write(options.page, page.text(page.tables(results), earlier))
    return 0


if __name__ == "__main__":
    sys.exit(main())
