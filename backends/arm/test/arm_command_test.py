# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the documents: aot_arm_compiler for every kind of target, get_ethosu_scratch_from_pte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.scripts import aot_arm_compiler, get_ethosu_scratch_from_pte
from executorch.backends.arm.test.tosa.evaluator import evaluate, operators_of
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.devtools.commands.program_file import ProgramFile

MISSING = VELA.why_missing() or CONVERTER.why_missing()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

# Command, the file that it writes, and the backend that the file needs.
COMMANDS = {
    "-m add -d -q": ("add_arm_delegate_ethos-u55-128.pte", "EthosUBackend"),
    "-m qops -d -q -t ethos-u85-256": ("qops_arm_delegate_ethos-u85-256.pte", "EthosUBackend"),
    "-m add -d -q -t vgf -o named.pte": ("named.pte", "VgfBackend"),
    "-m softmax -d -t vgf": ("softmax_arm_delegate_vgf.pte", "VgfBackend"),
    "-m softmax -d -t TOSA-1.0+FP": ("softmax_arm_delegate_TOSA-1.0+FP.pte", "TOSABackend"),
    "-m qlinear -q -d -t TOSA-1.0+INT+int16 -o folder": (
        "folder/qlinear_arm_delegate_TOSA-1.0+INT+int16.pte",
        "TOSABackend",
    ),
    "-m qlinear -q -d -t cortex-m55": ("qlinear_arm_delegate_cortex-m55.pte", None),
    "-m softmax": ("softmax_arm_ethos-u55-128.pte", None),
}


def run(command: str) -> None:
    assert aot_arm_compiler.main(command.split()) == 0


@pytest.mark.req("ARM-018")
@pytest.mark.parametrize("command", COMMANDS)
def test_each_kind_of_target(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    name, backend = COMMANDS[command]
    run(command)
    output = capsys.readouterr().out
    assert f"PTE file saved as {name}\n" in output
    assert f"Model was {'fully' if backend else 'not'} delegated.\n" in output
    assert ProgramFile(tmp_path / name).backends == ({backend} if backend else set())


@pytest.mark.req("ARM-032")
def test_the_documented_command_for_vgf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Word by word; and once more with what the delegate is made of, which adds. Calibrated with ones, inputs are of 0
    to 1 and the sum of 0 to 2, in 255 steps from -128 on: 1 is 127 and so is 2, 1 + 0 is in the middle."""
    monkeypatch.chdir(tmp_path)
    words = "--model_name=add --delegate --quantize --output=simple_example.pte --target=vgf"
    for more in (" -i between", ""):
        run(words + more)
        file = ProgramFile(tmp_path / "simple_example.pte")
        assert file.backends == {"VgfBackend"}
        assert [call.name for call in file.calls if "quantize_per_tensor" not in call.name] == [
            "VgfBackend"
        ]
    (graph,) = (tmp_path / "between").glob("*.tosa")
    operators = operators_of(graph.read_bytes())
    assert "ADD" in operators and "RESCALE" in operators
    low, high = np.array([-128], np.int8), np.array([127], np.int8)
    for x, y, expected in ((high, high, 127), (low, low, -128), (high, low, 0), (low, high, 0)):
        (found,) = evaluate(graph.read_bytes(), [x, y])
        assert found.dtype == np.int8 and abs(int(found[0]) - expected) <= (expected == 0)


def test_records_bundles_and_what_comes_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("-m qadd2 -d -q --bundleio --etrecord -i between --memory_mode Sram_Only")
    base = "qadd2_arm_delegate_ethos-u55-128"
    between = ("qadd2_exported_program.pt2", "delegation_info.txt", "out.tosa")
    expected = {f"{base}.bpte", f"{base}_etrecord.bin", *(f"between/{each}" for each in between)}
    assert {each for each in expected if not (tmp_path / each).exists()} == set()
    (graph,) = (tmp_path / "between").glob("output_tag*.tosa")
    assert graph.read_bytes()[4:8] == b"TOSA"


def test_models_of_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script with ModelUnderTest and ModelInputs; a saved module with inputs; samples to calibrate with."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "import torch\nModelUnderTest = torch.nn.ReLU()\nModelInputs = (torch.ones(2, 3),)\n"
    )
    run("-m mine.py -d -q")
    torch.save(torch.nn.Linear(3, 2), "saved.pt")
    torch.save((torch.ones(1, 3),), "inputs.pt")
    Path("samples").mkdir()
    torch.save(torch.randn(1, 3), "samples/one.pt")
    run("-m saved.pt --model_input inputs.pt -d -q --calibration_data samples")
    with pytest.raises(SystemExit):
        run("-m saved.pt")
    with pytest.raises(RuntimeError, match="--quantize"):
        run("-m add --calibration_data samples")


@pytest.mark.req("ARM-016", "ARM-018")
def test_the_documented_module_and_the_scratch_of_its_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ethos_u_minimal_example.pte"
    words = "--model_name=add --delegate --quantize".split()
    module = "executorch.examples.arm.aot_arm_compiler"
    done = subprocess.run(
        [sys.executable, "-m", module, *words, f"--output={path}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Total SRAM used" in done.stdout
    assert get_ethosu_scratch_from_pte.main([str(path)]) == 0
    assert capsys.readouterr().out == (
        "EthosUBackend: scratch_size=144 bytes\nmax_scratch_size=144 bytes\n"
    )


def test_origins_of_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the graph as debug.json, or in it."""
    monkeypatch.chdir(tmp_path)
    run("-m qadd2 -d -q -i beside --enable_debug_mode json")
    entries = json.loads(Path("beside/debug.json").read_text())
    sums = [each for each in entries if each["aten_info"]["operator_name"] == "aten.add.Tensor"]
    assert [each["tosa_info"]["operator_name"] for each in sums].count("Op.ADD") == 1
    assert any("return x + y" in line for line in sums[0]["torch_info"]["stack_trace"])
    run("-m qadd2 -d -q -i inside --enable_debug_mode tosa")
    (graph,) = Path("inside").glob("output_tag*.tosa")
    (block,) = SCHEMA.unpack(graph.read_bytes()).regions[0].blocks
    texts = [json.loads(each.location.text)["aten_info"] for each in block.operators]
    assert {"node_name": "aten_add_tensor", "operator_name": "aten.add.Tensor"} in texts
