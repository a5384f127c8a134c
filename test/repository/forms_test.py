# SPDX-License-Identifier: BSD-3-Clause
"""Forms for issues and pull requests ask what is here to be asked; workflows call commands of this repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from executorch.backends.discovery import all_backends
from executorch.cli.table import BY_NAME
from executorch.test.repository.sources import ROOT

FOLDER = ROOT / ".github"
FORMS = sorted((FOLDER / "ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = sorted((FOLDER / "workflows").glob("*.yml"))
KINDS = {"dropdown", "input", "textarea"}


def read(path: Path) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_has_what_the_site_of_issues_demands(form: Path) -> None:
    read_form = read(form)
    assert read_form.keys() == {"name", "description", "labels", "body"}
    fields = read_form["body"]
    assert {field["type"] for field in fields} <= KINDS
    names = [field["id"] for field in fields]
    assert len(names) == len(set(names)) and all(field["attributes"]["label"] for field in fields)
    commands = re.findall(r"`executorch ([\w-]+)", form.read_text())
    assert commands and all(each == "--version" or each in BY_NAME for each in commands)


@pytest.mark.req("PRJ-028")
@pytest.mark.parametrize("backend, label", [("qualcomm", "qcom_aisw"), ("openvino", "openvino")])
def test_issues_of_a_backend_have_its_documented_label(backend: str, label: str) -> None:
    assert read(FOLDER / "ISSUE_TEMPLATE" / f"{backend}.yml")["labels"] == [label]


def test_the_form_of_backends_has_all() -> None:
    """MediaTek's has no backend.py yet; those to copy are nobody's."""
    field = read(FOLDER / "ISSUE_TEMPLATE/backend.yml")["body"][0]
    known = {name for name in all_backends() if not name.startswith("skeleton")}
    assert field["attributes"]["options"] == sorted(known | {"mediatek"})


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_commands_of_ours_alone(workflow: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M))
    steps = [step for job in read(workflow)["jobs"].values() for step in job["steps"]]
    runs = [step["run"] for step in steps if "run" in step]
    assert runs
    for run in runs:
        command, *arguments = run.split()
        is_target = command == "make" and len(arguments) == 1 and arguments[0] in targets
        assert is_target or (ROOT / command).is_file(), run
    used = [step["uses"] for step in steps if "uses" in step]
    assert all(each.startswith("actions/") for each in used)


@pytest.mark.req("PRJ-032")
def test_each_night_has_a_release() -> None:
    nightly = read(FOLDER / "workflows/nightly.yml")
    assert nightly[True]["schedule"]  # YAML reads the key `on` as true
    runs = [step.get("run") for job in nightly["jobs"].values() for step in job["steps"]]
    assert "make release" in runs
    steps = read(FOLDER / "workflows/test.yml")["jobs"]["test"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        ".ci/run",
        "scripts/viable_strict.sh",
    ]


def test_the_form_of_pull_requests_names_what_is_here() -> None:
    text = (FOLDER / "PULL_REQUEST_TEMPLATE.md").read_text()
    named = re.findall(r"docs/[\w./]+\.md|CONTRIBUTING\.md", text)
    assert len(named) == 3 and all((ROOT / each).is_file() for each in named)
