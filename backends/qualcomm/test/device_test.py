# SPDX-License-Identifier: BSD-3-Clause
"""From a model to outputs by the calls of scripts: on this computer, and over an `adb` in the place of Android's, which
logs its words and has a folder as its phone."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from executorch.backends.qualcomm.export_utils import (
    QnnConfig,
    SimpleADB,
    build_executorch_binary,
    generate_inputs,
    make_quantizer,
    setup_common_args_and_variables,
)
from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.test import stand_in
from executorch.backends.qualcomm.test.stand_in import stand_in_sdk
from executorch.exir.error import ExportError
from executorch.test.e2e.build_tree import build_folder

__all__ = ["stand_in_sdk"]
pytestmark = [
    pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing()),
    pytest.mark.usefixtures("stand_in_sdk"),
]
ADB = """#!/bin/sh
echo "$@" >> {log}
shift 2
case "$1" in
  shell) exec sh -c "$2" ;;
  push) cp "$2" "$3" ;;
  pull) cp -a "$3" "$4" ;;
esac
"""


def config(**given: Any) -> QnnConfig:
    return QnnConfig(
        **{"soc_model": "SM8650", "build_folder": str(build_folder()), "device": "0123"} | given
    )


@pytest.fixture
def adb_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "adb").write_text(ADB.format(log=tmp_path / "adb.log"))
    (folder / "adb").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return tmp_path / "adb.log"


def samples(count: int = 3) -> list[tuple[torch.Tensor, ...]]:
    torch.manual_seed(0)
    return [(torch.randn(2, 6),) for _ in range(count)]


def model() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 4), nn.ReLU()).eval()


def outputs(folder: Path) -> list[torch.Tensor]:
    files = sorted(folder.glob("outputs/output_*_0.raw"))
    return [torch.from_numpy(np.fromfile(each, np.float32)).reshape(2, 4) for each in files]


def test_a_network_on_this_computer(tmp_path: Path) -> None:
    chosen = config(enable_x86_64=True, device=None)
    build_executorch_binary(model(), chosen, str(tmp_path / "net"), samples(), metadata={"n": 1})
    adb = SimpleADB(chosen, tmp_path / "net.pte", str(tmp_path / "here"))
    adb.push(inputs=samples())
    adb.execute()
    adb.pull(tmp_path)
    for found, (x,) in zip(outputs(tmp_path), samples(), strict=True):
        torch.testing.assert_close(found, model()(x), atol=1e-5, rtol=1e-5)
    adb.pull_etdump(tmp_path / "run.etdp")
    assert (tmp_path / "run.etdp").stat().st_size > 0


def test_a_quantized_network_over_adb(tmp_path: Path, adb_log: Path) -> None:
    build_executorch_binary(
        model(), config(), str(tmp_path / "net"), samples(), QuantDtype.use_8a8w
    )
    adb = SimpleADB(config(), tmp_path / "net.pte", str(tmp_path / "phone"), error_only=True)
    adb.libraries = lambda backends: []  # the stand-in SDK has none for phones
    adb.push(inputs=samples(), files=[])
    adb.execute(iteration=2)
    adb.pull(tmp_path)
    for found, (x,) in zip(outputs(tmp_path), samples(), strict=True):
        assert (found - model()(x)).abs().max() < 0.05
    words = adb_log.read_text().splitlines()
    assert all(each.startswith("-s 0123 ") for each in words)
    assert words[0] == f"-s 0123 shell rm -rf {tmp_path}/phone; mkdir -p {tmp_path}/phone/outputs"
    assert sum(" push " in each for each in words) == 2 + 4
    assert "--iteration 2" in words[-2] and words[-1].endswith(f"/phone/outputs {tmp_path}")


def test_libraries_that_the_sdk_lacks_are_named(tmp_path: Path) -> None:
    (tmp_path / "net.pte").touch()
    with pytest.raises(FileNotFoundError, match="hexagon-v75/unsigned/libQnnHtpV75Skel.so: exp"):
        SimpleADB(config(), tmp_path / "net.pte", "/data").libraries(
            [stand_in.QnnExecuTorchBackendType.kHtpBackend]
        )


def test_a_run_that_fails_is_said(tmp_path: Path, adb_log: Path) -> None:
    (tmp_path / "net.pte").write_bytes(b"no program")
    adb = SimpleADB(config(), tmp_path / "net.pte", str(tmp_path / "phone"))
    adb.libraries = lambda backends: []
    adb.push()
    with pytest.raises(RuntimeError, match="qnn_executor_runner"):
        adb.execute()
    with pytest.raises(FileNotFoundError, match="my_runner: expected in"):
        SimpleADB(config(), "net.pte", "/data", runner="my_runner")


def test_flags_and_files_make_a_configuration(tmp_path: Path) -> None:
    words = "-m SM8750 -b build-android -s 77 --skip_delegate_node_ops aten.add.Tensor".split()
    parsed = setup_common_args_and_variables().parse_args([*words, "--download", "-H", "box"])
    found = QnnConfig.load_config(parsed)
    assert (found.soc_model, found.device, found.host, found.port) == ("SM8750", "77", "box", -1)
    assert found.skip_delegate_node_ops == "aten.add.Tensor" and found.htp_performance_mode == 2
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"soc_model": "SM8550", "build_folder": "b", "compile_only": True}))
    assert QnnConfig.load_config(str(file)).soc_model == "SM8550"
    from_both = QnnConfig.load_config(argparse.Namespace(config_file=str(file), seed=3))
    assert (from_both.soc_model, from_both.seed) == ("SM8550", 3)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="device serial is required"):
        config(device=None)
    with pytest.raises(ValueError, match="unknown SoC model for QNN: SM1"):
        config(soc_model="SM1")
    with pytest.raises(ValueError, match="htp, gpu, lpai, found npu"):
        config(backend="npu")
    with pytest.raises(ExportError, match="build_folder is not set"):
        config(build_folder="")
    monkeypatch.delenv("QNN_SDK_ROOT")
    with pytest.raises(ExportError, match="QNN_SDK_ROOT is not set"):
        config()


def test_compiling_alone_ends_the_process(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        build_executorch_binary(
            model(), config(compile_only=True, device=None), str(tmp_path / "a" / "net"), samples(1)
        )
    assert ended.value.code == 0 and (tmp_path / "a" / "net.pte").exists()
    with pytest.raises(ExportError, match="qat_training_data"):
        build_executorch_binary(model(), config(), "x", samples(1), qat_training_data=[1])


def test_inputs_are_files_and_a_list(tmp_path: Path) -> None:
    written = generate_inputs(tmp_path, "list.txt", samples(2), "test")
    assert [each.name for each in written] == ["test_input_0_0.raw", "test_input_1_0.raw", "list.txt"]  # fmt: skip
    assert written[-1].read_text() == "test_input_0_0.raw\ntest_input_1_0.raw\n"
    assert np.fromfile(written[1], np.float32).tolist() == samples(2)[1][0].flatten().tolist()


def test_the_quantizer_of_scripts() -> None:
    quantizer = make_quantizer(QuantDtype.use_16a8w, per_channel_linear=True)
    assert type(quantizer).__name__ == "QnnQuantizer"
    with pytest.raises(KeyError):
        make_quantizer(soc_model="SM1")
