# SPDX-License-Identifier: BSD-3-Clause
"""Compares the C++ listings with our headers, row by row."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from executorch.tools.api.cpp_declarations import Declarations, declared_by, listed_signature
from executorch.tools.api.listing import Row, read_cpp
from executorch.tools.api.verdict import Verdict


def _last(scope: str) -> str:
    parts = [p for p in scope.split("::") if p and not re.fullmatch(r"ET_\w+_NAMESPACE", p)]
    return parts[-1] if parts else ""


def _is_namespace(scope: str) -> bool:
    return _last(scope) == _last(scope).lower()


def _named(decls: Declarations, scope: str, name: str) -> bool:
    if _is_namespace(scope):
        return any(found == name for _, found in decls.names)
    return any(found == name and _last(at) == _last(scope) for at, found in decls.names)


def _loose(signature: str, scope: str) -> str:
    """Without what is optional to write: a class's own template arguments, its scope, const of pointers and values."""
    own = _last(scope)
    signature = re.sub(rf"\b{re.escape(own)}<[^<>()]*>", own, signature) if own else signature
    return re.sub(r"(?:\b\w+::|const (?=\w+(?:[,)]|$)))", "", signature)


def _judge(row: Row, decls: Declarations) -> Verdict:
    text = row.text
    if text.startswith("#define"):
        name = re.match(r"#define (\w+)", text)[1]
        return Verdict(row, "exists" if name in decls.macros else "missing")
    plain = re.match(r"(?:struct|class|enum|union|typedef|enumerator) (\w+)", text)
    if plain:
        return Verdict(row, "exists" if _named(decls, row.scope, plain[1]) else "missing")
    if re.match(r"(?:member|variable|externvar|property) ", text) or "(" not in text:
        name = re.findall(
            r"\w+", text.split("=")[0].split("[")[0] if "char[]" not in text else text
        )[-1]
        return Verdict(row, "exists" if _named(decls, row.scope, name) else "missing")
    name, signature = listed_signature(text)
    declared = {
        s for (at, found), sigs in decls.signatures.items() for s in sigs
        if found == name and (_is_namespace(row.scope) or _last(at) == _last(row.scope))
    }  # fmt: skip
    if _loose(signature, row.scope) in {_loose(one, row.scope) for one in declared}:
        return Verdict(row, "exists")
    if declared or _named(decls, row.scope, name):
        return Verdict(
            row, "differs", f"declared: {' | '.join(sorted(declared)) or 'not a function'}"
        )
    return Verdict(row, "missing")


def report(
    listings: list[Path], include_dirs: list[Path], defines: list[str], jobs: int = 2
) -> list[Verdict]:
    rows = [row for path in listings for row in read_cpp(path)]
    units = sorted({row.unit for row in rows})
    root = include_dirs[0] / "executorch"
    present = [u for u in units if (root / u).exists()]
    with ThreadPoolExecutor(jobs) as pool:
        found = dict(
            zip(
                present,
                pool.map(lambda u: declared_by(u, include_dirs, defines), present),
                strict=True,
            )
        )
    verdicts = []
    for row in rows:
        decls = found.get(row.unit)
        if decls is None:
            verdicts.append(Verdict(row, "missing", "no such header"))
        elif isinstance(decls, str):
            verdicts.append(Verdict(row, "missing", f"header does not compile alone: {decls}"))
        else:
            verdicts.append(_judge(row, decls))
    return verdicts
