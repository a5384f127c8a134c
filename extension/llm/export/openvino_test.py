# SPDX-License-Identifier: BSD-3-Clause
"""Language models for OpenVINO: files compute what their eager models do, with weights of 8 and 4 bits nearly so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torchao.quantization.utils import compute_error

from executorch.backends.openvino.quantizer.nncf_library import NNCF
from executorch.backends.openvino.test.lowered import BACKEND, needs_compiler, needs_runtime
from executorch.extension.llm.export.caches_test import run_steps
from executorch.extension.llm.export.partitioner_lib import get_openvino_partitioner
from executorch.extension.llm.export.pipeline import export_llama, output_path
from executorch.extension.llm.export.quantizer_lib import get_ov_quantizer
from executorch.extension.llm.transform.transform_test import (
    checkpoint,
    config_for,
    prepared,
    stepwise,
)

__all__ = ["checkpoint"]  # the fixture

needs_nncf = pytest.mark.skipif(bool(NNCF.why_missing()), reason=NNCF.why_missing())
_OPENVINO = {"openvino": {"enabled": True, "device": "CPU"}}


def _exported(folder: Path, path: Path, **groups: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """What the file computes, and the eager model."""
    config = config_for(folder, export={"output_name": str(path)}, **groups)
    expected = stepwise(prepared(config))
    export_llama(config)
    assert BACKEND.encode() in path.read_bytes()
    return run_steps(path), expected


@needs_compiler
@needs_runtime
@pytest.mark.slow
def test_a_language_model(checkpoint: tuple, tmp_path: Path) -> None:
    found, expected = _exported(checkpoint[0], tmp_path / "m.pte", backend=_OPENVINO)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@needs_compiler
@needs_runtime
@needs_nncf
@pytest.mark.slow
@pytest.mark.parametrize(
    ("quantization", "decibels"),
    [
        ({"pt2e_quantize": "openvino_8wo"}, 30.0),
        ({"pt2e_quantize": "openvino_4wo", "group_size": 32}, 10.0),
    ],
)
def test_weights_in_few_bits(
    checkpoint: tuple, tmp_path: Path, quantization: dict[str, Any], decibels: float
) -> None:
    """Rounding to 1/2**bits of the largest weight of a row is about 6 decibels for each bit."""
    groups = {"quantization": quantization, "backend": _OPENVINO}
    config = config_for(checkpoint[0])
    expected = stepwise(prepared(config))
    found, _ = _exported(checkpoint[0], tmp_path / "m.pte", **groups)
    assert compute_error(expected, found) > decibels


@needs_nncf
@needs_compiler
def test_groups_of_weights() -> None:
    """`nncf_compression_group_size` is for who gives no quantization.group_size; -1 is a whole row."""
    assert get_ov_quantizer("openvino_4wo", -1).get_weights_compression_config()["group_size"] == -1
    assert get_ov_quantizer("openvino_8wo").get_weights_compression_config()["mode"] == "int8_asym"
    with pytest.raises(ValueError, match="expected a number of weights"):
        get_ov_quantizer("openvino_4wo", None)
    with pytest.raises(ValueError, match="openvino_4wo or openvino_8wo"):
        get_ov_quantizer("xnnpack_dynamic")


@needs_nncf
@needs_compiler
def test_scale_estimation_asks_for_text(checkpoint: tuple, tmp_path: Path) -> None:
    openvino = {**_OPENVINO["openvino"], "openvino_scale_estimation": True, "openvino_awq": True}
    config = config_for(
        checkpoint[0],
        export={"output_name": str(tmp_path / "m.pte")},
        quantization={"pt2e_quantize": "openvino_4wo"},
        backend={"openvino": openvino},
    )
    with pytest.raises(ValueError, match="scale estimation needs calibration text"):
        export_llama(config)


@needs_compiler
def test_names(checkpoint: tuple) -> None:
    config = config_for(checkpoint[0], backend=_OPENVINO)
    config.export.output_name = None
    assert output_path(config).name.startswith("openvino_")
    (spec,) = get_openvino_partitioner("GPU").delegation_spec.compile_specs
    assert (spec.key, spec.value) == ("device", b"GPU")
