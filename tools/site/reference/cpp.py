# SPDX-License-Identifier: BSD-3-Clause
"""Pages of C++ headers, from the XML that Doxygen writes: each name that they declare, with its comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, parse

from executorch.tools.site.reference import headers
from executorch.tools.site.reference.docstrings import as_rst

CPP = "api/cpp"
# Scopes whose names are nobody's to use.
HIDDEN = re.compile(
    r"(^|::)(\w*internal|detail|impl|deserialization|std|torch|@\d+|unused_dtype)(::|$)"
)
MARKS = {
    "ET_DEPRECATED": "Deprecated: :doc:`/api_life_cycle` says what to write instead.",
    "ET_EXPERIMENTAL": "Experimental: it may change in any release.",
}
INDENT = "   "


def page_name(path: str) -> str:
    return f"{CPP}/{path.removesuffix('.h')}"


class Headers:
    """Doxygen's XML, which is one file for each class and namespace, by header."""

    def __init__(self, folder: Path) -> None:
        roots = {
            each.stem: parse(each).getroot().find("compounddef") for each in folder.glob("*.xml")
        }
        self._compounds = {stem: root for stem, root in roots.items() if root is not None}
        classes = {
            _text(each, "compoundname") for each in self._compounds.values() if _is_class(each)
        }
        self._by_header: dict[str, list[tuple[int, list[str]]]] = {}
        for _, compound in sorted(self._compounds.items()):
            name, kind = _text(compound, "compoundname"), compound.get("kind")
            if _is_class(compound):
                scope = name.rpartition("::")[0]
                if scope not in classes and "<" not in name and not HIDDEN.search(scope):
                    self._add(compound, self._class(compound, name))
            elif kind in ("namespace", "file") and not HIDDEN.search(name):
                scope = f"{name}::" if kind == "namespace" else ""
                for member in compound.findall("sectiondef/memberdef"):
                    self._add(member, _member(member, scope))

    def _add(self, found: Element, lines: Iterator[str]) -> None:
        place = found.find("location")
        if place is not None:
            header = Path(place.get("file", "")).name
            self._by_header.setdefault(header, []).append((_line(found), list(lines)))

    def of(self, path: str) -> list[str]:
        """Directives of what the header declares, in its order."""
        return list(_in_order(self._by_header.get(headers.flat(path), [])))

    def _class(self, found: Element, name: str) -> Iterator[str]:
        bases = [
            f"public {''.join(base.itertext())}"
            for base in found.findall("basecompoundref")
            if base.get("prot") == "public" and not HIDDEN.search("".join(base.itertext()))
        ]
        final = " final" if found.get("final") == "yes" else ""
        declared = f"{_template(found)}{name}{final}{' : ' if bases else ''}{', '.join(bases)}"
        yield from _entry(f"cpp:{found.get('kind')}", declared, _comment(found))
        inside = [
            (_line(member), list(_member(member)))
            for member in found.findall("sectiondef/memberdef")
            if member.get("prot") != "private"
        ]
        for nested in found.findall("innerclass"):
            inner = self._compounds.get(nested.get("refid", ""))
            if inner is not None and nested.get("prot") != "private":
                own = _text(inner, "compoundname").rpartition("::")[2]
                if own.isidentifier():
                    inside.append((_line(inner), list(self._class(inner, own))))
        yield from _indented(_in_order(inside))


def _is_class(found: Element) -> bool:
    return found.get("kind") in ("class", "struct", "union")


def _in_order(entries: list[tuple[int, list[str]]]) -> Iterator[str]:
    """Each name once: what is declared and defined apart has two entries."""
    seen: set[str] = set()
    for _, lines in sorted(entries, key=lambda each: each[0]):
        if lines and lines[0] not in seen:
            seen.add(lines[0])
            yield from lines


def _indented(lines: Iterable[str]) -> Iterator[str]:
    yield from (f"{INDENT}{line}".rstrip() for line in lines)


def _line(found: Element) -> int:
    place = found.find("location")
    return int(place.get("line", "0")) if place is not None else 0


def _text(found: Element, tag: str) -> str:
    child = found.find(tag)
    return "" if child is None else " ".join("".join(child.itertext()).split())


def _comment(found: Element) -> list[str]:
    parts = (found.find(tag) for tag in ("briefdescription", "detaileddescription"))
    texts = [
        each.text or "" for part in parts if part is not None for each in part.iter("verbatim")
    ]
    return as_rst("\n".join(texts).strip("\n").splitlines())


def _entry(
    directive: str, declared: str, comment: list[str], marks: Iterable[str] = ()
) -> Iterator[str]:
    yield f".. {directive}:: {' '.join(declared.split())}"
    yield ""
    for mark in marks:
        yield from (f"{INDENT}{mark}", "")
    yield from _indented(comment)
    yield ""


def _template(found: Element) -> str:
    listed = found.find("templateparamlist")
    if listed is None:
        return ""
    return f"template <{', '.join(_parameter(each) for each in listed.findall('param'))}> "


def _parameter(found: Element) -> str:
    name, value = _text(found, "declname"), _text(found, "defval")
    kind = _text(found, "type")
    return f"{kind}{f' {name}' if name else ''}{f' = {value}' if value else ''}"


def _member(found: Element, scope: str = "") -> Iterator[str]:
    kind, name, arguments = found.get("kind"), _text(found, "name"), _text(found, "argsstring")
    comment, typed = _comment(found), _text(found, "type")
    marks = [text for mark, text in MARKS.items() if mark in typed]
    typed = re.sub(r"\bET_\w+ ?", "", typed)
    head = _template(found) + ("static " if found.get("static") == "yes" else "")
    if kind == "function" and "=delete" not in arguments:
        head += "explicit " if found.get("explicit") == "yes" else ""
        head += "virtual " if found.get("virt") in ("virtual", "pure-virtual") else ""
        arguments = re.sub(r"=(?=0$|default$)", " = ", arguments)
        yield from _entry("cpp:function", f"{head}{typed} {scope}{name}{arguments}", comment, marks)
    elif kind == "enum" and name.isidentifier():
        strong = "cpp:enum-class" if found.get("strong") == "yes" else "cpp:enum"
        yield from _entry(strong, f"{scope}{name}{f' : {typed}' if typed else ''}", comment, marks)
        for value in found.findall("enumvalue"):
            declared = f"{_text(value, 'name')} {_text(value, 'initializer')}"
            yield from _indented(_entry("cpp:enumerator", declared, _comment(value)))
    elif kind == "typedef" and typed and not typed.startswith("struct"):
        declared = f"{_template(found)}{scope}{name} = {typed}{arguments}"
        yield from _entry("cpp:type", declared, comment, marks)
    elif kind == "variable":
        yield from _entry("cpp:member", f"{head}{typed} {scope}{name}{arguments}", comment, marks)
    elif kind == "define" and comment:
        names = [_text(each, "defname") for each in found.findall("param")]
        yield from _entry("c:macro", f"{name}({', '.join(names)})" if names else name, comment)


def page(path: str, text: str, found: Headers) -> str:
    """Links lead from the repository's root. The side bar, which every page has, has none of them: it would double."""
    return f"""---
orphan: true
---

# {Path(path).name}: {summary(text).replace("<", "&lt;")}

```cpp
#include <executorch/{path}>
```

```{{eval-rst}}
{chr(10).join(as_rst(headers.about(text).splitlines()))}
```

The header itself: [{path}]({path}). All headers: {{doc}}`/{CPP}`.

```{{eval-rst}}
{chr(10).join(found.of(path))}
```
"""


def summary(text: str) -> str:
    """The first sentence of what a header says of itself, up to a colon."""
    first = " ".join(headers.about(text).split())
    return re.split(r"(?<=[.;:]) ", first, maxsplit=1)[0].rstrip(".;:")
