# SPDX-License-Identifier: BSD-3-Clause
"""The documents' blocks on getting started and on XNNPACK run."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.costs.timing import traced
from executorch.devtools.devices.job import Job
from executorch.examples.models import make_example
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.runtime import Runtime
from executorch.test.documents import guide

Names = dict[str, Any]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def torchvision(monkeypatch: pytest.MonkeyPatch) -> None:
    guide.put_torchvision(monkeypatch)


def block(page: str, *words: str) -> str:
    """The one block of a page with all of these words, as it runs today."""
    (code,) = [code for code in guide.today(page) if all(word in code for word in words)]
    return code


def only_delegates(path: str) -> set[str]:
    """Who computes; an operator outside of delegates has its own name."""
    return {call.name for call in ProgramFile(Path(path)).calls}


# Kinds of layers as XNNPACK calls them, and as kernels of ours are called.
EIGHT_BITS = re.compile(r"QS8|\(INT8\)")
FLOAT_LAYERS = re.compile(r"NHWC, F32|(onvolution|Matmul) \(F32\)")


def kinds_of(path: str) -> str:
    """Names of XNNPACK's operators and of steps of ours, as a run reports them."""
    file = ProgramFile(Path(path))
    events = traced(Job(file.data, "forward", [torch.zeros(1, 3, 224, 224)]))
    return " ".join(event.name for event in events)


def outputs(path: str, x: torch.Tensor) -> torch.Tensor:
    return Runtime.get().load_program(path).load_method("forward").execute([x])[0]


@pytest.mark.req("PY-C03")
def test_getting_started_prints_true(capsys: pytest.CaptureFixture[str]) -> None:
    """Random weights and inputs: of a tenth of their draws some element near 0 is off by more than 1e-5, of 2.5."""
    torch.manual_seed(0)
    names: Names = {}
    for code in guide.today("getting_started.md"):
        guide.run(code, names)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "Comparing against original PyTorch module",
        "True",
    ]
    modules = get_lowered_backend_modules(edge_of_mv2().exported_program().graph_module)
    assert [module.backend_id for module in modules] == ["XnnpackBackend"]


def edge_of_mv2() -> Any:
    program = make_example("mv2").forward.export()
    return to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])


@pytest.mark.req("XQ-017")
def test_the_overview_and_the_tutorial() -> None:
    names = guide.run(block("xnnpack.md", '"mv2_xnnpack.pte"'), {})
    names = guide.run(block("xnnpack.md", "exported_program: ExportedProgram"), names)
    names = guide.run(block("xnnpack.md", '"xnnpack_mobilenetv2.pte"'), names)
    x = torch.randn(1, 3, 224, 224)
    with torch.no_grad():
        expected = names["mobilenet_v2"](x)
    for path in ("mv2_xnnpack.pte", "xnnpack_mobilenetv2.pte"):
        torch.testing.assert_close(outputs(path, x), expected, rtol=1e-3, atol=1e-5)
        assert only_delegates(path) == {"XnnpackBackend"} and not EIGHT_BITS.search(kinds_of(path))
        weights = sum(each.numel() for each in names["mobilenet_v2"].parameters())
        assert 3.9 * weights < Path(path).stat().st_size < 4.2 * weights


@pytest.mark.req("XQ-017", "XQ-020", "XQ-C05", "XQ-C06")
def test_the_tutorial_quantized() -> None:
    names = guide.run(block("xnnpack.md", "exported_program: ExportedProgram"), {})
    guide.run(block("xnnpack.md", "def quantize("), names)
    guide.run(block("xnnpack.md", '"qs8_xnnpack_mobilenetv2.pte"'), names)
    (x,) = names["sample_inputs"]
    with torch.no_grad():
        expected = make_example("mv2").forward.module(x)
        theirs = (names["quantized_mobilenetv2"](x) - expected).norm()
    path = "qs8_xnnpack_mobilenetv2.pte"
    ours = (outputs(path, x) - expected).norm()
    assert ours <= 1.1 * theirs < 0.25 * expected.norm()
    # Weights and values of 8 bits: a quarter of the bytes, and kernels for them in all but the conversions.
    weights = sum(each.numel() for each in make_example("mv2").forward.module.parameters())
    assert 0.97 * weights < Path(path).stat().st_size < 1.2 * weights
    kinds = kinds_of(path)
    assert only_delegates(path) == {"XnnpackBackend"}
    assert EIGHT_BITS.search(kinds) and not FLOAT_LAYERS.search(kinds)


@pytest.mark.req("DT-032")
def test_the_troubleshooting_page_shows_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("executorch.backends.xnnpack.partition")
    before = logger.level, list(logger.handlers)
    try:
        guide.run(block("xnnpack.md", "logging.getLogger"), {})
        program = torch.export.export(Erf(), (torch.randn(3),))
        to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    finally:
        logger.level, logger.handlers[:] = before
    assert "erf" in capsys.readouterr().err


class Erf(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.erf(x)


@pytest.mark.req("XQ-018", "XQ-022", "XQ-C02", "XQ-C07")
def test_the_internals_page() -> None:
    names = guide.run(block("xnnpack.md", "XNNPACKQuantizer()\nquantizer.set_global"), {})
    config = names["get_symmetric_quantization_config"]()
    quantizer = names["quantizer"]
    names |= {"torch": torch, "quantization_config": config}
    names |= {"prepare_pt2e": prepare_pt2e, "convert_pt2e": convert_pt2e}
    names |= {"model_to_quantize": torch.nn.Linear(4, 3).eval()}
    names |= {"example_inputs": (torch.randn(2, 4),)}
    guide.run(block("xnnpack.md", "prepared_model.graph"), names)
    guide.run(block("xnnpack.md", "convert_pt2e(prepared_model)"), names)
    targets = " ".join(str(node.target) for node in names["quantized_model"].graph.nodes)
    assert "quantized_decomposed.quantize_per_tensor" in targets
    assert "quantized_decomposed.dequantize_per_tensor" in targets
    guide.run(block("xnnpack.md", '"foo.bar"'), names)
    assert names["quantizer"] is quantizer
    linear = guide.run(block("xnnpack.md", "_qdq_quantized_linear"), names)["_qdq_quantized_linear"]
    int8 = (-128, 127)
    x, weight = (torch.randint(-9, 9, (2, 2), dtype=torch.int8) for _ in range(2))
    out = linear(x, 0.5, 0, *int8, weight, 0.5, 0, *int8, torch.zeros(2), 1.0, 0, *int8)
    assert torch.equal(out, (x.float() @ weight.float().T / 4).round().to(torch.int8))
