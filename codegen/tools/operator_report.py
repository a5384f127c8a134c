# SPDX-License-Identifier: BSD-3-Clause
"""Which operators programs need, which of them need each, and what each costs in a binary.

operator_report a.pte b.pte                       calls and dtypes of each operator, by program
operator_report a.pte --why aten::add.out         which methods call it, and with what
operator_report a.pte --binary executor_runner    and the bytes of its kernel's own functions there
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from ..model_operators import ModelError, as_json, kernel_key, operator_name, scalar_types
from ..op_table import SCALAR_TYPES, read_yaml, row_name

_KERNELS = Path(__file__).resolve().parents[2] / "kernels"
_TABLES = ("portable/functions.yaml", "optimized/optimized.yaml", "quantized/quantized.yaml")
_DTYPES = {number: name for name, number in SCALAR_TYPES.items()}


@dataclass(frozen=True)
class Use:
    """One call: the program's file, the method, the operator, and the dtypes of its tensors."""

    model: str
    method: str
    operator: str
    dtypes: tuple[str, ...]


def uses(path: Path) -> Iterator[Use]:
    """All kernel calls of the program at `path`. Raises ModelError for a file that is none."""
    program, types = as_json(path), scalar_types()
    for plan in program.get("execution_plan", []):
        names = [operator_name(operator) for operator in plan.get("operators", [])]
        for chain in plan.get("chains", []):
            for instruction in chain.get("instructions", []):
                if instruction["instr_args_type"] == "KernelCall":
                    call = instruction["instr_args"]
                    key = kernel_key([plan["values"][i] for i in call["args"]], types)
                    numbers = re.findall(r"(?:/|\|)(\d+);", key)
                    dtypes = tuple(_DTYPES.get(int(n), n) for n in numbers)
                    yield Use(path.name, plan["name"], names[call["op_index"]], dtypes)


def kernel_functions() -> dict[str, set[str]]:
    """Names of the C++ functions of each operator in the tables of this package."""
    found: dict[str, set[str]] = defaultdict(set)
    for table in _TABLES:
        for row in read_yaml(_KERNELS / table) if (_KERNELS / table).exists() else ():
            name = row_name(row)
            full = name if "::" in name else f"aten::{name}"
            found[full] |= {str(k["kernel_name"]).rpartition("::")[2] for k in row["kernels"]}
    return found


def function_bytes(binary: Path) -> Counter[str]:
    """Bytes of code by function name, what is inside of a function counted to it. `binary` needs its symbols."""
    words = ["nm", "-C", "-S", "--defined-only", str(binary)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{binary}: nm cannot read it: {done.stderr.strip()}")
    sizes: Counter[str] = Counter()
    for line in done.stdout.splitlines():
        match = re.match(r"[0-9a-f]+ ([0-9a-f]+) [tTwW] .*?\bnative::(\w+)\(", line)
        if match:
            sizes[match[2]] += int(match[1], 16)
    if not sizes:
        raise OSError(f"{binary}: expected symbols of kernels, found none: is it stripped?")
    return sizes


def report(found: list[Use], binary: Path | None) -> list[str]:
    """One line per operator, those with the most bytes, then calls, first."""
    sizes = function_bytes(binary) if binary else Counter()
    functions = kernel_functions()
    by_operator: dict[str, list[Use]] = defaultdict(list)
    for use in found:
        by_operator[use.operator].append(use)

    def size(operator: str) -> int:
        return sum(sizes[name] for name in functions.get(operator, ()))

    order = sorted(by_operator, key=lambda op: (-size(op), -len(by_operator[op]), op))
    lines = []
    for operator in order:
        calls = Counter(use.model for use in by_operator[operator])
        dtypes = sorted({dtype for use in by_operator[operator] for dtype in use.dtypes})
        where = ", ".join(f"{model} {count}" for model, count in sorted(calls.items()))
        cost = f"{size(operator):>8}  " if binary else ""
        lines.append(f"{cost}{operator}  calls: {where}  dtypes: {', '.join(dtypes) or 'none'}")
    if binary:
        lines.append(f"{sum(size(operator) for operator in order):>8}  all of them")
    return lines


def why(found: list[Use], operator: str) -> list[str]:
    """Which methods call `operator`, how often, with which dtypes; nothing when none does."""
    full = operator if "::" in operator else f"aten::{operator}"
    calls = Counter((u.model, u.method, u.dtypes) for u in found if u.operator == full)
    return [
        f"{full}: {model}, method {method}: {count} calls with {', '.join(dtypes) or 'no tensors'}"
        for (model, method, dtypes), count in sorted(calls.items())
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+", help="one or more .pte")
    parser.add_argument("--why", metavar="OPERATOR", help="who calls this one")
    parser.add_argument("--binary", type=Path, help="a program or archive with symbols")
    options = parser.parse_args(arguments)
    try:
        found = [use for path in options.models for use in uses(path)]
        lines = why(found, options.why) if options.why else report(found, options.binary)
    except (ModelError, OSError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not lines:
        known = ", ".join(sorted({use.operator for use in found}))
        what = f"calls {options.why}; they call {known}" if options.why else "calls a kernel"
        print(f"error: none of the {len(options.models)} programs {what}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
