# SPDX-License-Identifier: BSD-3-Clause
"""The documents' command with another model: its files, and what its flags ask of the partitioner."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from executorch.backends.vulkan.test.lowered import payloads
from executorch.examples.models.example import Method
from executorch.examples.vulkan import export
from executorch.runtime import Runtime


def test_files(tmp_path: Path) -> None:
    record = tmp_path / "record.etrecord"
    words = ["--model_name=linear", "-o", str(tmp_path), "-fp16", "-b", "--save_inputs"]
    assert export.main([*words, "-r", str(record)]) == 0
    names = {each.name for each in tmp_path.iterdir()}
    assert names == {"linear_vulkan.pte", "linear_vulkan.bpte", "input0.bin", record.name}
    assert len(payloads((tmp_path / "linear_vulkan.pte").read_bytes())) == 1


def test_half_precision_is_measured_by_pytorchs_own() -> None:
    """1 / 3 has 11 bits as a half: 16 sums of it are 16 times as far away."""

    class Sums(torch.nn.Module):
        def forward(self, x):
            return x.sum(-1)

    x = torch.full((1, 16), 1 / 3)
    method = Method(Sums(), (x,))
    error = export.half_error(method, method.eager()[0])
    assert error == pytest.approx(16 * abs(float(x[0, 0].half()) - 1 / 3), rel=1e-3)


@pytest.mark.full
@pytest.mark.skipif(
    not Runtime.get().backend_registry.is_available("VulkanBackend"),
    reason="this build has no Vulkan backend, or no device is here",
)
def test_mobilenet_in_half_precision(tmp_path: Path) -> None:
    """VK-013: the document's command with a model that is here."""
    assert export.main(["-m", "mv2", "-o", str(tmp_path), "-fp16", "-t"]) == 0


def test_flags_become_options() -> None:
    given = ["-m", "linear", "-fp16", "--small_texture_limits", "--skip_memory_planning", "-d"]
    args = export.parser().parse_args(given)
    keys = {each.key for each in export.partitioner(args).delegation_spec.compile_specs}
    assert keys == {*export.OPTIONS, "require_dynamic_shapes"}
    plain = export.parser().parse_args(["-m", "linear", "--no-strict", "--no-force_fp16"])
    assert not plain.strict and not export.partitioner(plain).delegation_spec.compile_specs


def test_unknown_models_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        export.main(["-m", "linaer"])
    assert "did you mean linear" in capsys.readouterr().err


def test_a_model_of_a_package_that_is_not_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(SystemExit):
        export.main(["--model_name=ic3", "-o", ".", "-fp16"])
    assert (
        "model 'ic3': InceptionV3Model is torchvision's inception_v3; pip install torchvision"
        in capsys.readouterr().err
    )
