# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.exir.dump model.pte`: what is in a program file, as text or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from executorch.exir import schema
from executorch.exir._native import parse_program_header, verify_program
from executorch.exir._serialize._program import program_to_json, read_program
from executorch.exir.dump.signature import input_texts, output_texts, signature
from executorch.exir.print_program import print_program


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 with a sentence on stderr when the file cannot be read or is corrupted."""
    given = _parser().parse_args(arguments)
    try:
        data = given.file.read_bytes()
        program = read_program(data)
        verify_program(data)
    except (OSError, ValueError) as problem:
        print(f"{given.file}: {problem}", file=sys.stderr)
        return 1
    try:
        if given.json:
            print(_json(program, data, given.values))
        else:
            print_summary(program, data, sys.stdout)
            if given.values:
                print_program(program, mark_dynamic_shape_tensor=True, out=sys.stdout)
    except BrokenPipeError:  # `... | head`
        sys.stderr.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.exir.dump",
        description="Shows what is in a program file: methods, operators, delegates, planned memory, segments. "
        "The file is verified first.",
    )
    parser.add_argument("file", type=Path, help="a .pte file")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    parser.add_argument(
        "--values",
        action="store_true",
        help="also every value and instruction; with --json the whole program as stored",
    )
    return parser


def summary(program: schema.Program, data: bytes) -> dict[str, Any]:
    """Sizes in bytes; offsets from the start of the file."""
    header = parse_program_header(data)
    base = header.segment_base_offset if header else 0
    return {
        "version": program.version,
        "file_bytes": len(data),
        "program_bytes": header.program_size if header else len(data),
        "methods": [_method(plan) for plan in program.execution_plan],
        "segments": [
            {"offset": base + segment.offset, "bytes": segment.size, "holds": holds}
            for segment, holds in zip(program.segments, _contents(program), strict=True)
        ],
        "external_data": sorted(external_names(program)),
        "user_metadata": program.user_metadata,
    }


def print_summary(program: schema.Program, data: bytes, out: TextIO) -> None:
    facts = summary(program, data)
    print(
        f"program, schema version {facts['version']}: {facts['file_bytes']:,} bytes, "
        f"of them {facts['program_bytes']:,} program data",
        file=out,
    )
    for method in facts["methods"]:
        print(f"method {method['name']}", file=out)
        for kind in ("inputs", "outputs"):
            print(f"  {kind}: {', '.join(method[kind]) or 'none'}", file=out)
        arenas = [f"{size:,}" for size in method["planned_bytes"]]
        print(f"  planned memory: {' + '.join(arenas) or 'none'} bytes", file=out)
        print(f"  values: {method['values']}, instructions: {method['instructions']}", file=out)
        for title in ("operators", "delegates"):
            for name, count in method[title].items():
                print(f"  {title[:-1]} {name}: {count}", file=out)
    for number, segment in enumerate(facts["segments"]):
        holds = ", ".join(segment["holds"]) or "nothing that the program names"
        print(
            f"segment {number}: {segment['bytes']:,} bytes at {segment['offset']:,}: {holds}",
            file=out,
        )
    for name in facts["external_data"]:
        print(f"external data {name}", file=out)
    if facts["user_metadata"]:
        print(f"user metadata {facts['user_metadata']}", file=out)


def _json(program: schema.Program, data: bytes, everything: bool) -> str:
    return (
        program_to_json(program, 2) if everything else json.dumps(summary(program, data), indent=2)
    )


def _method(plan: schema.ExecutionPlan) -> dict[str, Any]:
    calls = [one.instr_args for chain in plan.chains for one in chain.instructions]
    operators = Counter(operator_name(plan, c) for c in calls if isinstance(c, schema.KernelCall))
    delegates = Counter(
        plan.delegates[c.delegate_index].id for c in calls if isinstance(c, schema.DelegateCall)
    )
    return {
        "name": plan.name,
        "signature": signature(plan),
        "inputs": input_texts(plan),
        "outputs": output_texts(plan),
        "planned_bytes": list(plan.non_const_buffer_sizes[1:]),
        "values": len(plan.values),
        "instructions": len(calls),
        "operators": dict(sorted(operators.items())),
        "delegates": dict(sorted(delegates.items())),
    }


def operator_name(plan: schema.ExecutionPlan, call: schema.KernelCall) -> str:
    operator = plan.operators[call.op_index]
    return f"{operator.name}.{operator.overload}" if operator.overload else operator.name


def _contents(program: schema.Program) -> list[list[str]]:
    """What each segment holds, by what the program says about it."""
    held: list[list[str]] = [[] for _ in program.segments]

    def note(index: int, what: str) -> None:
        if what not in held[index]:
            held[index].append(what)

    if program.constant_segment is not None and program.constant_segment.offsets:
        count = len(program.constant_segment.offsets) - 1
        note(program.constant_segment.segment_index, f"{count} constants")
    for mutable in program.mutable_data_segments or ():
        note(mutable.segment_index, f"start values of {len(mutable.offsets) - 1} mutable buffers")
    for plan in program.execution_plan:
        for delegate in plan.delegates:
            if delegate.processed.location == schema.DataLocation.SEGMENT:
                note(delegate.processed.index, f"delegate {delegate.id}")
    for named in program.named_data or ():
        note(named.segment_index, f"named data {named.key}")
    return held


def external_names(program: schema.Program) -> set[str]:
    values = (value.val for plan in program.execution_plan for value in plan.values)
    extras = [value.extra_tensor_info for value in values if isinstance(value, schema.Tensor)]
    return {
        extra.fully_qualified_name or ""
        for extra in extras
        if extra is not None and extra.location == schema.TensorDataLocation.EXTERNAL
    }
