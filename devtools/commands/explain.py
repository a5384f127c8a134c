# SPDX-License-Identifier: BSD-3-Clause
"""Who owns which bytes of a program file: the report of `explain`."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from executorch.devtools.commands import owners
from executorch.devtools.commands.output.delegate_options import options_table
from executorch.devtools.commands.output.payloads import extract, facts_table
from executorch.devtools.commands.output.report import Figure, Report, Row, Table
from executorch.devtools.commands.output.words import is_or_are, number_of, sized
from executorch.devtools.commands.program_file import ProgramFile
from executorch.exir.dump import summary
from executorch.exir.scalar_type import ScalarType

if TYPE_CHECKING:
    from executorch.devtools.commands.origins import Origins


def report(arguments: argparse.Namespace) -> Report:
    file = ProgramFile(arguments.file)
    origins = None
    if arguments.etrecord is not None:
        from executorch.devtools.commands.origins import Origins

        origins = Origins.read(arguments.etrecord)
    whole = len(file.data)
    parts = owners.parts(file)
    facts = summary(file.program, file.data)
    delegated = owners.delegates(file)
    sentences = [
        f"{number_of(whole, 'byte')}: "
        + ", ".join(f"{part} {size / whole:.1%}" for part, size in parts.items()),
        *(_method_sentence(method) for method in facts["methods"]),
    ]
    if facts["external_data"]:
        count = len(facts["external_data"])
        sentences.append(
            f"{number_of(count, 'tensor')} {is_or_are(count)} in data files, not in this one."
        )
    if facts["user_metadata"]:
        sentences.append(f"user metadata: {facts['user_metadata']}")
    if arguments.extract is not None:
        sentences += [f"wrote {path}" for path in extract(file, arguments.extract)]
    tables = [
        Table("parts", "Parts of the file", _shares(parts, "part", whole), "bytes"),
        Table(
            "program", "Program data", _shares(owners.program_parts(file), "what", whole), "bytes"
        ),
        Table("operators", "Operators and the constants that they read", _operators(file), "bytes"),
        Table("delegates", "Delegates", _delegates(delegated), "bytes"),
        options_table(file),
        facts_table(file),
        Table(
            "delegated", "Operators inside of delegates", _delegated(delegated, origins), "bytes"
        ),
        Table("modules", "Modules", _modules(file, delegated, origins), "bytes"),
        Table("constants", "Largest constants", _constants(file, origins), "bytes", shown=10),
    ]
    return Report(
        str(arguments.file),
        sentences,
        tables,
        facts={"file_bytes": whole, "methods": facts["methods"]},
        figures=[
            Figure("size of the file", sized(whole)),
            *(
                Figure(part, f"{sized(size)}, {size / whole:.1%}")
                for part, size in sorted(parts.items(), key=lambda each: -each[1])[:2]
            ),
        ],
    )


def _method_sentence(method: Row) -> str:
    operators, delegates = sum(method["operators"].values()), sum(method["delegates"].values())
    arenas = sum(method["planned_bytes"])
    return (
        f"method {method['signature']}: {number_of(operators, 'call')} of operators, {delegates:,} of delegates, "
        f"{number_of(arenas, 'byte')} of planned memory"
    )


def _shares(sizes: dict[str, int], title: str, whole: int) -> list[Row]:
    return [
        {title: name, "bytes": size, "share": f"{size / whole:.1%}"} for name, size in sizes.items()
    ]


def _operators(file: ProgramFile) -> list[Row]:
    calls = Counter(call.name for call in file.calls if call.delegate is None)
    sizes = Counter[str]()
    for call, size in owners.constant_bytes(file).items():
        sizes[call.name if call else "(nothing reads these)"] += size
    rows = [
        {"operator": name, "calls": calls.get(name, 0), "bytes": sizes.get(name, 0)}
        for name in {*calls, *sizes}
    ]
    return sorted(rows, key=lambda row: (-row["bytes"], -row["calls"], row["operator"]))


def _delegates(delegated: list[owners.Delegated]) -> list[Row]:
    return [
        {
            "method": each.method,
            "delegate": each.index,
            "backend": each.backend,
            "operators": len(each.operators) if each.operators is not None else "unknown",
            "payload bytes": each.payload_bytes,
            "parts": ", ".join(f"{part.name} {part.size:,}" for part in each.parts),
            "bytes": each.payload_bytes + each.named_bytes,
        }
        for each in delegated
    ]


def _delegated(delegated: list[owners.Delegated], origins: Origins | None) -> list[Row]:
    """By kind without a record; each operator with one."""
    if origins is None:
        calls, sizes = Counter[str](), Counter[str]()
        for each in delegated:
            for kind, _, size in each.operators or ():
                calls[kind] += 1
                sizes[kind] += size
        return [
            {"operator": kind, "calls": calls[kind], "bytes": size}
            for kind, size in sizes.most_common()
        ]
    rows = [
        {
            "delegate": each.index,
            "operator": kind,
            "bytes": size,
            "module": origin.module if origin else "",
            "line": str(origin) if origin else "",
        }
        for each in delegated
        for kind, handle, size in each.operators or ()
        for origin in [next(iter(origins.of_handles(handle, each.method)), None)]
    ]
    return sorted(rows, key=lambda row: -row["bytes"])


def _modules(
    file: ProgramFile, delegated: list[owners.Delegated], origins: Origins | None
) -> list[Row]:
    if origins is None:
        return []
    sizes = Counter[str]()
    for call, size in owners.constant_bytes(file).items():
        found = origins.of_call(call) if call else []
        sizes[found[0].module if found else "(unknown)"] += size
    for each in delegated:
        for _, handle, size in each.operators or ():
            found = origins.of_handles(handle, each.method)
            sizes[found[0].module if found else "(unknown)"] += size
    return [
        {"module": name or "(the model)", "bytes": size}
        for name, size in sizes.most_common()
        if size
    ]


def _constants(file: ProgramFile, origins: Origins | None) -> list[Row]:
    rows = []
    for constant in sorted(file.constants, key=lambda each: -each.num_bytes):
        tensor = constant.tensor
        row = {
            "constant": constant.name,
            "dtype": ScalarType(tensor.scalar_type).name.lower() if tensor else "",
            "sizes": list(tensor.sizes) if tensor else [],
            "bytes": constant.num_bytes,
            "read by": list(dict.fromkeys(call.name for call in constant.readers)),
        }
        if origins is not None:
            lines = [str(origin) for call in constant.readers for origin in origins.of_call(call)]
            row["line"] = lines[0] if lines else ""
        rows.append(row)
    return rows
