# SPDX-License-Identifier: BSD-3-Clause
"""Runs in ExecuTorch 1.4.1's environment: what it says of its operators of cadence, and what they give.

    python cadence_peer_operators.py ARGUMENTS RESULTS

ARGUMENTS: a file of torch.save, {(name, case): arguments}. RESULTS: {"schemas": [...], "results": {(name, case): ...}},
with a text where the operator fails."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

import torch

# Its formulas have multipliers of the other sign than its compiler writes and its kernels read.
MULTIPLIERS = {
    "quantized_relu": 3,
    "quantized_linear": 5,
    "quantized_fully": 5,
    "quantized_matmul": 5,
}


def given(name: str, arguments: tuple[Any, ...]) -> list[Any]:
    values = list(arguments)
    for start, place in MULTIPLIERS.items():
        if name.startswith(start):
            values[place] = -values[place]
    return values


def run(name: str, arguments: tuple[Any, ...]) -> Any:
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.cadence, packet), overload or "default")
    try:
        return operator(*given(name, arguments))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main(arguments: str, results: str) -> None:
    for module in ("ops_registrations", "ref_implementations"):  # which 1.4.1 has
        importlib.import_module(f"executorch.backends.cadence.aot.{module}")

    schemas = [str(each) for each in torch._C._jit_get_all_schemas()]
    drawn = torch.load(arguments, weights_only=False)
    found = {key: run(key[0], values) for key, values in drawn.items()}
    own = [each for each in schemas if each.startswith("cadence::")]
    torch.save({"schemas": own, "results": found}, results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arguments", help="a file of drawn calls")
    parser.add_argument("results", help="the file to write")
    options = parser.parse_args()
    main(options.arguments, options.results)
