# SPDX-License-Identifier: BSD-3-Clause
"""What the converter and the compiler are asked is what 1.4.1 asks of the same models; payloads and named data
likewise. What they refuse goes back to the CPU with its reason."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.mediatek import payload_reader
from executorch.backends.mediatek.compiler import unpack
from executorch.backends.mediatek.partitioner import (
    NeuropilotOperatorsSupport,
    NeuropilotPartitioner,
    default_partitioner,
)
from executorch.backends.mediatek.preprocess import NeuropilotBackend, assert_default_dim_order
from executorch.backends.mediatek.test.stand_in import (
    PLATFORM,
    Function,
    delegates,
    lowered,
    models_in,
    named_data,
    recording,
)
from executorch.exir import to_edge
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.graph_facts import op_name

OPTIONS = "--relax-fp32 --opt=3 --platform-config=mt6989"
PERMUTED = "aten.permute_copy.default aten.addmm.default"
SUM = Function(lambda _, x, y: x + y)
X, Y = torch.ones(2, 8), torch.zeros(2, 8)


def asked(log: list[Any]) -> list[Any]:
    """But for single calls, which 1.4.1 asks for in another order."""
    return [each for each in log if each[0] != "is_fx_node_supported"]


def attributes(inputs: list[int], outputs: list[int]) -> list[Any]:
    return [
        ["set", "quantize", True],
        ["set", "input_quantization_bitwidths", None],
        ["set", "allow_missing_quantization_ranges", True],
        ["set", "prepend_input_quantize_ops", True],
        ["set", "prepend_input_quantize_ops_indices", inputs],
        ["set", "append_output_dequantize_ops", True],
        ["set", "append_output_dequantize_ops_indices", outputs],
        ["convert_to_mlir"],
    ]


def compiled(names: str, options: str, inputs: list[int], outputs: list[int]) -> list[Any]:
    return [
        ["from_exported_program", names.split()],
        *attributes(inputs, outputs),
        ["compile", names, options],
    ]


def test_calls_and_payload_of_one_method(capsys: pytest.CaptureFixture[str]) -> None:
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4), nn.Softmax(-1))
    names = f"{PERMUTED} aten.gelu.default {PERMUTED} aten._softmax.default"
    with recording() as log:
        manager = lowered(model, X, decompose_linear=True)
    (delegate,) = delegates(manager)
    assert asked(log) == compiled(names, OPTIONS, [0], [0])
    assert log[0] == ["is_fx_node_supported", "aten.permute_copy.default"]
    # version 1; one input; one output; 45 + 1 + 129 bytes
    start = bytes.fromhex("01 01000000 01000000 af000000")
    assert delegate.processed_bytes == start + f"{OPTIONS}\n{names}".encode()
    assert named_data(delegate) == {} and delegate.compile_specs == [PLATFORM]
    assert "progress" not in capsys.readouterr().out


@pytest.mark.req("NPU-025")
def test_options_are_texts_in_their_order() -> None:
    specs = {"HighAddr": b"\1", "ImportForever": b"\1", "gno": b"LTS", "gno-exp": b""}
    given = [PLATFORM, *(CompileSpec(key, value) for key, value in specs.items())]
    with recording():
        (text,) = models_in(lowered(SUM, X, Y, specs=given))
    assert text == f"{OPTIONS} --HighAddr=\1 --gno=LTS --gno-exp\naten.add.Tensor"


def test_integers_and_halves_are_not_quantized() -> None:
    model = Function(lambda _, x, y: (x.to(torch.int32), y.to(torch.float16), x * y))
    with recording() as log:
        lowered(model, torch.ones(2), torch.ones(2))
    assert ["set", "prepend_input_quantize_ops_indices", [0, 1]] in log
    assert ["set", "append_output_dequantize_ops_indices", [2]] in log


def test_methods_share_weights() -> None:
    """Of one key; another key is another blob, and a method without a key has its weights to itself."""
    conv = nn.Conv2d(3, 4, 3), (torch.ones(1, 3, 4, 4),)
    models = {"a": (SUM, (X, Y)), "b": conv, "c": (Function(lambda _, x: x * 2), (X,)),
              "d": (nn.ReLU(), (X,))}  # fmt: skip
    keys = {"a": b"k", "b": b"l", "c": b"k", "d": None}
    specs = {
        name: [PLATFORM] + ([] if key is None else [CompileSpec("ExtractSharedBlobKey", key)])
        for name, key in keys.items()
    }
    with recording() as log:
        made = delegates(lowered(models, specs=specs))
    sharing = f"{OPTIONS} --dla-opt=0"
    a, b, c = (
        f"{sharing}\n{name}"
        for name in ("aten.add.Tensor", "aten.convolution.default", "aten.mul.Tensor")
    )
    assert [each for each in log if each[0] == "extract_shared_data"] == [
        ["extract_shared_data", [a, c], "-e union"],
        ["extract_shared_data", [b], "-e union"],
    ]
    found = {
        name: (unpack(each.processed_bytes), named_data(each))
        for name, each in zip("abcd", made, strict=True)
    }
    assert found == {
        "a": ((2, 1, b"rest of " + a.encode()), {"k": b"shared by 2"}),
        "b": ((1, 1, b"rest of " + b.encode()), {"l": b"shared by 1"}),
        "c": ((1, 1, b"rest of " + c.encode()), {"k": b"shared by 2"}),
        "d": ((1, 1, f"{OPTIONS}\naten.relu.default".encode()), {}),
    }


@pytest.mark.parametrize(
    ("specs", "kind", "message"),
    [
        ([PLATFORM, PLATFORM], RuntimeError, "Unsupported duplicated keys in the CompileSpec settings."),
        ([], RuntimeError, "Following keys are required in the CompileSpec settings: {'platform-config'}"),
        ([CompileSpec("platform-config", b"mt1")], ValueError,
         "Given mt1 but expected to be one of mt6989, mt6991, mt6993"),
    ],
)  # fmt: skip
@pytest.mark.req("NPU-025")
def test_compile_specs_are_checked(specs: list[CompileSpec], kind: type, message: str) -> None:
    program = to_edge(torch.export.export(SUM, (X, Y))).exported_program()
    with recording():
        for ask in (
            lambda: lowered(SUM, X, Y, specs=specs),
            lambda: NeuropilotBackend.preprocess(program, specs),
        ):
            with pytest.raises(kind) as caught:
                ask()
            assert message in str(caught.value)


def left(model: nn.Module, *inputs: torch.Tensor, **how: Any) -> dict[str, str]:
    """By operator, why it is not delegated."""
    program = to_edge(torch.export.export(model, inputs)).exported_program()
    found = NeuropilotPartitioner([PLATFORM], **how).why_not_delegated(program)
    return {op_name(node): why for node, why in found.items()}


@pytest.mark.parametrize(
    ("module", "names", "reason"),
    [
        ("mtk_converter", "refused", "MediaTek's converter does not take it"),
        ("mtk_converter", "unconverted", "MediaTek's compiler failed: cannot convert aten.sin.default"),
        ("mtk_neuron", "refused", "MediaTek's compiler failed: aten.sin.default is not supported by the platform"),
    ],
)  # fmt: skip
def test_what_is_refused_goes_back(module: str, names: str, reason: str) -> None:
    model = Function(lambda _, x: torch.sin(x + 1))
    with recording():
        setattr(import_module(module), names, {"aten.sin.default"})
        assert left(model, X) == {"aten.sin.default": reason}
        assert models_in(lowered(model, X)) == [f"{OPTIONS}\naten.add.Tensor"]


def test_users_keep_calls_undelegated() -> None:
    model = Function(lambda _, x: torch.relu(x + 1))
    with recording():
        reason = {"aten.relu.default": "its operator is in op_types_to_skip"}
        assert left(model, X, op_types_to_skip={"aten.relu.default"}) == reason
        reason = {"aten.relu.default": "its name is in op_names_to_skip"}
        assert left(model, X, op_names_to_skip={"aten_relu_default"}) == reason
        program = to_edge(torch.export.export(model, (X,))).exported_program()
        support = NeuropilotOperatorsSupport({"aten.relu.default"})
        found = [op_name(n) for n in program.graph.nodes if support.is_node_supported({}, n)]
        assert found == ["aten.add.Tensor"]


def test_inputs_that_lie_channels_last_are_left() -> None:
    image = torch.ones(1, 3, 4, 4).to(memory_format=torch.channels_last)
    with recording():
        assert left(SUM, image, image) == {
            "aten.add.Tensor": "a contiguous tensor is expected, found float32 [1, 3, 4, 4]"
        }
        program = to_edge(torch.export.export(SUM, (image, image))).exported_program()
        with pytest.raises(RuntimeError, match=r"\(0, 1, 2, 3\), but got \(0, 2, 3, 1\).* node "):
            assert_default_dim_order(program.graph_module)


def test_linear_layers_are_decomposed_for_a_converter_that_has_none() -> None:
    with recording():
        assert models_in(lowered(nn.Linear(8, 4), X)) == [f"{OPTIONS}\naten.linear.default"]
        mtk_converter = import_module("mtk_converter")

        mtk_converter.refused = {"aten.linear.default"}
        assert models_in(lowered(nn.Linear(8, 4), X)) == [f"{OPTIONS}\n{PERMUTED}"]


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("aten.pixel_shuffle.default", nn.PixelShuffle(2)),
        ("aten.upsample_bilinear2d.vec", nn.Upsample(scale_factor=2, mode="bilinear")),
        ("aten.upsample_nearest2d.vec", nn.Upsample(scale_factor=2)),
    ],
)
def test_preserved_operators(name: str, model: nn.Module) -> None:
    with recording():
        assert models_in(lowered(model, torch.ones(1, 4, 4, 4))) == [f"{OPTIONS}\n{name}"]


def test_without_the_wheels_they_are_named() -> None:
    partitioner = default_partitioner()
    program = to_edge(torch.export.export(SUM, (X, Y))).exported_program()
    for ask in (
        lambda: partitioner.partition(program),
        lambda: NeuropilotBackend.preprocess(program, [PLATFORM]),
    ):
        with pytest.raises(MissingCompiler) as caught:
            ask()
        for text in (
            "expected mtk_converter >=8.13,<9, found none",
            "expected mtk_neuron >=8.2,<9, found none",
            "for Python 3.10 and later, on Linux",
            "https://neuropilot.mediatek.com/resources/public/npexpress/en/docs/npexpress",
        ):
            assert text in str(caught.value)


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with recording():
        mtk_neuron = import_module("mtk_neuron")

        monkeypatch.setattr(mtk_neuron, "__version__", "7.2.4")
        with pytest.raises(MissingCompiler, match="expected mtk_neuron >=8.2,<9, found 7.2.4"):
            lowered(SUM, X, Y)


def test_payloads_that_are_cut_or_of_another_version() -> None:
    payload = bytes.fromhex("01 02000000 01000000 03000000") + b"abc"
    assert unpack(payload) == (2, 1, b"abc") and unpack(payload).pack() == payload
    assert payload_reader.facts(payload)[2] == ("bytes of the model", "3")
    wrong = [payload[:size] for size in range(len(payload))] + [b"\2" + payload[1:], payload + b"?"]
    for each in wrong:
        with pytest.raises(ValueError, match="NeuropilotBackend payload: expected a"):
            payload_reader.operators(each)
