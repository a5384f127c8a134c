# SPDX-License-Identifier: BSD-3-Clause
"""The demo apps: their logic by XCTests on this system; their views are read by Swift's parser, which is all that can
be done without SwiftUI."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import torch
import yaml

from executorch.exir import to_edge
from executorch.extension.apple.test.swift import NEEDS_SWIFT, in_root, write_package_of_frameworks
from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.e2e.build_tree import loadable
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.repository.sources import ROOT

APPS = ROOT / "examples" / "demo-apps" / "apple"
LOGIC = {"etLLM": "Chat", "ExecuTorchDemo": "Classification"}
LABELS = ("cat", "dog", "sheep", "person", "bicycle")
pytestmark = pytest.mark.skipif(not APPS.exists(), reason="needs the folder of the apps")


def views() -> list[Path]:
    return sorted(APPS.glob("*/App/*.swift"))


@pytest.mark.parametrize("app", LOGIC)
def test_views_know_the_logic_and_not_the_runtime(app: str) -> None:
    """Thin: what is to be tested stands beside them, and knows no view."""
    shown = {
        name for path in views() for name in re.findall(r"^import (\w+)", path.read_text(), re.M)
    }
    assert LOGIC[app] in shown and not shown & {"ExecuTorch", "ExecuTorchLLM"}
    for path in (APPS / app / LOGIC[app]).glob("*.swift"):
        assert not re.search(r"^import (SwiftUI|UIKit|AppKit|PhotosUI)", path.read_text(), re.M)
    (start,) = [path for path in views() if path.parts[-3] == app and "@main" in path.read_text()]
    assert f'WindowGroup("{app}")' in start.read_text()


def test_the_project_of_xcode_has_both_apps() -> None:
    """Its views, and the product that has what they call. Settings are those that Xcode knows by this name."""
    file = APPS / "xcode" / "project.yml"
    project = yaml.safe_load(file.read_text())
    manifest = (APPS / "Package.swift").read_text()
    assert (file.parent / project["packages"]["DemoApps"]["path"]).resolve() == APPS
    assert re.search(r'name: "(\w+)"', manifest)[1] == "DemoApps"
    (oldest,) = re.findall(r"\.iOS\(\.v(\d+)\)", manifest)
    assert project["targets"].keys() == LOGIC.keys()
    for app, target in project["targets"].items():
        shown, *resources = target["sources"]
        assert (file.parent / shown).resolve() == APPS / app / "App"
        assert all(each["optional"] for each in resources)
        assert target["dependencies"] == [{"package": "DemoApps", "product": LOGIC[app]}]
        assert f'.library(name: "{LOGIC[app]}"' in manifest
        assert target["deploymentTarget"] == f"{oldest}.0"
    for settings in (project["settings"], project["targets"]["etLLM"]["settings"]):
        assert set(settings.values()) == {True}
        assert all(
            re.fullmatch(r"(GENERATE_INFOPLIST_FILE|INFOPLIST_KEY_\w+)", key) for key in settings
        )


@pytest.mark.full
@NEEDS_SWIFT
def test_the_views_are_swift(tmp_path: Path) -> None:
    assert len(views()) == 6
    names = " ".join(str(path) for path in views())
    (tmp_path / "wrong.swift").write_text(views()[0].read_text().replace("{", "", 1))
    in_root(
        tmp_path,
        f"swiftc -frontend -parse {names}; ! swiftc -frontend -parse wrong.swift 2>wrong.txt",
    )
    assert "error:" in (tmp_path / "wrong.txt").read_text()


class Classes(torch.nn.Module):
    """Means of colours in pieces of the picture, and a layer on them."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3 * 16, len(LABELS))

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        return self.linear(torch.nn.functional.avg_pool2d(picture, 56).flatten(1))


def write_classification(folder: Path) -> None:
    """A picture, what PyTorch makes of it, a program with its labels, and the three best."""
    torch.manual_seed(5)
    width, height, size, crop = 320, 240, 256, 224
    pixels = torch.randint(0, 256, (height, width, 4), dtype=torch.uint8)
    (folder / "picture.rgba").write_bytes(pixels.numpy().tobytes())
    (folder / "size.txt").write_text(f"{width} {height}")
    colours = pixels[..., :3].permute(2, 0, 1).unsqueeze(0).float() / 255
    resized = torch.nn.functional.interpolate(
        colours, (size, width * size // height), mode="bilinear", align_corners=False
    )
    top, left = (size - crop) // 2, (resized.shape[3] - crop) // 2
    cropped = resized[..., top : top + crop, left : left + crop]
    mean = torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1)
    deviation = torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1)
    tensor = ((cropped - mean) / deviation).contiguous()
    (folder / "tensor.f32").write_bytes(tensor.numpy().tobytes())
    model = Classes().eval()
    exported = torch.export.export(model, (tensor,))
    (folder / "classes.pte").write_bytes(to_edge(exported).to_executorch().buffer)
    (folder / "labels.txt").write_text("\n".join(LABELS) + "\n")
    best = model(tensor).softmax(1)[0].topk(3)
    rows = [f"{LABELS[i]} {p:.7f}" for p, i in zip(best.values.tolist(), best.indices.tolist())]
    (folder / "best.txt").write_text("\n".join(rows))


@pytest.mark.full
@NEEDS_SWIFT
def test_the_logic_of_the_apps(tmp_path: Path, program_store: ProgramStore) -> None:
    llama = tiny_llama.kept(tmp_path / "llama", program_store)
    programs = tmp_path / "programs"
    programs.mkdir()
    shutil.copy(llama.program, programs / "llm.pte")
    shutil.copy(llama.tokenizer, programs / "llm.json")
    write_classification(programs)
    # A package is known by the name of its folder: a checkout called apple would be the package of the apps.
    checkout = tmp_path / "executorch"
    apps = checkout / APPS.relative_to(ROOT)
    shutil.copytree(APPS, apps)
    for name in ("Package.swift", "extension"):
        (checkout / name).symlink_to(ROOT / name)
    library = loadable("executorch_c").parent
    found = in_root(
        tmp_path,
        f"export EXECUTORCH_FROM_SOURCE=1 EXECUTORCH_PROGRAMS={programs}; "
        f"swift test --package-path {apps} --scratch-path {tmp_path}/build -j 1 "
        f"-Xlinker -L{library} -Xlinker -rpath -Xlinker {library} "
        # A library of Swift 6.0 for Linux, Observation's, lacks a function for its fatal errors.
        "-Xlinker --allow-shlib-undefined",
    )
    counts = re.findall(r"Executed (\d+) tests, with (\d+) failure", found)
    assert counts and counts[-1] == ("12", "0"), found[-3000:]
    assert "skipped" not in found
    print(counts[-1][0], "tests of the apps")


@pytest.mark.full
@NEEDS_SWIFT
def test_the_apps_take_products_that_are_built(tmp_path: Path) -> None:
    """As on a Mac behind build_apple_frameworks.sh; SwiftPM names what would not be there."""
    checkout = tmp_path / "executorch"
    write_package_of_frameworks(checkout)
    shutil.copytree(APPS, checkout / APPS.relative_to(ROOT))
    graph = f"swift package --package-path {checkout / APPS.relative_to(ROOT)} show-dependencies"
    assert "executorch" in in_root(tmp_path, graph)
    shutil.rmtree(checkout / "cmake-out" / "kernels_quantized.xcframework")
    purge = f"swift package --package-path {checkout} purge-cache"
    missing = in_root(tmp_path, f"{purge}; ! {graph}")
    assert "product 'kernels_quantized' required by package 'apple' target 'Chat'" in missing
