# SPDX-License-Identifier: BSD-3-Clause
"""How near decoding comes to the memory's speed: bytes that a token reads, over the bandwidth of the same moment, as a
share of the token's time.

After each token llm_steps reads as many bytes as the weights have, by as many threads. A machine's memory may have
several speeds (a virtual machine shares it): tokens are sorted by what was read beside them, and each row has the
medians of one range of 10 GB/s. Several programs take turns. Example, a 1B model in groups of 32 (697.5 MB of weights;
16 layers with 8 heads of 64 keys and as many values of 4 bytes, 65,536 bytes of cache for each token):

python -m tools.bench.llm_bandwidth llama.pte --weights 697.5 --cache-row 65536 --contexts 32 1980 --seconds 120
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch.tools.bench.llm import add_runner_options, runner_command
from executorch.tools.measure.processes import Program

RANGE = 10e9  # of the bandwidths of a row
STEADY = 0.06  # both reads beside a token are as near to their mean
SKIPPED = 4  # tokens after a prompt


@dataclass(frozen=True)
class Token:
    seconds: float
    bandwidth: float  # bytes per second beside it
    share: float


def tokens_of(answer: dict[str, Any], context: int, weights: float, row: float) -> Iterator[Token]:
    """Those whose bandwidth is known: memory was as fast before them as after them."""
    decode, read = answer["decode"], answer["read"]
    for i in range(SKIPPED, len(decode)):
        before, after = weights / read[i - 1], weights / read[i]
        bandwidth = (before + after) / 2
        if abs(before - after) / 2 <= STEADY * bandwidth:
            size = weights + row * (context + i)
            yield Token(decode[i], bandwidth, size / bandwidth / decode[i])


def table(found: dict[tuple[int, str], list[Token]]) -> str:
    lines = ["| context | program | GB/s beside | tokens | ms a token | share of bandwidth |\n"]
    lines.append("| --: | --- | --: | --: | --: | --: |\n")
    for (context, name), tokens in sorted(found.items()):
        for place in sorted({int(token.bandwidth / RANGE) for token in tokens}):
            of_row = [token for token in tokens if int(token.bandwidth / RANGE) == place]
            bandwidth = statistics.median(token.bandwidth for token in of_row) / 1e9
            milliseconds = statistics.median(token.seconds for token in of_row) * 1e3
            share = statistics.median(token.share for token in of_row)
            cells = f"{bandwidth:.1f} | {len(of_row)} | {milliseconds:.1f} | {share:.2f}"
            lines.append(f"| {context:,} | {name} | {cells} |\n")
    return "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.llm_bandwidth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--weights", type=float, required=True, help="MB that a token reads")
    parser.add_argument("--cache-row", type=float, default=0, help="bytes of cache for each token")
    parser.add_argument("--contexts", type=int, nargs="+", default=[32])
    parser.add_argument("--tokens", type=int, default=40, help="after each prompt")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--settle", type=float, default=0, help="seconds from loading to measuring")
    add_runner_options(parser)
    options = parser.parse_args()
    found: dict[tuple[int, str], list[Token]] = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for place, model in enumerate(options.models):
            command = runner_command(options, model)
            command.append(f"--read_megabytes={options.weights:.0f}")
            programs[str(model)] = Program(command, Path(folder), f"model {place}", os.environ)
        for program in programs.values():
            program.ask([max(options.contexts), 1])
        time.sleep(options.settle)
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            for context in options.contexts:
                for name, program in programs.items():
                    answer = program.ask([context, options.tokens])
                    of_answer = tokens_of(answer, context, options.weights * 1e6, options.cache_row)
                    found.setdefault((context, name), []).extend(of_answer)
        for program in programs.values():
            program.close()
    print(table(found))


if __name__ == "__main__":
    main()
