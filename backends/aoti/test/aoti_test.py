# SPDX-License-Identifier: BSD-3-Clause
"""The way of AOTInductor's backends without a compiler: a library of the build (stand_in/compiled.cpp, y = x * c[0] +
calls before) stands in for one that inductor wrote. networks_test.py compiles."""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.aoti import host_compiler, inductor, payload_reader
from executorch.backends.aoti.aoti_backend import AotiBackend
from executorch.backends.aoti.aoti_cpu import AotiCpuBackend, AotiCpuPartitioner
from executorch.backends.aoti.passes.replace_view_copy_with_view import ReplaceViewCopyWithViewPass
from executorch.backends.aoti.payload import Keys
from executorch.backends.test.built import build_folder
from executorch.devtools.commands.findings.native_code import native_code
from executorch.devtools.commands.program_file import ProgramFile
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError
from executorch.exir.graph_facts import op_name
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.test.e2e.build_tree import load_backend

CONSTANTS = struct.pack("4f", 3, 0, 0, 0)


class Scaled(torch.nn.Module):
    """What the library computes, at its first call."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 3


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of inductor, and of the compiler behind it."""

    def compile_program(program: Any, table: Any, options: Any, folder: str) -> list[str]:
        library, constants = Path(folder, "a.wrapper.so"), Path(folder, "a.wrapper_weights.blob")
        shutil.copy(build_folder() / "backends/aoti/libaoti_stand_in.so", library)
        constants.write_bytes(CONSTANTS)
        return [str(library), str(constants)]

    monkeypatch.setattr(inductor, "compile_program", compile_program)
    monkeypatch.setattr(
        AotiCpuBackend, "link", lambda files, specs: inductor.library_and_constants(files)
    )


def lowered(*specs: CompileSpec) -> EdgeProgramManager:
    programs = {name: export(Scaled(), (torch.ones(2),)) for name in ("forward", "again")}
    return to_edge_transform_and_lower(programs, partitioner=[AotiCpuPartitioner(specs)])


# ---- From export to run ----


def test_programs_carry_their_library_and_run_it(stand_in: None, tmp_path: Path) -> None:
    load_backend("aoti_cpu_backend")
    program = lowered().to_executorch()
    size = (build_folder() / "backends/aoti/libaoti_stand_in.so").stat().st_size
    assert size < len(program.buffer) < 2 * size  # both methods have one library
    loaded = _load_for_executorch_from_buffer(program.buffer)
    x = torch.tensor([1.0, 2.0])
    for calls in range(2):  # each method counts its own
        assert torch.equal(loaded.run_method("forward", (x,))[0], 3 * x + calls)
    assert torch.equal(loaded.run_method("again", (x,))[0], 3 * x)


def test_programs_say_that_they_carry_native_code(stand_in: None, tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(lowered().to_executorch().buffer)
    file = ProgramFile(path)
    (finding,) = native_code(file)  # of doctor
    assert (finding.kind, finding.calls) == ("trust", 2)
    assert finding.what == "AotiCpuBackend carries native code"
    facts = payload_reader.facts(file.payload(file.program.execution_plan[0].delegates[0]))
    assert facts[0][0] == "native code"  # of explain


def test_keys_are_hashes_of_what_they_name(stand_in: None) -> None:
    program = to_edge(export(Scaled(), (torch.ones(2),))).exported_program()
    result = AotiCpuBackend.preprocess(program, [])
    keys = Keys.unpack(result.processed_bytes)
    store = result.data_store_output
    for key, ending in zip(keys, ("_so_blob", "_weights_blob"), strict=True):
        data = store.buffers[store.pte_data[key].buffer_index]
        assert key == hashlib.sha256(data).hexdigest() + ending
    assert not store.external_data


def test_constants_may_go_to_a_file_of_their_own(
    stand_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AotiCpuBackend, "save_data_externally", lambda: True)
    program = to_edge(export(Scaled(), (torch.ones(2),))).exported_program()
    store = AotiCpuBackend.preprocess(program, []).data_store_output
    assert list(store.external_data) == ["aoti_cpu_blob"] and len(store.pte_data) == 1


# ---- What is left, and what is missing ----


class Sorted(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values, places = torch.topk(x.exp(), 2)
        return values * 2, places, x.cumsum(0).to(torch.int64)


def test_calls_that_inductor_leaves_to_pytorch_stay() -> None:
    program = to_edge(export(Sorted(), (torch.ones(3),))).exported_program()
    partitioner = AotiCpuPartitioner()
    reasons = {op_name(node): why for node, why in partitioner.why_not_delegated(program).items()}
    assert reasons["aten.topk.default"] == "the runtime has no kernel for aten.topk.default"
    assert reasons["aten.cumsum.default"] == (
        "AOTInductor leaves aten.cumsum.default to a kernel of PyTorch's"
    )
    partitioner.partition(program)
    tags = {node.name: "delegation_tag" in node.meta for node in program.graph.nodes}
    assert tags["aten_exp_default"] and tags["aten_mul_tensor"]
    assert not tags["aten_topk_default"] and not tags["getitem"] and not tags["aten_cumsum_default"]


def test_a_missing_compiler_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_compiler, "find_compiler", lambda: "")
    with pytest.raises(ExportError, match="g\\+\\+, which is not installed: install it"):
        lowered()


def test_what_all_libraries_have_is_compiled_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(host_compiler, "_shared_functions", lambda: "int shared;")
    commands: list[list[str]] = []

    def run(command: list[str], **rest: Any) -> subprocess.CompletedProcess[str]:
        if command[1] != "--version":
            commands.append(command)
            Path(command[-1]).write_text("made")
        return subprocess.CompletedProcess(command, 0, "12", "")

    monkeypatch.setattr(subprocess, "run", run)
    for _ in range(2):
        source = tmp_path / "a.cpp"
        source.write_text("int x; int shared;")
        library = host_compiler.link([str(source), "constants.o"], "x86-64-v3")
        assert source.read_text() == "int x; "
    kept, headers, first, second = commands
    assert kept[-1].endswith("shared.o") and headers[-1].endswith("headers.h.gch")
    assert first == second and {"-march=x86-64-v3", str(source), "constants.o", library} <= set(
        first
    )
    host_compiler.link([str(source)])  # has none of it, and another processor
    assert len(commands) == 6 and not any(each.endswith("shared.o") for each in commands[-1])


def test_the_compilers_own_words_are_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "a.cpp"
    source.write_text("int x;")
    failed = subprocess.CompletedProcess([], 1, "", "a.cpp:1: wrong")
    monkeypatch.setattr(subprocess, "run", lambda command, **rest: failed)
    with pytest.raises(ExportError, match="ended with 1 .*a.cpp:1: wrong"):
        host_compiler.link([str(source)])


def test_what_inductor_did_not_write_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="Could not find required files"):
        inductor.library_and_constants(["a.wrapper.so"])


def test_numbers_are_no_arguments() -> None:
    program = to_edge(export(Scaled(), (torch.ones(2),))).exported_program()
    assert [each.shape for each in inductor.example_inputs(program)] == [torch.Size([2])]
    (x,) = (node for node in program.graph.nodes if node.name == "x")
    x.meta["val"] = 3
    with pytest.raises(ExportError, match="would take x, a number"):
        inductor.example_inputs(program)


def test_backends_say_what_they_are() -> None:
    for name in ("get_device_name", "get_supported_fallback_kernels"):
        with pytest.raises(NotImplementedError, match=name):
            getattr(AotiBackend, name)()
    assert "aoti_torch_cpu_bmm_out" in AotiCpuBackend.get_supported_fallback_kernels()
    assert AotiBackend.get_decomposition_table() == {} and not AotiBackend.save_data_externally()


# ---- Passes ----


class Views(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        viewed = torch.ops.aten.slice_copy.Tensor(x, 1, 1).view(-1)
        return x[1:] + 1, x[0] * 2, viewed


def test_slices_that_are_read_become_views() -> None:
    x = torch.arange(6.0).view(2, 3)
    program = to_edge(export(Views(), (x,))).exported_program()
    assert ReplaceViewCopyWithViewPass()(program.graph_module).modified
    names = [op_name(node) for node in program.graph.nodes]
    assert {"aten.slice.Tensor", "aten.select.int", "aten.slice_copy.Tensor"} <= set(names)
    assert "aten.select_copy.int" not in names
    for found, expected in zip(program.module()(x), Views()(x), strict=True):
        assert torch.equal(found, expected)
    assert not ReplaceViewCopyWithViewPass()(program.graph_module).modified
