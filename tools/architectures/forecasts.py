# SPDX-License-Identifier: BSD-3-Clause
"""What `doctor` says of architectures of `transformers` before they are lowered for XNNPACK, beside what then is.

usage: python -m executorch.tools.architectures.forecasts [name ...] [--page FILE] [--resume]

The forecast is made from the edge program; the fact is read from the file. Results are JSON lines, one a row.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from executorch.tools.architectures import page
from executorch.tools.architectures.run import add_arguments, run

COMMAND = "python -m executorch.tools.architectures.forecasts [name ...] --no-peer --page build/pages/forecasts.md"
HEAD = f"""# Forecasts

Architectures of Hugging Face `transformers` (docs/architectures.md): what `doctor` says will not be delegated by
`XnnpackPartitioner()`, from the edge program, beside the calls that the file does not delegate. `missed` were
not delegated and not forecast, `wrong` were forecast and are delegated; calls that are gone, because another gives
the same, count as neither. `lines`: how many of the findings of `doctor` on the file have a line of Python.
Written, for the rows that were named, by

    {COMMAND}

"""
TABLE = (
    "| name | forecast | undelegated | missed | wrong | why, most often | findings | lines |\n"
    "|---|--:|--:|--:|--:|---|--:|--:|\n"
)


def is_right(result: page.Result) -> bool:
    """Nothing missed, nothing wrong."""
    ours = result["ours"]
    return "forecast" in ours and not ours["missed"] and not ours["wrong"]


def line(result: page.Result) -> str:
    ours = result["ours"]
    if "forecast" not in ours:
        return f"| {result['name']} |  |  |  |  | {page.problem(ours)} |  |  |"
    whys = sorted(ours["why"].items(), key=lambda pair: (-pair[1], pair[0]))
    why = f"{whys[0][1]}: {whys[0][0].replace('|', '/')}" if whys else ""
    cells = [
        result["name"], ours["forecast"], ours["undelegated"], len(ours["missed"]), len(ours["wrong"]),
        why, ours["findings"], ours["lines"],
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def text(results: list[page.Result]) -> str:
    known = [each for each in results if not page.refused(each)]
    right = sum(map(is_right, known))
    engines = [each["ours"] for each in known if "forecast" in each["ours"]]
    outside, missed, wrong = (
        sum(engine["undelegated"] for engine in engines),
        sum(len(engine["missed"]) for engine in engines),
        sum(len(engine["wrong"]) for engine in engines),
    )
    summary = (
        f"{right} of {len(known)} forecasts are what happened: of {outside} calls that are not delegated {missed} were "
        f"missed, and {wrong} of those forecast are delegated. {sum(engine['lines'] for engine in engines)} of "
        f"{sum(engine['findings'] for engine in engines)} findings have a line.\n\n"
    )
    return HEAD + summary + TABLE + "\n".join(map(line, known)) + "\n"


def summary(result: page.Result) -> str:
    return page.refused(result) or line(result)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser, Path("build/forecasts.jsonl"))
    run(parser.parse_args(argv), "forecast", summary, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
