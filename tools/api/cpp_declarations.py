# SPDX-License-Identifier: BSD-3-Clause
"""What a C++ header declares, asked of clang: (scope, name) -> signatures, and its macros."""

import json
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

_SCOPES = {
    "NamespaceDecl",
    "CXXRecordDecl",
    "ClassTemplateDecl",
    "EnumDecl",
    "ClassTemplatePartialSpecializationDecl",
}
_FUNCTIONS = {
    "FunctionDecl",
    "CXXMethodDecl",
    "CXXConstructorDecl",
    "CXXDestructorDecl",
    "CXXConversionDecl",
}
_UNNAMED_AFTER_CLASS = {"CXXConstructorDecl", "CXXDestructorDecl"}
# What clang dumps: declarations whose qualified name has one of these in it; `torch` stands in `executorch`, too.
_DUMPED = ("torch", "c10", "et_t", "pal_", "DYNAMIC_LIBRARY_")


@dataclass
class Declarations:
    signatures: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    names: set[tuple[str, str]] = field(default_factory=set)
    macros: set[str] = field(default_factory=set)


def normalize_type(text: str) -> str:
    """Drops what differs only in spelling: attributes, qualifiers of namespaces, spaces, by-value const."""
    text = re.sub(
        r"\b(ET_\w+|__ET_\w+|C10_\w+|virtual|static|inline|constexpr|explicit|typename|struct|class|enum)\b",
        "",
        text,
    )
    text = re.sub(r"\b(_Bool)\b", "bool", text)
    text = re.sub(r"\bunsigned\b(?! (?:int|char|short|long))", "unsigned int", text)
    text = re.sub(r"\s*\.\.\.\s*\w*$", "...", text)
    text = re.sub(r"(?:::)?(?:\b[a-z_][a-z_0-9]*::)+(?=[A-Za-z_])", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s*([<>,&*()])\s*", r"\1", text)
    return re.sub(r"^const (\w[\w<>,]*)$", r"\1", text)


def _split_arguments(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for char in text:
        depth += (char in "<([{") - (char in ">)]}")
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [p for p in [*parts, current] if p.strip()]


def parameter_type(listed: str) -> str:
    """`const Tensor & a = x` -> normalized `const Tensor&`."""
    depth, end = 0, len(listed)
    for i, char in enumerate(listed):
        depth += (char in "<([{") - (char in ">)]}")
        if char == "=" and depth == 0:
            end = i
            break
    text = listed[:end].strip()
    array = re.match(r"(.*?)\s*\b\w+\s*(\[\w*\])$", text)
    if array:
        return normalize_type(array[1] + "*")
    reference_to_array = re.match(r"(.*)\(\s*&\s*\w*\s*\)\s*(\[\w+\])$", text)
    if reference_to_array:
        return normalize_type(f"{reference_to_array[1]}(&){reference_to_array[2]}")
    text = re.sub(r"^unsigned (?!int|char|short|long)", "unsigned int ", text)
    named = re.match(r"(.*[\s&*>])([A-Za-z_]\w*)$", text)
    if named and named[1].strip() not in {"const", "unsigned", "ET_UNUSED", "__ET_UNUSED", ""}:
        text = named[1]
    return normalize_type(text)


def listed_signature(text: str) -> tuple[str, str]:
    """(name, normalized `(types) const`) of a listed function."""
    text = re.sub(r"\s*\[[\w:,\s=]*\]$", "", text)
    text = re.sub(r"\boperator \(\)", "operator()", text)
    start = (
        text.index("(", text.index("operator()") + 10) if "operator()" in text else text.index("(")
    )
    depth = 0
    for end in range(start, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            break
    head, tail = text[:start].rstrip(), text[end + 1 :]
    name = re.search(r"(operator\s*\S.*|~?\w+)$", head)
    types = [t for t in map(parameter_type, _split_arguments(text[start + 1 : end])) if t != "void"]
    const = " const" if re.search(r"\bconst\b", tail) else ""
    return re.sub(r"\s+", "", name[0]) if name else head, f"({','.join(types)}){const}"


def _declared_signature(qual_type: str) -> str:
    # "Ret (A, B) const": the argument list is the last top-level parenthesis.
    depth, start = 0, -1
    for i in range(len(qual_type) - 1, -1, -1):
        depth += (qual_type[i] == ")") - (qual_type[i] == "(")
        if qual_type[i] == "(" and depth == 0:
            start = i
            break
    end = qual_type.rindex(")")
    types = [
        t for t in map(normalize_type, _split_arguments(qual_type[start + 1 : end])) if t != "void"
    ]
    const = " const" if "const" in qual_type[end:] else ""
    return f"({','.join(types)}){const}"


def _walk(node: dict, scope: str, out: Declarations) -> None:
    kind, name = node.get("kind", ""), node.get("name", "")
    if kind in _UNNAMED_AFTER_CLASS:  # `Result<T>` is the constructor of Result
        name = name.partition("<")[0]
    if node.get("isImplicit") and kind not in _FUNCTIONS:
        return
    if kind == "UsingDecl":
        name = name.rpartition("::")[2]
    if name:
        out.names.add((scope, re.sub(r"\s+", "", name)))
    if kind in _FUNCTIONS and "type" in node:
        out.signatures[scope, re.sub(r"\s+", "", name)].add(
            _declared_signature(node["type"]["qualType"])
        )
    inner = (
        f"{scope}::{name}".strip(":")
        if kind in _SCOPES and name and kind != "ClassTemplateDecl"
        else scope
    )
    for child in node.get("inner", ()):
        _walk(child, inner, out)


def declared_by(header: str, include_dirs: list[Path], defines: list[str]) -> Declarations | str:
    """Everything `#include <executorch/header>` declares in our namespaces, or the compiler's message."""
    source = f"#include <executorch/{header}>\n"
    base = [
        "clang++-19",
        "-std=c++17",
        "-x",
        "c++",
        "-",
        *[f"-I{d}" for d in include_dirs],
        *[f"-D{d}" for d in defines],
    ]
    read = subprocess.run([*base, "-dD", "-E"], input=source, capture_output=True, text=True)
    if read.returncode:
        return read.stderr.splitlines()[0] if read.stderr else "does not preprocess"
    out = Declarations()
    for directive, name in re.findall(r"^#(define|undef) (\w+)", read.stdout, re.M):
        (out.macros.add if directive == "define" else out.macros.discard)(name)
    for namespace in (*_DUMPED, "std"):
        if namespace == "std" and "c10/util" not in header and "headeronly" not in header:
            continue
        if namespace not in read.stdout:
            continue
        run = subprocess.run(
            [*base, "-fsyntax-only", "-Xclang", "-ast-dump=json", "-Xclang", f"-ast-dump-filter={namespace}"],
            input=source, capture_output=True, text=True,
        )  # fmt: skip
        if run.returncode:
            return run.stderr.splitlines()[0]
        _read_dump(run.stdout, out)
    return out


def _read_dump(text: str, out: Declarations) -> None:
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        node, end = decoder.raw_decode(text, at)
        heading = re.search(r"Dumping ([^\n]*):\n$", text[:at][-400:])
        qualified = heading[1] if heading else node.get("name", "")
        _walk(node, qualified.rpartition("::")[0], out)
        at = text.find("{", end)
