# SPDX-License-Identifier: BSD-3-Clause
"""VGF files run under Arm's ML emulation layer, in a root that backends/arm/scripts/emulation_root.sh makes: by the
vendor's scenario runner, and programs by executor_runner with VgfBackend. FP beside eager PyTorch, INT beside the
quantized module within one quantum."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.backends.arm.quantizer import VgfQuantizer
from executorch.backends.arm.test.arm_cases import FAMILIES
from executorch.backends.arm.test.arm_operators_test import is_fully_delegated, network
from executorch.backends.arm.test.arm_reference import (
    Program,
    delegates,
    lowered,
    quantized,
    through_reference_all,
)
from executorch.backends.arm.vgf import VgfCompileSpec, VgfPartitioner
from executorch.devtools import Inspector
from executorch.exir.backend.lowering.external.tool import tool_path
from executorch.exir.backend.lowering.quantized import quantization_of
from executorch.test.documents import guide
from executorch.test.install.commands import beside, command

ROOT = os.environ.get("EXECUTORCH_ARM_EMULATION", "")
DUMP = tool_path("arm", "vgf_dump")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not ROOT, reason="needs EXECUTORCH_ARM_EMULATION, of emulation_root.sh"),
    pytest.mark.skipif(DUMP is None, reason="needs vgf_dump, of tools-requirements.txt"),
]
_LAYER = "/opt/ml/emulation_layer/deploy"
_VARIABLES = {
    "VK_LAYER_PATH": f"{_LAYER}/share/vulkan/explicit_layer.d",
    "LD_LIBRARY_PATH": f"{_LAYER}/lib",
    "VK_INSTANCE_LAYERS": "VK_LAYER_ML_Graph_Emulation:VK_LAYER_ML_Tensor_Emulation",
    "PATH": "/usr/sbin:/usr/bin",
}
Graphs = Sequence[tuple[bytes, Sequence[torch.Tensor]]]


def in_root(folder: Path, commands: str, **variables: str) -> str:
    """What the commands print, run in a folder below the root's /tmp; they must not fail."""
    ran = subprocess.run(
        ["chroot", ROOT, "sh", "-c", f"cd /tmp/{folder.name} && {commands}"],
        capture_output=True,
        text=True,
        env=_VARIABLES | variables,
        timeout=3000,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return ran.stdout + ran.stderr


def run_all(graphs: Graphs) -> list[list[torch.Tensor]]:
    """Of each VGF file the results for its inputs; all in one scenario."""
    with tempfile.TemporaryDirectory(dir=f"{ROOT}/tmp") as name:
        folder = Path(name)
        parts = [_part(folder, place, *each) for place, each in enumerate(graphs)]
        scenario = {key: sum((each[key] for each in parts), []) for key in parts[0]}
        (folder / "scenario.json").write_text(json.dumps(scenario))
        runner = "/opt/ml/scenario_runner/binaries/bin/scenario-runner"
        in_root(folder, f"{runner} --scenario scenario.json --output .")
        counts = [len([each for each in part["resources"] if "dst" in str(each)]) for part in parts]
        return [
            [torch.from_numpy(np.load(folder / f"{place}-OUTPUT_{i}.npy")) for i in range(count)]
            for place, count in enumerate(counts)
        ]


def _part(
    folder: Path, place: int, graph: bytes, inputs: Sequence[torch.Tensor]
) -> dict[str, list[object]]:
    """The commands and resources of one graph, whose names begin with its place."""
    (folder / f"{place}.vgf").write_bytes(graph)
    for i, each in enumerate(inputs):
        np.save(folder / f"{place}-INPUT_{i}.npy", each.detach().contiguous().numpy())
    words = [str(DUMP), "--input", f"{place}.vgf", "--scenario-template"]
    text = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=True).stdout
    for name in ("input_", "output_", "vgf_graph_ref"):
        text = text.replace(f'"{name}', f'"{place}-{name}')
    for name in ("INPUT", "OUTPUT"):
        for i in reversed(range(text.count(f"TEMPLATE_PATH_TENSOR_{name}"))):
            text = text.replace(f"TEMPLATE_PATH_TENSOR_{name}_{i}", f"{place}-{name}_{i}.npy")
    return json.loads(text)


@functools.cache
def built(target: str) -> Path:
    """A program of the build with the delegate."""
    folder = beside("vgf")
    command("cmake", "--preset", "linux", "-B", folder, "-DEXECUTORCH_BUILD_VGF=ON")
    command("cmake", "--build", folder, "--target", Path(target).name)
    return folder / target


def in_memory(tensor: torch.Tensor) -> bytes:
    dense = tensor.detach().permute(tensor.dim_order()).contiguous()
    return dense.reshape(-1).view(torch.uint8).numpy().tobytes()


def of_memory(data: bytes, like: torch.Tensor) -> torch.Tensor:
    order = list(like.dim_order())
    flat = torch.frombuffer(bytearray(data), dtype=like.dtype)
    shaped = flat.reshape([like.shape[dim] for dim in order])
    return shaped.permute([order.index(dim) for dim in range(len(order))])


def by_executor_runner(
    programs: Sequence[Program], variables: dict[str, str] | None = None
) -> list[list[torch.Tensor]]:
    """Of each program its outputs; one process each."""
    runner = built("executor_runner")
    with tempfile.TemporaryDirectory(dir=f"{ROOT}/tmp") as name:
        folder = Path(name)
        shutil.copy(runner, folder / "executor_runner")
        commands = []
        for place, (edge, inputs) in enumerate(programs):
            (folder / f"{place}.pte").write_bytes(edge.to_executorch().buffer)
            files = [f"{place}-in-{i}.bin" for i in range(len(inputs))]
            for file, each in zip(files, inputs, strict=True):
                (folder / file).write_bytes(in_memory(each))
            commands.append(
                f"./executor_runner -model_path {place}.pte -output_file {place} "
                f"-print_output none -inputs {','.join(files)}"
            )
        in_root(folder, " && ".join(commands), **(variables or {}))
        return [
            [
                of_memory((folder / f"{place}-{i}.bin").read_bytes(), node.meta["val"])
                for i, node in enumerate(
                    edge.exported_program().graph.output_node().all_input_nodes
                )
            ]
            for place, (edge, _) in enumerate(programs)
        ]


Runner = Callable[[Sequence[Program]], list[list[torch.Tensor]]]
RUNNERS = {
    "scenario_runner": functools.partial(through_reference_all, run_all=run_all),
    "executor_runner": by_executor_runner,
}
by_both = pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS)


@dataclass(frozen=True)
class Cases:
    """Modules of a family that are one delegate as a whole."""

    names: list[str]
    models: list[torch.nn.Module]
    programs: list[Program]


@functools.cache
def whole_cases(spec: str, family: str) -> Cases:
    torch.manual_seed(0)
    vgf = VgfCompileSpec(spec)
    out = Cases([], [], [])
    for name, module, inputs in FAMILIES[family]():
        module.eval()
        model = module if "FP" in spec else quantized(module, inputs, quantizer=VgfQuantizer(vgf))
        edge = lowered(model, inputs, "", VgfPartitioner(vgf))
        if is_fully_delegated(edge):
            out.names.append(name)
            out.models.append(model)
            out.programs.append((edge, inputs))
    return out


@by_both
@pytest.mark.parametrize(
    "spec", ["TOSA-1.0+FP", "TOSA-1.0+INT", ""], ids=lambda each: each or "both"
)
def test_a_network(spec: str, runner: Runner) -> None:
    torch.manual_seed(0)
    model, inputs = network().eval(), (torch.randn(1, 3, 16, 16),)
    vgf = VgfCompileSpec(spec or None)
    module = model if "FP" in spec else quantized(model, inputs, quantizer=VgfQuantizer(vgf))
    edge = lowered(module, inputs, "", VgfPartitioner(vgf))
    (found,) = runner([(edge, inputs)])[0]
    most = 1e-5 if "FP" in spec else 1 / 256 + 1e-6
    torch.testing.assert_close(found, module(*inputs), rtol=0, atol=most)


@by_both
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("spec", ["TOSA-1.0+FP", "TOSA-1.0+INT"])
def test_rows(spec: str, family: str, runner: Runner) -> None:
    cases = whole_cases(spec, family)
    wrong = []
    found = runner(cases.programs)
    for name, model, (edge, inputs), results in zip(
        cases.names, cases.models, cases.programs, found, strict=True
    ):
        expected = model(*inputs)
        error = (results[0].float() - expected.float()).abs().max().item()
        (output, *_) = edge.exported_program().graph.output_node().all_input_nodes
        qparams = quantization_of(output)
        most = (
            1.01 * qparams.scale if qparams else 1e-3 * max(1, expected.float().abs().max().item())
        )
        if results[0].shape != expected.shape or error > most:
            wrong.append((name, error, most))
    assert wrong == []


# Of loading and running, where a trace is recorded.
EVENTS = {
    f"VGF_{name}"
    for name in """INIT_TOTAL INIT_ENSURE_INITIALIZED INIT_ALLOCATE_REPR INIT_PROCESS_VGF_BACKEND INIT_PROCESS_VGF
        INIT_DECODE_TABLES INIT_ALLOCATE_COMMAND_BUFFER INIT_TIMESTAMP_QUERIES INIT_RECORD_COMMAND_BUFFER
        INIT_MAP_IO_MEMORY EXECUTE COPY_INPUTS DISPATCH_AND_WAIT QUEUE_SUBMIT_AND_WAIT_FENCE
        TIMESTAMP_QUERY_READBACK COPY_OUTPUTS""".split()
}


def test_the_tutorial_prints_what_is_documented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ARM-034, ARM-C01: all ones in, sigmoid(2) out; inputs as files, where the environment wants them."""
    monkeypatch.chdir(tmp_path)
    guide.run(guide.printed("arm.md")["036.3"], {"__name__": "tutorial"})
    with tempfile.TemporaryDirectory(dir=f"{ROOT}/tmp") as name:
        folder = Path(name)
        shutil.copy(built("executor_runner"), folder / "executor_runner")
        shutil.copy(tmp_path / "simple_example.pte", folder)
        output = in_root(
            folder,
            "./executor_runner -model_path simple_example.pte -output_file out -etdump_path out.etdp",
            EXECUTORCH_VGF_DUMP_INPUTS_DIR="dump",
            EXECUTORCH_VGF_ENABLE_TIMESTAMP_QUERIES="1",
        )
        (value,) = np.fromfile(folder / "out-0.bin", dtype=np.float32)
        inputs = [
            np.fromfile(folder / f"dump/call_000000/input_00{i}_io_{i}.bin", np.float32)
            for i in range(2)
        ]
        blocks = Inspector(etdump_path=str(folder / "out.etdp")).event_blocks
    names = {event.name for block in blocks for event in block.events}
    assert names >= EVENTS
    assert abs(value - 1 / (1 + np.exp(-2))) < 0.01
    assert "0.88" in output
    assert [each.tolist() for each in inputs] == [[1.0], [1.0]]


def test_segments_and_threads() -> None:
    """vgf_backend_test in the root: a file of two segments, run by several threads; other arguments are refused."""

    class Double(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + x

    vgf = VgfCompileSpec("TOSA-1.0+FP")
    edge = lowered(Double(), (torch.randn(2, 3),), "", VgfPartitioner(vgf))
    (delegate,) = delegates(edge)
    with tempfile.TemporaryDirectory(dir=f"{ROOT}/tmp") as name:
        folder = Path(name)
        shutil.copy(built("backends/arm/vgf_backend_test"), folder)
        (folder / "double.vgf").write_bytes(delegate.processed_bytes)
        output = in_root(
            folder,
            "./vgf_backend_test --gtest_filter=VgfRunTest.*",
            EXECUTORCH_VGF_SAMPLE="double.vgf",
        )
    assert "[  PASSED  ] 2 tests." in output
    assert "SKIPPED" not in output
