# SPDX-License-Identifier: BSD-3-Clause
"""From the converter's result to the bytes of a payload, and back; what the converter may do otherwise is named."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.nxp.aot import payload as payloads
from executorch.backends.nxp.aot.converted import NeutronNodeArtifacts
from executorch.backends.nxp.aot.lowering import lowered
from executorch.backends.nxp.backend import neutron_converter_manager as door
from executorch.backends.nxp.backend.data_format import DataFormat
from executorch.backends.nxp.backend.neutron_converter_manager import NeutronConverterManager
from executorch.backends.nxp.neutron_node_extraction import extract_artifacts_from_neutron_node
from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
from executorch.backends.nxp.nxp_backend import PayloadComposer, generate_neutron_compile_spec
from executorch.backends.nxp.quantizer.neutron_quantizer import NeutronQuantizer
from executorch.backends.nxp.quantizer.utils import calibrate_and_quantize
from executorch.backends.nxp.test import stand_in
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

needs_litert = pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing())
LAST, PLAIN = DataFormat.CHANNELS_LAST, DataFormat.FORMATLESS


def quantized() -> torch.export.ExportedProgram:
    torch.manual_seed(0)
    model, x = nn.Conv2d(4, 8, 1).eval(), torch.randn(1, 4, 3, 3)
    module = calibrate_and_quantize(torch.export.export(model, (x,)), [(x,)], NeutronQuantizer())
    return torch.export.export(module, (x,))


def lower(**options: Any) -> EdgeProgramManager:
    specs = generate_neutron_compile_spec("imxrt700", **options)
    return to_edge_transform_and_lower(quantized(), partitioner=[NeutronPartitioner(specs)])


def payload_of(manager: EdgeProgramManager) -> bytes:
    (delegate,) = get_lowered_backend_modules(manager.exported_program().graph_module)
    return bytes(delegate.processed_bytes)


# ---- Bytes ----


def test_the_header_is_what_the_format_says() -> None:
    """Two inputs, the second of which is channels last, and one output; three arguments."""
    formats = {"inputs": {"a": PLAIN, "unread": PLAIN, "b": LAST}, "outputs": {"c": LAST}}
    parts = NeutronNodeArtifacts(["b", "a"], [1, 0], ["c"], [0], b"m" * 17, b"w", b"k" * 16, 1)
    composer = PayloadComposer()
    header = composer._create_payload_header(formats, parts)
    assert header.tolist() == [2, 1, 3, 1, 0, 1, 2, 0, 0, 1]
    packed = composer._pack_with_alignment(header, parts)
    assert len(packed) == 16 + 32 + 16 + 16
    assert packed[16:33] == b"m" * 17 and packed[33:48] == bytes(15)
    assert packed[48:50] == b"w\0" and packed[64:] == b"k" * 16


def test_more_ports_than_a_byte_counts_are_refused() -> None:
    names = [f"x{i}" for i in range(256)]
    parts = NeutronNodeArtifacts(names, list(range(256)), ["y"], [0], b"m", b"w", b"k", 0)
    formats = {"inputs": dict.fromkeys(names, PLAIN), "outputs": {"y": PLAIN}}
    with pytest.raises(AssertionError, match="at most 255 inputs, found 256"):
        PayloadComposer()._create_payload_header(formats, parts)


@needs_litert
@pytest.mark.usefixtures("stand_in_sdk")
def test_payloads_are_read_back_and_corrupted_ones_refused() -> None:
    data = payload_of(lower(use_neutron_for_format_conversion=False))
    found = payloads.read(data)
    assert (found.input_flags, found.output_flags, found.num_arguments) == ((1,), (1,), 1)
    assert found.weights[4:8] == b"TFL3" and len(found.kernels) == 16
    plain = payloads.read(payload_of(lower()))
    assert (plain.input_flags, plain.output_flags) == ((0,), (0,))
    kernels = len(data) - len(found.kernels)
    for size in (0, 2, 3, 8, 40, 75, *range(80, kernels, 97), kernels - 1):
        with pytest.raises(ValueError, match="expected"):
            payloads.read(data[:size])
    for place, value in ((7, 2), (16, 0), (16 + 4 * 11, 2)):
        with pytest.raises(ValueError, match="expected"):
            payloads.read(data[:place] + bytes([value]) + data[place + 1 :])


# ---- The door ----


@pytest.fixture
def without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where tests of networks have put the stand-in on the path."""
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(stand_in.SDK)])
    for name in [each for each in sys.modules if each.startswith(door.SDK)]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("without_the_sdk")
def test_without_the_sdk_models_are_left(tmp_path: Path) -> None:
    for options in ({}, {"intermediates_dir": str(tmp_path)}):
        with pytest.raises(MissingCompiler) as caught:
            lower(**options)
        text = str(caught.value)
        assert "expected eiq-neutron-sdk >=3.1,<4, found none" in text and "$EIQ_PYPI_URL" in text
        (model,) = Path(text.rpartition(" are in ")[2]).glob("*.tflite")
        assert model.name == "tag0_pure.et.tflite" and model.read_bytes()[4:8] == b"TFL3"
    with pytest.raises(MissingCompiler, match="pip install --index-url"):
        NeutronConverterManager().get_converter()


@pytest.mark.usefixtures("without_the_sdk")
def test_without_the_sdk_programs_are_partitioned_and_written() -> None:
    edge = to_edge(quantized())
    reasons = NeutronPartitioner().why_not_delegated(edge)
    assert all("quantize" in node.name for node in reasons)
    partitioned = NeutronPartitioner().partition(edge.exported_program())
    assert list(partitioned.partition_tags) == ["tag0"]


@needs_litert
@pytest.mark.usefixtures("stand_in_sdk")
def test_intermediates_are_kept(tmp_path: Path) -> None:
    data = payload_of(lower(intermediates_dir=str(tmp_path)))
    pure, neutron = (tmp_path / f"tag0_{each}.et.tflite" for each in ("pure", "neutron"))
    parts = extract_artifacts_from_neutron_node(neutron)
    assert parts == extract_artifacts_from_neutron_node(neutron.read_bytes())
    assert parts.weights == pure.read_bytes() == payloads.read(data).weights
    assert struct.unpack_from("<I", parts.microcode) == (payloads.MAGIC,)
    assert parts.payload_version == 0 and parts.input_indices == parts.output_indices == [0]


@needs_litert
@pytest.mark.usefixtures("stand_in_sdk")
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("exit", "terminated unexpectedly with exit code 7"),
        ("raise", "terminated unexpectedly with exit code 1: ValueError: the stand-in was told to"),
        ("none", "expected one operator NeutronGraph, found 0"),
        ("two", "expected one operator NeutronGraph, found 2: NeutronGraph, NeutronGraph"),
        ("garbage", "the converter's result is no TFLite model"),
    ],
)
def test_what_the_converter_refuses_stays_on_the_cpu(
    how: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own, which may end."""
    monkeypatch.setattr(NeutronConverterManager, "in_process", how not in ("exit", "raise"))
    monkeypatch.setenv("NEUTRON_STAND_IN", how)
    edge = to_edge(quantized())
    reasons = NeutronPartitioner().why_not_delegated(edge)
    (found,) = {why for node, why in reasons.items() if "convolution" in node.name}
    assert reason in found


@needs_litert
@pytest.mark.usefixtures("stand_in_sdk")
def test_kernel_selection_code_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = _model()
    monkeypatch.setattr(NeutronConverterManager, "in_process", False)
    monkeypatch.chdir(tmp_path)
    manager = NeutronConverterManager(dump_kernel_selection_code=True)
    made = manager.convert(model, "imxrt700", "tag3", use_profiling=True)
    assert (tmp_path / "_kernel_selection_tag3.c").is_file() and made[4:8] == b"TFL3"
    with pytest.raises(ValueError, match="Target `other` is not a valid target"):
        manager.convert(b"", "other", "tag0")


def _model() -> bytes:
    (delegate,) = get_lowered_backend_modules(lower().exported_program().graph_module)
    return lowered(delegate.original_module, "imxrt700").tflite


def test_importing_wants_no_sdk() -> None:
    modules = (
        "nxp_backend",
        "neutron_partitioner",
        "quantizer.neutron_quantizer",
        "backend.neutron_converter_manager",
    )
    imports = "; ".join(f"import executorch.backends.nxp.{module}" for module in modules)
    code = f"{imports}; import sys; sys.exit('eiq_neutron_sdk' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
