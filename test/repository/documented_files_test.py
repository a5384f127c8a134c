# SPDX-License-Identifier: BSD-3-Clause
"""Files that documents name stand where they say, and hold what they say."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import executorch
from executorch.backends.discovery import backends
from executorch.test.repository.sources import ROOT, files
from executorch.version import __version__

FILES = (
    pytest.param("runtime/core/error.h", marks=pytest.mark.req("RT-C06")),
    "runtime/COMPATIBILITY.md",
    pytest.param("src/README.md", marks=pytest.mark.req("PY-015")),
    pytest.param(
        "examples/portable/executor_runner/executor_runner.cpp", marks=pytest.mark.req("EXT-C03")
    ),
    "CMakeLists.txt",
    "CMakePresets.json",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "install_executorch.sh",
    "install_requirements.sh",
    "schema/program.fbs",
    "schema/scalar_type.fbs",
    "extension/flat_tensor/serialize/flat_tensor.fbs",
    "tools/cmake/Utils.cmake",
    "tools/cmake/Codegen.cmake",
    "tools/cmake/preset/llm.cmake",
    *"""codegen/tools/gen_oplist.py extension/aten_util/aten_bridge.h extension/evalue_util/print_evalue.h
    extension/llm/custom_ops extension/llm/export/config/llm_config.py extension/pybindings/README.md
    kernels/portable/functions.yaml runtime/core/portable_type/tensor.h runtime/core/result.h
    runtime/executor/memory_manager.h runtime/platform/assert.h runtime/platform/default/minimal.cpp
    runtime/platform/default/posix.cpp runtime/platform/log.h runtime/platform/platform.h
    runtime/executor/test/test_backend_with_delegate_mapping.cpp extension/pybindings/pybindings.cpp
    examples/raspberry_pi/setup.sh examples/raspberry_pi/pico2/build_firmware_pico.sh
    backends/xnnpack/CMakeLists.txt backends/xnnpack/_passes backends/xnnpack/serialization/schema.fbs
    backends/apple/coreml/compiler/coreml_preprocess.py backends/apple/coreml/partition/coreml_partitioner.py
    backends/vulkan/partitioner/vulkan_partitioner.py backends/vulkan/runtime/graph/ops/glsl
    backends/cadence/aot/compiler.py backends/cadence/generic""".split(),
    *(
        pytest.param(f"examples/arm/{name}", marks=pytest.mark.req("PRJ-018"))
        for name in """ethos_u_minimal_example.ipynb vgf_minimal_example.ipynb aot_arm_compiler.py executor_runner
        ethos-u-setup/arm-none-eabi-gcc.cmake setup.sh run.sh""".split()
    ),
)


@pytest.mark.parametrize("name", FILES)
def test_a_documented_file_is_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 0


@pytest.mark.req("PRJ-029")
def test_the_documented_suites_are_there() -> None:
    """test/ of the whole product, the example's own script, and one of each backend that users have."""
    assert os.access(ROOT / "examples/devtools/test_example_runner.sh", os.X_OK)
    folders = {each.package.removeprefix("executorch.") for each in backends().values()}
    places = ["test", *(f"{folder.replace('.', '/')}/test" for folder in folders)]
    assert len(places) > 7
    assert [each for each in places if not list((ROOT / each).rglob("*_test.py"))] == []


@pytest.mark.req("PRJ-019")
@pytest.mark.parametrize(
    ("name", "folder", "words"),
    [
        ("mv2/python", "docs/guide/getting_started.md", "## Run in Python\n"),
        ("mv2/cpp", "docs/guide/getting_started.md", "## Run in C++\n"),
        ("mv3/apple/ExecuTorchDemo", "examples/demo-apps/apple", "`ExecuTorchDemo`"),
        ("llm/apple", "examples/demo-apps/apple", "`etLLM`"),
        ("dl3/android/DeepLabV3Demo", "examples/demo-apps/android", "`DeepLabV3Demo`"),
        ("llm/android/LlamaDemo", "examples/demo-apps/android", "`LlamaDemo`"),
        ("program-data-separation", "docs/guide/export_and_lowering.md", "external_constants"),
        ("program-data-separation/cpp/lora_example", "examples/models/llama", "llama_main"),
    ],
)
def test_examples_of_the_companion_repository_have_their_like(
    name: str, folder: str, words: str
) -> None:
    """The row of the table leads to a page that has it; other tests run what the page says."""
    (row,) = re.findall(
        rf"^\|[^|\n]*`{re.escape(name)}`[^|\n]*\|(.*)\|$",
        (ROOT / "examples/README.md").read_text(),
        re.M,
    )
    links = [(ROOT / "examples" / each).resolve() for each in re.findall(r"\]\(([^)#]+)", row)]
    (page,) = (each for each in links if each.is_relative_to(ROOT / folder))
    assert words in page.read_text()


ADOPTERS = "Instagram|WhatsApp|Messenger|Ray-Ban|Quest 3|Liquid AI|PrivateMind|NimbleEdge"


@pytest.mark.req("PRJ-023")
def test_what_others_do_with_another_product_is_not_claimed() -> None:
    """Stories of adopters say nothing of this product: no text tells them, and the table of page names says why."""
    texts = [
        each for each in files() if each.suffix in (".md", ".ipynb") and each.parts[0] != "test"
    ]
    assert len(texts) > 100
    assert [each for each in texts if re.search(ADOPTERS, (ROOT / each).read_text())] == []
    names = (ROOT / "tools/site/page_names.tsv").read_text()
    assert re.search(r"^success-stories\t-\t\w+", names, re.M)


@pytest.mark.req("PRJ-C04")
def test_the_examples_of_devtools_have_their_newer_name() -> None:
    assert (ROOT / "examples/devtools/README.md").exists() and not (ROOT / "examples/sdk").exists()


@pytest.mark.req("BLD-011")
def test_links_of_src_are_links_and_windows_users_are_told() -> None:
    """Git writes them as files of one line where core.symlinks is off."""
    assert "git config --system core.symlinks true" in (ROOT / "src/README.md").read_text()
    folder = ROOT / "src" / "executorch"
    linked = {path.name for path in folder.iterdir() if path.is_symlink()}
    assert {"backends", "exir", "extension", "kernels", "runtime", "schema"} <= linked
    assert all((folder / name).resolve() == ROOT / name for name in linked)


@pytest.mark.req("PY-015")
def test_the_version_is_one() -> None:
    assert __version__ == (ROOT / "version.txt").read_text().strip() == executorch.__version__


def test_the_package_says_that_it_has_types() -> None:
    assert (Path(executorch.__file__).parent / "py.typed").exists()


def flat(name: str) -> str:
    return " ".join((ROOT / name).read_text().split())


@pytest.mark.req("BLD-068")
def test_the_licence_is_the_three_clauses_of_bsd() -> None:
    text = flat("LICENSE")
    assert text.startswith("BSD 3-Clause License Copyright (c) ")
    assert "Redistributions of source code must retain the above copyright notice" in text
    assert "Neither the name of the copyright holder nor the names of its contributors" in text
    assert "License :: OSI Approved :: BSD License" in flat("pyproject.toml") or (
        'license = "BSD-3-Clause"' in flat("pyproject.toml")
    )


@pytest.mark.req("BLD-068")
def test_named_presets_exist_and_each_has_a_binary_folder() -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    names = {p["name"] for p in presets if not p.get("hidden")}
    assert {"linux", "pybind", "llm"} <= names, names
    by_name = {p["name"]: p for p in presets}

    def inherited(preset: dict[str, Any], key: str) -> Any:
        parents = preset.get("inherits", [])
        parents = [parents] if isinstance(parents, str) else parents
        found = [inherited(by_name[parent], key) for parent in parents]
        return preset.get(key, next((f for f in found if f is not None), None))

    assert [n for n in names if inherited(by_name[n], "binaryDir") is None] == []


@pytest.mark.req("BLD-068")
def test_files_at_the_root_say_what_documents_send_readers_there_for() -> None:
    assert re.search(r"cmake_minimum_required\(VERSION .*project\(", flat("CMakeLists.txt"))
    assert "pip install ." in flat("README.md") and "(CONTRIBUTING.md)" in flat("README.md")
    assert "symlinks" in flat("src/README.md")
    policy = flat("runtime/COMPATIBILITY.md")
    assert "| an earlier 1.x | a later 1.x | yes" in policy and "IncompatibleVersion" in policy


@pytest.mark.req("PRJ-025")
@pytest.mark.parametrize(
    "heading",
    ["Repository structure", "Get started", "Style", "Testing", "Pull requests"],
)
def test_contributing_has_the_documented_parts(heading: str) -> None:
    assert f"## {heading}\n" in (ROOT / "CONTRIBUTING.md").read_text()
