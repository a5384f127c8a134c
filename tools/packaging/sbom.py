# SPDX-License-Identifier: BSD-3-Clause
"""The software bill of materials of a release: CycloneDX 1.6 in JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.utils import canonicalize_name

from executorch.tools.packaging.backend_extras import dynamic_metadata
from executorch.tools.packaging.sources import (
    COMPILED_IN,
    VENDORED,
    Package,
    Source,
    packages,
    project,
    sources,
)

Component = dict[str, Any]


def extras(root: Path) -> dict[str, list[str]]:
    given = project(root)["tool"]["scikit-build"]["metadata"]["optional-dependencies"]["given"]
    return dynamic_metadata("optional-dependencies", {"given": given})


def bill(root: Path, version: str, cache_folder: Path) -> dict[str, Any]:
    """The same for the same tree: no time, no number of its own."""
    about = project(root)["project"]
    itself = {
        "type": "library",
        "bom-ref": _purl("pypi", about["name"], version),
        "name": about["name"],
        "version": version,
        "description": about["description"],
        "licenses": [{"expression": about["license"]}],
        "purl": _purl("pypi", about["name"], version),
    }
    parts = [_source(each) for each in (*sources(root, cache_folder), *VENDORED)]
    parts += _packages(list(packages(root, extras(root))))
    references = [part["bom-ref"] for part in parts]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": itself},
        "components": parts,
        "dependencies": [{"ref": itself["bom-ref"], "dependsOn": references}],
    }


def _purl(kind: str, name: str, version: str) -> str:
    return f"pkg:{kind}/{name}" + (f"@{quote(version, safe='')}" if version else "")


def _source(each: Source) -> Component:
    purl = _purl("generic", each.name, each.version)
    return {
        "type": "library",
        "bom-ref": purl,
        "name": each.name,
        "version": each.version,
        "scope": "required",
        "hashes": [{"alg": "SHA-256", "content": each.sha256}],
        "licenses": [{"expression": each.licence}],
        "purl": purl,
        "properties": [{"name": "executorch:file", "value": each.file}],
    }


def _packages(found: list[Package]) -> list[Component]:
    """One component for each name, with all that asks for it; a version where one is pinned."""
    parts = []
    for name in sorted({each.requirement.name for each in found}):
        same = [each for each in found if each.requirement.name == name]
        pins = {
            pin.version
            for each in same
            for pin in each.requirement.specifier
            if pin.operator == "=="
        }
        uses = [each.use for each in same]
        part: Component = {"type": "library", "name": name, "scope": _scope(name, uses)}
        if len(pins) == 1:
            part["version"] = pins.pop()
        part["purl"] = part["bom-ref"] = _purl(
            "pypi", canonicalize_name(name), part.get("version", "")
        )
        if same[0].licence:
            part["licenses"] = [{"license": {"name": same[0].licence}}]
        part["properties"] = [
            {"name": f"executorch:{each.use}", "value": str(each.requirement)} for each in same
        ]
        parts.append(part)
    return parts


def _scope(name: str, uses: list[str]) -> str:
    if "run" in uses or name in COMPILED_IN:
        return "required"
    return "excluded" if uses == ["build"] else "optional"
