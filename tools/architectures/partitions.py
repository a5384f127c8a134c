# SPDX-License-Identifier: BSD-3-Clause
"""How XnnpackPartitioner cuts architectures of `transformers`, beside upstream: delegates, and undelegated calls.

usage: python -m executorch.tools.architectures.partitions [name ...] [--peer PYTHON] [--page FILE] [--resume]

Every program runs on its own engine, too, and is compared with eager PyTorch. Results are JSON lines, one a row.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from executorch.tools.architectures import page
from executorch.tools.architectures.run import add_arguments, run

COMMAND = "python -m executorch.tools.architectures.partitions [name ...] --page docs/results/partitions.md"
HEAD = f"""# Partitions

Architectures of Hugging Face `transformers` (docs/architectures.md) lowered with `XnnpackPartitioner()` and nothing
else, float32. Delegates, then undelegated calls (items of several results not counted), from
`get_delegation_info`; `upstream` is the wheel of executorch 1.4.1 on the same exported program. `difference` is
the largest ||found - eager|| / ||eager|| of our runtime over all outputs and calls; weights are those of
docs/architectures.md. Written, for the rows that were named, by

    {COMMAND}

"""


@dataclass(frozen=True)
class Cut:
    """How one engine cut one program."""

    delegates: int
    left: int


def cut(answer: page.Result) -> Cut | None:
    """None where lowering failed."""
    if "delegates" not in answer:
        return None
    return Cut(answer["delegates"], sum(answer["left"].values()))


def is_worse(result: page.Result) -> bool:
    """More delegates, or more calls left, than upstream."""
    ours, theirs = cut(result["ours"]), cut(result.get("upstream", {}))
    if ours is None:
        return True
    return theirs is not None and (ours.delegates > theirs.delegates or ours.left > theirs.left)


def most_left(answer: page.Result, count: int = 4) -> str:
    """The operators of most of the undelegated calls."""
    rows = sorted(answer.get("left", {}).items(), key=lambda row: (-row[1], row[0]))
    return ", ".join(f"{name.removeprefix('aten_')} {calls}" for name, calls in rows[:count])


def line(result: page.Result) -> str:
    def text(answer: page.Result) -> str:
        found = cut(answer)
        return f"{found.delegates} + {found.left}" if found else ""

    ours, theirs = result["ours"], result.get("upstream", {})
    message = page.problem(ours) or page.vanishing(result) or "ok"
    difference = f"{ours['difference']:.1e}" if "difference" in ours else ""
    cells = [result["name"], text(ours), text(theirs), most_left(ours), difference, message]
    return f"| {' | '.join(cells)} |"


def recorded(page_text: str) -> dict[str, Cut | None]:
    """What the page says of upstream, by name; None where it does not lower."""
    rows = re.findall(r"^\| (\w+) \| [\d+ ]+ \| (?:(\d+) \+ (\d+))? ?\|", page_text, re.MULTILINE)
    return {name: Cut(int(first), int(second)) if first else None for name, first, second in rows}


def text(results: list[page.Result]) -> str:
    known = [each for each in results if not page.refused(each)]
    both = [each for each in known if cut(each["ours"]) and cut(each.get("upstream", {}))]
    fine = sum(not is_worse(each) for each in both)
    sums = [
        f"{sum(cut(each[engine]).delegates for each in both)} delegates and "
        f"{sum(cut(each[engine]).left for each in both)} calls left"
        for engine in ("ours", "upstream")
    ]
    equal = sum(not (page.problem(each["ours"]) or page.vanishing(each)) for each in known)
    summary = (
        f"{equal} of {len(known)} programs equal eager. Of the {len(both)} that both lower, {fine} have neither more "
        f"delegates nor more calls left here: {sums[0]} here, {sums[1]} upstream.\n\n"
    )
    head = "| name | ours | upstream | most calls left here | difference | ours runs |\n|---|--:|--:|---|--:|---|\n"
    return HEAD + summary + head + "\n".join(map(line, known)) + "\n"


def summary(result: page.Result) -> str:
    refused = page.refused(result)
    return refused or line(result) + ("  MORE THAN UPSTREAM" if is_worse(result) else "")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser, Path("build/partitions.jsonl"))
    run(parser.parse_args(argv), "delegate", summary, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
