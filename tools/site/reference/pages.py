# SPDX-License-Identifier: BSD-3-Clause
"""All pages of the interfaces, and the page that lists them. Links lead from the repository's root."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from executorch.tools.site.reference import cpp, headers, python

# A class that a header defines, not in another.
CLASS = re.compile(
    r"^(?:class|struct) (?:\[\[nodiscard\]\] )?(\w+)(?: final)?(?: : [^{;]*)? \{", re.M
)
ABSENT = (
    "site: no pages of C++ headers, whose list leads to the headers instead: expected doxygen on the PATH (make setup,"
    " or apt-get install doxygen), found none"
)


def pages(root: Path) -> dict[str, str]:
    """By name of the page. Without Doxygen all but those of headers."""
    of_headers = {}
    if shutil.which(headers.PROGRAM):
        with tempfile.TemporaryDirectory() as folder:
            found = cpp.Headers(headers.read(root, Path(folder)))
        for path in headers.paths():
            of_headers[cpp.page_name(path)] = cpp.page(path, (root / path).read_text(), found)
    else:
        print(ABSENT, file=sys.stderr)
    modules = {f"api/{each.name}": python.page(each) for each in python.MODULES}
    listed = cpp_index(root, set(of_headers))
    return {"api/index": index(list(modules)), **modules, cpp.CPP: listed, **of_headers}


def index(modules: list[str]) -> str:
    rows = [
        f"| {{doc}}`/api/{each.name}` | {', '.join(f'`{n}`' for n in each.names)} |"
        for each in python.MODULES
    ]
    return f"""# Interfaces

Names of Python and C++ that programs are written with. What else a module has may change between versions;
[compatibility](runtime/COMPATIBILITY.md#source-code) says what stays. C++: {{doc}}`its headers </{cpp.CPP}>`. Java and
Kotlin: [their page](docs/guide/java.md); C and what calls it: [other languages](docs/guide/other_languages.md); Swift
and Objective-C: [their page](extension/apple/README.md).

| module | names |
|---|---|
{chr(10).join(rows)}

{_tree([f"{name.rpartition('/')[2]} </{name}>" for name in modules] + [f"/{cpp.CPP}"])}"""


def cpp_index(root: Path, made: set[str]) -> str:
    """Headers by what they are for; each leads to its page where that was made, else to its text."""
    lines = [
        "# C++ interface",
        "",
        "Headers are the contract: who owns what, how long it lives, which thread may call, which errors come. Below"
        " `executorch/` in programs, `include/executorch` of the installed package.",
    ]
    for area, paths in headers.BY_AREA.items():
        lines += ["", f"## {area}", "", "| header | classes | what it is |", "|---|---|---|"]
        for path in paths:
            text = (root / path).read_text()
            name = cpp.page_name(path)
            link = f"{{doc}}`{path} </{name}>`" if name in made else f"[{path}]({path})"
            classes = ", ".join(f"`{each}`" for each in dict.fromkeys(CLASS.findall(text)))
            lines.append(f"| {link} | {classes} | {_cell(cpp.summary(text))} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _tree(names: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```", ""])
