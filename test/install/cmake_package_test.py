# SPDX-License-Identifier: BSD-3-Clause
"""`cmake --install`, and the wheel: a separate project finds the package there, links Module and runs a program."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.backends.discovery import all_backends
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.examples.models import make_example
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.backend.partitioner import Partitioner
from executorch.extension.training.examples.XOR.export_model import export_xor
from executorch.extension.training.examples.XOR.model import Net
from executorch.runtime import Runtime
from executorch.test.documents.commands import commands_of
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.commands import attempt, beside, command

LIBRARIES = (
    "executorch",
    "executorch_core",
    "portable_kernels",
    "portable_kernels_bindings",
    "portable_ops_lib",
    "optimized_kernels",
    "optimized_ops_lib",
    "optimized_native_cpu_ops_lib",
    "quantized_kernels",
    "quantized_ops_lib",
    "custom_ops",
    "torchao_ops_executorch",
    "kernels_util_all_deps",
    "xnnpack_backend",
    "extension_threadpool",
    "extension_memory_allocator",
    "extension_named_data_map",
    "extension_runner_util",
    "extension_evalue_util",
    "extension_data_loader",
    "extension_flat_tensor",
    "extension_module",
    "extension_module_static",
    "extension_tensor",
    "extension_training",
    "tokenizers",
    "extension_llm_sampler",
    "extension_llm_runner",
)


def listed_headers() -> list[str]:
    """The public headers: those whose names test/api lists, and those that other people include."""
    titles = []
    for page in sorted((ROOT / "test" / "api").glob("cpp-*.md")):
        titles += re.findall(r"^## (\S+\.h)\b", page.read_text(), re.M)
    used = (ROOT / "test" / "api" / "included-headers.tsv").read_text().splitlines()[1:]
    titles += [row.split("\t")[1].removeprefix("executorch/") for row in used]
    return list(dict.fromkeys(titles))


@pytest.fixture(scope="module")
def consumer(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("consumer")
    headers = [
        header
        for header in listed_headers()
        if (prefix / "include" / "executorch" / header).exists()
        and not re.search("testing_util|aten_util", header)  # those need other projects' headers
    ]
    assert len(headers) > 100, f"only {len(headers)} public headers are installed"
    (build / "headers.txt").write_text("\n".join(headers))
    launcher = shutil.which("ccache")
    command(
        "cmake",
        *("-S", ROOT / "test" / "consumer", "-B", build / "build", "-G", "Ninja"),
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DHEADERS={build / 'headers.txt'}",
        f"-DTRAINING_SOURCE={ROOT / 'extension/training/examples/XOR/train.cpp'}",
        *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []),
    )
    return build / "build"


@pytest.mark.req("BLD-028", "BLD-064")
def test_layout(prefix: Path) -> None:
    if not (prefix / "exir").exists():
        assert {path.name for path in prefix.iterdir()} == {"bin", "include", "lib", "share"}
    assert (prefix / "include/executorch/runtime/core/error.h").exists()
    assert (prefix / "lib/cmake/ExecuTorch/executorch-config.cmake").exists()
    assert not [name for name in LIBRARIES if not list((prefix / "lib").glob(f"lib{name}.*"))]


@pytest.mark.req("BLD-028", "EXT-C02", "BLD-062")
def test_a_separate_project_links_and_runs(consumer: Path, tmp_path: Path) -> None:
    command("cmake", "--build", consumer, "--target", "consumer")
    method = make_example("linear").forward
    to_edge(method.export()).to_executorch().save(str(tmp_path / "linear.pte"))
    printed = float(command(consumer / "consumer", tmp_path / "linear.pte").split()[0])
    expected = method.module(torch.ones_like(method.inputs[0]))[0, 0].item()
    assert printed == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.req("BLD-041", "EXT-031", "RT-008")
def test_a_separate_project_trains(consumer: Path, tmp_path: Path) -> None:
    """And goes on from its checkpoint; weights that start in a data file learn, too."""
    command("cmake", "--build", consumer, "--target", "consumer_of_training")
    torch.manual_seed(0)
    net = Net()
    for external in (False, True):
        program = export_xor(net, external_mutable_weights=external)
        program.save(tmp_path / "xor.pte")
        program.write_tensor_data_to_file(tmp_path)
        checkpoint = tmp_path / f"{external}.ptd"
        train = [consumer / "consumer_of_training", f"--model_path={tmp_path / 'xor.pte'}"]
        train += [f"--ptd_path={tmp_path / '_default_external_constant.ptd'}"] if external else []
        train += [f"--checkpoint_path={checkpoint}"]
        first = command(*train)
        assert "Step 0, loss 0.713086" in first
        losses = re.findall(r"Step 99\d, loss (\S+),", first)
        assert len(losses) == 4
        assert max(map(float, losses)) < 0.05
        again = command(*train, "--steps=1")
        assert f"Goes on from {checkpoint}" in again
        assert float(re.search(r"loss (\S+),", again)[1]) < 0.05


@pytest.mark.req("EXT-036")
@pytest.mark.parametrize(
    "components, missing",
    [
        ("xnnpack_backend executorch_backends", ""),
        ("qnn_executorch_backend executorch_backends", "qnn_executorch_backend"),
    ],
)
def test_components_are_found_or_named(
    components: str, missing: str, prefix: Path, tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(user CXX)\n"
        f"find_package(executorch CONFIG REQUIRED COMPONENTS {components})\n"
        "add_library(user INTERFACE)\n"
        f"target_link_libraries(user INTERFACE {components})\n"
    )
    words = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = attempt(*words)
    assert (done.returncode != 0) == bool(missing), done.stderr
    if missing:
        assert f"component {missing} is not part of this installation" in " ".join(
            done.stderr.split()
        )


# What follows the library that registers: its kernels, the runtime and Module, each a file of the package. Others'
# projects name these, so that no other of ours is needed.
PLAIN = """extension_module_static extension_tensor extension_flat_tensor extension_named_data_map
    extension_data_loader portable_kernels kernels_util_all_deps
    extension_threadpool executorch_core pthreadpool cpuinfo""".split()


@pytest.mark.req("KS-002", "BLD-064")
@pytest.mark.parametrize("registers", ["portable_kernels_bindings", "portable_ops_lib"])
def test_linking_without_cmake(registers: str, prefix: Path, tmp_path: Path) -> None:
    """The compiler alone: with whole-archive the kernels are there; without it, an error says so."""
    to_edge(make_example("linear").export()).to_executorch().save(str(tmp_path / "linear.pte"))
    include = prefix / "include"
    source = [ROOT / "test/consumer/main.cpp", "-std=c++17", f"-I{include}"]
    source += [f"-I{include}/executorch/runtime/core/portable_type/c10", f"-L{prefix}/lib"]
    registering = [f"-l{registers}", "-lexecutorch"]
    whole = ["-Wl,--whole-archive", *registering, "-Wl,--no-whole-archive"]
    present = [name for name in PLAIN if (prefix / "lib" / f"lib{name}.a").exists()]
    rest = ["-Wl,--start-group", *(f"-l{name}" for name in present), "-Wl,--end-group", "-pthread"]
    for name, libraries in (("whole", whole), ("pruned", registering)):
        command("c++", *source, *libraries, *rest, "-o", tmp_path / name)
    assert len(command(tmp_path / "whole", tmp_path / "linear.pte").split()) == 1
    words = [str(tmp_path / "pruned"), str(tmp_path / "linear.pte")]
    pruned = attempt(*words)
    assert pruned.returncode == 1
    assert "Missing operators (1): aten::linear.out. Link" in pruned.stderr, pruned.stderr


def delegated(folder: Path, partitioner: Partitioner | None = None) -> tuple[Path, float]:
    """A program of one delegate, XNNPACK's unless said, and the first number it gives on ones."""
    method = make_example("linear").forward
    chosen = [partitioner or XnnpackPartitioner()]
    lowered = to_edge_transform_and_lower(method.export(), partitioner=chosen)
    lowered.to_executorch().save(str(folder / "delegated.pte"))
    with torch.no_grad():
        return folder / "delegated.pte", method.module(torch.ones_like(method.inputs[0]))[
            0, 0
        ].item()


@pytest.mark.req("XQ-008")
@pytest.mark.parametrize("name", ["consumer_of_backends", "consumer_of_whole_archive"])
def test_the_xnnpack_backend_links(name: str, consumer: Path, tmp_path: Path) -> None:
    """`executorch::backends`, and `$<LINK_LIBRARY:WHOLE_ARCHIVE,xnnpack_backend>`."""
    path, expected = delegated(tmp_path)
    command("cmake", "--build", consumer, "--target", name)
    assert float(command(consumer / name, path).split()[0]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.req("VK-006", "VK-C03")
def test_the_vulkan_backend_links(prefix: Path, consumer: Path, tmp_path: Path) -> None:
    """By `executorch::backends`: each library carries the linker's options that keep what registers it."""
    if not (prefix / "lib" / "libvulkan_backend.a").exists():
        pytest.skip("this package has no Vulkan backend")
    if not Runtime.get().backend_registry.is_available("VulkanBackend"):
        pytest.skip("no device is here")
    path, expected = delegated(tmp_path, VulkanPartitioner())
    command("cmake", "--build", consumer, "--target", "consumer_of_backends")
    printed = command(consumer / "consumer_of_backends", path)
    assert float(printed.split()[0]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.req("XQ-008", "XQ-013")
def test_the_xnnpack_backend_links_without_cmake(prefix: Path, tmp_path: Path) -> None:
    """-Wl,--whole-archive libxnnpack_backend.a; a program without it says what to link, error 0x20."""
    path, expected = delegated(tmp_path)
    backend = [
        "-Wl,--whole-archive",
        f"{prefix}/lib/libxnnpack_backend.a",
        "-Wl,--no-whole-archive",
    ]
    for name, words in (("with", backend), ("without", ["-lxnnpack_backend"])):
        ours = ["executorch_xnnpack", "executorch_xnnpack_microkernels", "optimized_gemm", "hwy"]
        archives = ["xnnpack_backend", *ours, *PLAIN]
        rest = [f"-l{each}" for each in archives if (prefix / "lib" / f"lib{each}.a").exists()]
        group = ["-Wl,--start-group", *rest, "-Wl,--end-group", "-pthread", "-lm"]
        command(
            *("c++", ROOT / "test/consumer/main.cpp", "-std=c++17", f"-I{prefix}/include"),
            f"-I{prefix}/include/executorch/runtime/core/portable_type/c10",
            *(f"-L{prefix}/lib", *words, "-lexecutorch", *group, "-o", tmp_path / name),
        )
    printed = command(tmp_path / "with", path)
    assert float(printed.split()[0]) == pytest.approx(expected, rel=1e-4)
    words = [str(tmp_path / "without"), str(path)]
    without = attempt(*words)
    assert without.returncode == 1
    assert "Backend XnnpackBackend is not registered. Link the library" in without.stderr
    assert f"forward failed: error {0x20}" in without.stderr


def test_module_as_a_shared_library(consumer: Path, prefix: Path, tmp_path: Path) -> None:
    """Kernels that the program itself registers are found by the Module of the shared library."""
    command("cmake", "--build", consumer, "--target", "consumer_of_shared_module")
    program = consumer / "consumer_of_shared_module"
    assert "libextension_module.so" in command("readelf", "-d", program)
    method = make_example("linear").forward
    to_edge(method.export()).to_executorch().save(str(tmp_path / "linear.pte"))
    printed = float(command(program, tmp_path / "linear.pte").split()[0])
    expected = method.module(torch.ones_like(method.inputs[0]))[0, 0].item()
    assert printed == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.full
@pytest.mark.req("EXT-035", "BLD-027")
def test_a_project_that_has_the_sources_as_a_folder(tmp_path: Path) -> None:
    source = ROOT / "test" / "consumer" / "subdirectory"
    build = beside("subdirectory")
    command("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DEXECUTORCH_SOURCE={ROOT}")
    command("cmake", "--build", build, "--target", "my_target")
    to_edge(make_example("linear").export()).to_executorch().save(str(tmp_path / "linear.pte"))
    assert len(command(build / "my_target", tmp_path / "linear.pte").split()) == 1


@pytest.mark.req("EXT-017", "KS-025")
@pytest.mark.parametrize("prefix", ["cmake --install"], indirect=True)
def test_each_public_header_compiles_alone(consumer: Path) -> None:
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))
    command("cmake", "--build", consumer, "--target", "headers_alone", "-j", jobs, "--", "-k", "0")


def test_the_wheel_has_the_same_headers(installation: Path, package: Path) -> None:
    """All but those of what is built for tests: backends to copy, and Cadence's kernels, which stand in for a DSP's;
    and those of the C interface and of Qualcomm's backend, whose libraries are no part of the wheel."""
    folders = [each.package for each in all_backends().values() if not each.is_installed]
    folders += ["executorch.backends.demo", "executorch.backends.cadence", "executorch.c"]
    folders += ["executorch.backends.qualcomm"]
    for_tests = tuple(f"{each.replace('.', '/')}/" for each in folders)
    headers = {
        folder: {path.relative_to(folder) for path in (folder / "include").rglob("*.h")}
        for folder in (installation, package)
    }
    assert len(headers[package]) > 300
    assert headers[package] <= headers[installation]
    missing = {str(path) for path in headers[installation] - headers[package]}
    assert all(any(folder in path for folder in for_tests) for path in missing), missing
    different = [
        path
        for path in headers[package]
        if (package / path).read_bytes() != (installation / path).read_bytes()
    ]
    assert different == []


@pytest.mark.req("LLM-043", "VK-016")
def test_llama_main_is_built_on_the_installed_package(prefix: Path, tmp_path: Path) -> None:
    source = ROOT / "examples" / "models" / "llama"
    command("cmake", "-S", source, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    command("cmake", "--build", tmp_path)
    shown = command(tmp_path / "llama_main", "--help")
    assert shown.startswith("llama_main: ") and "--tokenizer_path" in shown


@pytest.mark.parametrize("language", ["C", "Python"])
def test_the_guides_programs_of_the_c_interface_run_on_a_prefix(
    prefix: Path, language: str, tmp_path: Path
) -> None:
    """In an empty folder."""
    assert (prefix / "include" / "executorch" / "c" / "executorch.h").is_file()
    (tmp_path / "add.pte").symlink_to(ROOT / "extension/module/test/resources/add.pte")
    (tmp_path / "inputs").write_bytes(np.array([1.5, 2.25], np.float32).tobytes())
    script = "\n".join(commands_of("other_languages", language))
    command("sh", "-e", "-c", script, cwd=tmp_path, EXECUTORCH=str(ROOT), PREFIX=str(prefix))
    assert np.fromfile(tmp_path / "outputs", np.float32).tolist() == [3.75]


def test_a_missing_component_is_named(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(x CXX)\n"
        "find_package(executorch CONFIG REQUIRED COMPONENTS no_such_backend)\n"
    )
    words = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = attempt(*words)
    assert done.returncode != 0 and "no_such_backend" in done.stderr
