# SPDX-License-Identifier: BSD-3-Clause
"""The extras of the package are those of pyproject.toml and of every backend's folder."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomllib

from executorch.backends.discovery import all_backends
from tools.packaging.backend_extras import ROOT, dynamic_metadata, extras

FIELD = "optional-dependencies"
WRITTEN = """BACKENDS = (
    BackendManifest(__package__, "npu", extras={"npu": ("npu-sdk>=2; platform_system == 'Linux'", "numpy")}),
    BackendManifest(__package__, "other"),
)
"""


def test_what_is_read_is_what_backends_say() -> None:
    expected = {
        name: list(each) for one in all_backends().values() for name, each in one.extras.items()
    }
    found = dynamic_metadata(FIELD, {"given": {"llm": ["tokenizers"]}})
    assert found == {"llm": ["tokenizers"], **expected}


def test_a_folder_adds_its_own(tmp_path: Path) -> None:
    (tmp_path / "npu").mkdir()
    (tmp_path / "npu" / "backend.py").write_text(WRITTEN)
    assert extras(tmp_path) == {"npu": ["npu-sdk>=2; platform_system == 'Linux'", "numpy"]}
    (tmp_path / "npu" / "backend.py").write_text("BackendManifest(extras=made())\n")
    with pytest.raises(RuntimeError, match=r"backend.py:1: extras: expected a dict"):
        extras(tmp_path)


def test_other_fields_are_refused() -> None:
    with pytest.raises(RuntimeError, match="expected the setting `given`"):
        dynamic_metadata("dependencies", {"given": {}})


def test_the_builder_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """As pip asks it for metadata, from the root."""
    reading = pytest.importorskip("scikit_build_core.settings.skbuild_read_settings")
    metadata = pytest.importorskip("scikit_build_core.build.metadata")
    monkeypatch.chdir(ROOT)
    settings = reading.SettingsReader.from_file(
        ROOT / "pyproject.toml", state="metadata_wheel"
    ).settings
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found = metadata.get_standard_metadata(project, settings).optional_dependencies
    given = project["tool"]["scikit-build"]["metadata"][FIELD]["given"]
    assert {name: list(map(str, each)) for name, each in found.items()}.keys() == {
        *given,
        *extras(ROOT / "backends"),
    }
