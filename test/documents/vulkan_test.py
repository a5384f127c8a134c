# SPDX-License-Identifier: BSD-3-Clause
"""The documents' blocks on Vulkan run, with this computer for the phone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.test.lowered import kernels_of, payloads
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import construct_transformer
from executorch.extension.llm.runner.test import tiny_llama
from executorch.runtime import Runtime
from executorch.test.documents import guide
from executorch.test.e2e.build_tree import binary
from executorch.test.repository.sources import ROOT

PAGE = "vulkan.md"
COMMANDS = guide.commands(PAGE)
ON_DEVICE = pytest.mark.skipif(
    not Runtime.get().backend_registry.is_available("VulkanBackend"),
    reason="this build has no Vulkan backend, or no device is here",
)
ADB = """#!/bin/bash
# The phone's /data is a folder here.
there() { echo "${1//\\/data\\//$PHONE/data/}"; }
case $1 in
  shell) shift; eval "$(there "$*")" ;;
  push) cp "$2" "$(there "$3")" ;;
  pull) cp "$(there "$2")" "$3" ;;
esac
"""
PARAMS = {
    "dim": 64, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "multiple_of": 64,
    "vocab_size": tiny_llama.VOCABULARY,
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where commands are given: what they name of the repository, the home and the phone in it."""
    for name in ("examples", "devtools"):
        (tmp_path / name).symlink_to(ROOT / name)
    adb = tmp_path / "bin" / "adb"
    for folder in (adb.parent, tmp_path / "phone/data/local/tmp"):
        folder.mkdir(parents=True)
    adb.write_text(ADB)
    adb.chmod(0o755)
    python = adb.parent / "python"
    python.write_text(f'#!/bin/bash\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("PATH", f"{adb.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PHONE", str(tmp_path / "phone"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("executor_runner", "examples/models/llama/llama_main"):
        program = tmp_path / "cmake-out-android-so" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.symlink_to(binary(name))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*names: str) -> str:
    """Blocks one after the other in one shell, which stops where one fails; what they print."""
    lines = "set -e\n" + "\n".join(COMMANDS[name] for name in names)
    done = subprocess.run(
        ["bash", "-c", lines], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@ON_DEVICE
@pytest.mark.req("CMP-060", "VK-013", "VK-017", "VK-018")
def test_the_profiling_tutorial(root: Path) -> None:
    """Three times for each shader, in the delegate's call, in the method's run."""
    shown = run("061.3", "061.4", "061.6", "061.7", "061.8")
    rows = [line for line in shown.splitlines() if line.count("│") > 5]
    shaders = [
        line for line in rows if '"kernel_name": "convolution"' in line or "convolution" in line
    ]
    raw = [re.findall(r"\[([\d., e+-]+)\]", line)[-1].split(",") for line in shaders]
    assert len(shaders) > 3 and {len(times) for times in raw} == {3}, shown[-3000:]
    assert any("DELEGATE_CALL" in line for line in rows)
    assert any("Method::execute" in line for line in rows)


@ON_DEVICE
@pytest.mark.req("LLM-015", "LLM-017", "LLM-C05", "VK-017", "VK-019")
def test_the_llama_tutorial(root: Path) -> None:
    """A small checkpoint under the large one's names, and a tokenizer of its own."""
    folder = root / ".llama/checkpoints/Llama3.2-1B-Instruct"
    folder.mkdir(parents=True)
    torch.manual_seed(4)
    model = construct_transformer(ModelArgs(**PARAMS, max_seq_len=16, max_context_len=16))
    torch.save(model.state_dict(), folder / "consolidated.00.pth")
    (folder / "params.json").write_text(json.dumps(PARAMS))
    tiny_llama.write_tokenizer(folder)
    shutil.move(folder / tiny_llama.TOKENIZER, folder / "tokenizer.model")
    shown = run("060.3", "060.4", "060.5", "060.8", "060.9")
    program = (folder / "Llama3.2-1B-Instruct_vulkan_8da4w_g64_c2048.pte").read_bytes()
    assert len(payloads(program)) == 1 and not kernels_of(program)
    assert "Write me a short poem." in shown and "PyTorchObserver" in shown, shown[-3000:]


@pytest.mark.req("AND-022", "AND-C04", "BLD-048", "VK-014", "VK-015")
@pytest.mark.parametrize("name", ["060.6", "061.5"])
def test_the_builds_for_android_configure(name: str, tmp_path: Path) -> None:
    """With a toolchain that only says what it is asked for: every option is accepted."""
    toolchain = tmp_path / "ndk/build/cmake/android.toolchain.cmake"
    toolchain.parent.mkdir(parents=True)
    toolchain.write_text(
        "set(ANDROID ON)\n"  # whose compiler has jni.h
        'message(STATUS "NDK for ${ANDROID_ABI}, ${ANDROID_PLATFORM}, pages ${ANDROID_SUPPORT_FLEXIBLE_PAGE_SIZES}")\n'
    )
    configure, _ = COMMANDS[name].replace("\\\n", " ").split("&&")
    configure = configure.replace("-Bcmake-out-android-so", f"-B{tmp_path / 'build'}")
    code, text = in_root(configure, ANDROID_NDK=str(tmp_path / "ndk"))
    assert code == 0 and "NDK for arm64-v8a, android-28, pages ON" in text, text[-3000:]
    assert "Manually-specified variables were not used" not in text, text[-3000:]
    targets = (tmp_path / "build" / "build.ninja").read_text()
    assert ("build executor_runner:" in targets) == (name == "061.5")


def in_root(command: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=os.environ | environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.req("VK-008")
def test_glslc_is_here_or_asked_for(tmp_path: Path) -> None:
    assert "shaderc" in run("063.1")
    without = "-DEXECUTORCH_BUILD_VULKAN=ON -DGLSLC_PATH="
    code, text = in_root(f"cmake --preset linux -B {tmp_path} {without}")
    assert code and "glslc is not found in PATH or $VULKAN_SDK/bin" in text, text[-3000:]


@pytest.mark.req("VK-001", "VK-004", "VK-010", "VK-011")
def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block is one delegate; those of the partitioner go on with the overview's model."""
    monkeypatch.chdir(tmp_path)
    guide.put_torchvision(monkeypatch)
    overview, whole, half, *quantized = guide.today(PAGE)
    names = guide.run(overview, {})
    sizes = [(tmp_path / "mv2_vulkan.pte").stat().st_size]
    for code in (whole, half):
        sizes.append(len(guide.run(code, names)["etvk_program"].buffer))
    assert sizes[0] == sizes[1] and 0.4 < sizes[2] / sizes[1] < 0.6
    for code in quantized:
        program = guide.run(code, {})["etvk_program"].buffer
        assert len(payloads(program)) == 1 and not kernels_of(program)


@pytest.mark.req("VK-C01")
def test_the_key_of_the_prose_is_named() -> None:
    """`required_dynamic_shapes` stands in the text, `require_dynamic_shapes` in the code."""
    program = torch.export.export(torch.nn.ReLU(), (torch.randn(2),))
    with pytest.raises(ValueError, match="require_dynamic_shapes"):
        partitioner = [VulkanPartitioner({"required_dynamic_shapes": True})]
        to_edge_transform_and_lower(program, partitioner=partitioner)
