# SPDX-License-Identifier: BSD-3-Clause
"""Language models for Core ML: models compute what their eager models do, with caches as states and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.executorchcoreml import read_files
from executorch.backends.apple.coreml.quantizer import CoreMLQuantizer
from executorch.backends.apple.coreml.test import mil_evaluator
from executorch.backends.apple.coreml.test.stand_in import stand_in
from executorch.backends.vulkan.quantizer.vulkan_quantizer import VulkanQuantizer
from executorch.devtools.commands.program_file import ProgramFile
from executorch.extension.llm.export.config.rules import check
from executorch.extension.llm.export.partitioner_lib import get_coreml_partitioner
from executorch.extension.llm.export.pipeline import (
    export_llama,
    output_path,
    partitioners_for,
)
from executorch.extension.llm.export.quantizer_lib import (
    get_coreml_quantizer,
    get_vulkan_quantizer,
    quantizers_for,
)
from executorch.extension.llm.transform.transform_test import (
    TOKENS,
    checkpoint,
    config_for,
    prepared,
    stepwise,
)
from executorch.runtime import Runtime

__all__ = ["checkpoint"]  # the fixture

STEPS = tuple((place, place + 1) for place in range(6))


def config_of(folder: Path, path: Path | None = None, model: Any = None, **coreml: Any) -> Any:
    """A token at a time, as Core ML's models are of fixed sizes."""
    return config_for(
        folder,
        model={"enable_dynamic_shape": False, **(model or {})},
        backend={"coreml": {"enabled": True, **coreml}},
        export={"output_name": str(path)} if path else {},
    )


def payload_of(path: Path, operators: tuple[str, ...] = ()) -> bytes:
    """The model of a program that is a delegate, and calls these."""
    file = ProgramFile(path)
    (plan,) = [each for each in file.program.execution_plan if each.name == "forward"]
    (delegate,) = plan.delegates
    assert delegate.id == "CoreMLBackend"
    assert tuple(each.name for each in plan.operators) == operators
    return file.payload(delegate)


def run_steps(path: Path) -> torch.Tensor:
    """By the runtime, with a stand-in for Core ML."""
    stand_in()
    method = Runtime.get().load_program(path).load_method("forward")
    found = [method.execute([TOKENS[:, a:b], torch.tensor([a])])[0].clone() for a, b in STEPS]
    return torch.cat(found).float()


@pytest.mark.slow
def test_caches_are_states(checkpoint: tuple, tmp_path: Path) -> None:
    """Of float16 whatever the precision is: 11 bits, through two layers."""
    config = config_of(checkpoint[0], tmp_path / "m.pte", ios=18, enable_state=True)
    expected = stepwise(prepared(config), STEPS)
    export_llama(config)
    blob = payload_of(tmp_path / "m.pte")
    names = json.loads(read_files(blob)["metadata.json"])["inputNames"]
    assert len(names) == 2  # tokens and place
    run = mil_evaluator.load(blob, {})
    found = [run([TOKENS[:, start:end], torch.tensor([start])])[0] for start, end in STEPS]
    torch.testing.assert_close(torch.cat(found).float(), expected, rtol=0, atol=0.02)
    torch.testing.assert_close(run_steps(tmp_path / "m.pte"), expected, rtol=0, atol=0.02)


@pytest.mark.slow
def test_caches_of_the_program(checkpoint: tuple, tmp_path: Path) -> None:
    """Earlier targets have no states: a delegate is given the caches, and gives them back."""
    config = config_of(checkpoint[0], tmp_path / "m.pte", ios=17)
    expected = stepwise(prepared(config), STEPS)
    export_llama(config)
    blob = payload_of(tmp_path / "m.pte", ("aten::copy_",))
    names = json.loads(read_files(blob)["metadata.json"])
    assert len(names["inputNames"]) == 2 + 2 * 2 and len(names["outputNames"]) == 1 + 2 * 2
    torch.testing.assert_close(run_steps(tmp_path / "m.pte"), expected, rtol=0, atol=0.02)


def test_names_and_options(checkpoint: tuple) -> None:
    assert output_path(config_of(checkpoint[0])).name.startswith("coreml_")
    chosen = get_coreml_partitioner(18, None, None, "b4w", "cpu_and_ne")
    specs = {each.key: each.value.decode() for each in chosen.delegation_spec.compile_specs}
    assert specs["min_deployment_target"] == "9" and specs["compute_units"] == "cpu_and_ne"
    assert json.loads(specs["op_linear_quantizer_config"]) == {
        "mode": "linear_symmetric", "dtype": "int4", "granularity": "per_block", "block_size": 32,
        "weight_threshold": 512,
    }  # fmt: skip
    assert not chosen.take_over_mutable_buffer
    options = {"ios": 18, "quantize": "b4w", "compute_units": "cpu_and_ne"}
    (of_config,) = partitioners_for(config_of(checkpoint[0], **options))
    assert of_config.delegation_spec == chosen.delegation_spec
    wrong = [
        ((17, "4,32"), "per-block quantization is introduced in iOS 18"),
        ((15, None, "coreml_8a_c8w"), "quantization is introduced in iOS 16"),
        ((16, None, "coreml_8a_c8w"), "8-bit activation quantization is introduced in iOS 17"),
        ((17, None, None, "c4w"), "4-bit weight compression is introduced in iOS 18"),
    ]
    for options, text in wrong:
        with pytest.raises(ValueError, match=text):
            get_coreml_partitioner(*options)
    with pytest.raises(AssertionError, match="expected 15, 16, 17 or 18, found 14"):
        get_coreml_partitioner(14)


@pytest.mark.parametrize(
    ("model", "coreml", "text"),
    [
        ({"enable_dynamic_shape": True}, {}, "Dynamic shape is not supported with coreml, MPS or qnn backends"),
        ({}, {"enable_state": True}, "enable_state needs backend.coreml.ios=18"),
        ({}, {"preserve_sdpa": True, "ios": 17}, "preserve_sdpa needs backend.coreml.ios=18"),
        ({}, {"quantize": "b4w", "ios": 17}, "18 weights of 4 bits"),
        ({"use_sdpa_with_kv_cache": True}, {}, "attention for CPUs"),
    ],
)  # fmt: skip
def test_what_cannot_be(checkpoint: tuple, model: Any, coreml: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        check(config_of(checkpoint[0], model=model, **coreml))


def test_quantizers(checkpoint: tuple) -> None:
    def named(name: str) -> list[str]:
        config = config_of(checkpoint[0], ios=18)
        config.quantization.pt2e_quantize = name
        return [type(each).__name__ for each in quantizers_for(config)]

    assert named("coreml_8a_c8w") == [type(get_coreml_quantizer("coreml_8a_c8w")).__name__]
    assert type(get_coreml_quantizer("coreml_8a_c8w")) is CoreMLQuantizer
    assert type(get_vulkan_quantizer("vulkan_8w")) is VulkanQuantizer
    assert (
        named("coreml_baseline_8a_c8w") == named("coreml_baseline_8a_c4w") == ["XNNPACKQuantizer"]
    )
    with pytest.raises(
        NotImplementedError, match="4-bit Core ML quantizer is still under development"
    ):
        named("coreml_c4w")
    with pytest.raises(ValueError, match="Unsupported Core ML quantizer specification coreml_x"):
        named("coreml_x")
