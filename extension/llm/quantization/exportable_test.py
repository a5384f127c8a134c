# SPDX-License-Identifier: BSD-3-Clause
"""Weights by recipes, in forms that export: numbers by arithmetic, programs beside eager."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torchao.quantization import Int4Tensor, IntxUnpackedToInt8Tensor

from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.extension.llm.export.gguf import ExportableGGUFTensor, iter_gguf
from executorch.extension.llm.export.int4 import ExportableInt4Tensor
from executorch.extension.llm.export.load import (
    assign_one,
    assign_state_dict,
    iter_checkpoint,
    load_checkpoint,
)
from executorch.extension.llm.export.quant import (
    QuantConfig,
    QuantRecipe,
    QuantRule,
    dequantize_weight,
    fuse_along_output,
    identity,
    quantize_model,
    quantize_weight,
    to_default,
    to_exportable,
)
from executorch.extension.llm.export.quant.convert import maybe_cast
from executorch.extension.llm.export.quantize import quantize_model_
from executorch.runtime import Runtime


def _config(
    bits: int, group: int = 32, symmetric: bool = True, method: str = "min_max"
) -> QuantConfig:
    return QuantConfig(bits, group, symmetric, method)


def test_the_first_rule_that_takes_a_name_decides() -> None:
    recipe = QuantRecipe(
        [
            QuantRule(r".*norm\.weight", None),
            QuantRule(r".*\.w2\.weight", _config(8), layers={0, 2}),
            QuantRule(r".*\.weight", _config(4)),
        ]
    )
    assert recipe.get_config("layers.1.norm.weight") is None
    assert recipe.get_config("layers.2.w2.weight").bits == 8
    assert recipe.get_config("layers.1.w2.weight").bits == 4
    assert recipe.get_config("layers.12.w2.weight").bits == 4
    assert recipe.get_config("layers.1.w2.bias") is None
    assert QuantRecipe([QuantRule("wq", _config(4))]).get_config("layers.0.wq") is None


@pytest.mark.parametrize("method", ["min_max", "hqq"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("bits", [4, 5, 6, 8])
def test_a_weight_is_near_what_it_was(bits: int, symmetric: bool, method: str) -> None:
    torch.manual_seed(bits)
    weight = torch.randn(6, 64) + (0.0 if symmetric else 1.0)
    if method == "hqq" and not symmetric:
        with pytest.raises(ValueError, match="symmetric"):
            quantize_weight(weight, _config(bits, 32, symmetric, method))
        return
    found = quantize_weight(weight, _config(bits, 32, symmetric, method))
    assert type(found) is (Int4Tensor if bits == 4 else IntxUnpackedToInt8Tensor)
    assert found.dtype == torch.bfloat16 and found.shape == weight.shape
    groups = weight.view(6, 2, 32)
    reach = groups.abs().amax(-1) if symmetric else groups.amax(-1) - groups.amin(-1)
    step = reach / (1 << bits - 1) if symmetric else reach / ((1 << bits) - 1)
    error = (dequantize_weight(found) - weight).view(6, 2, 32)
    if (
        method == "min_max"
    ):  # the largest value of a group may be cut by a step; bfloat16 has 8 bits
        assert (error.abs().amax(-1) <= 1.05 * step + 0.02 * reach).all()
    assert error.square().mean() <= 0.4 * step.square().mean() + (0.004 * reach.max()) ** 2


def test_what_cannot_be_quantized_is_refused() -> None:
    weight = torch.ones(2, 64)
    for config, words in (
        (_config(3), "bits=3"),
        (_config(4, method="x"), "'x'"),
        (_config(4, 48), "group_size=48"),
        (_config(8, 0), "group_size=0"),
    ):
        with pytest.raises(ValueError, match=words):
            quantize_weight(weight, config)
    with pytest.raises(TypeError, match="Tensor"):
        dequantize_weight(weight)


def test_int4_by_hand() -> None:
    """Codes 0..15 of two rows; scales 0.5 and 2, zero points 8 and 3."""
    codes = torch.arange(16, dtype=torch.uint8).repeat(2, 2)
    packed = codes[:, ::2] | codes[:, 1::2] << 4
    weight = ExportableInt4Tensor(
        packed, torch.tensor([[0.5, 2.0]]), torch.tensor([[8.0, 3.0]]), 32, torch.float32
    )
    expected = torch.stack([(codes[0].float() - 8) * 0.5, (codes[1].float() - 3) * 2])
    assert torch.equal(weight.dequantize(), expected)
    half = weight.to(torch.float16)
    assert type(half) is ExportableInt4Tensor and half.qdata.data_ptr() == packed.data_ptr()
    assert half.scale.dtype == half.zero_point.dtype == half.dtype == torch.float16
    assert half.dequantize().dtype == torch.float16
    with pytest.raises(AssertionError, match=r"floating dtype; got torch\.int8"):
        weight.to(torch.int8)
    assert torch.equal(torch.nn.functional.linear(torch.ones(1, 32), weight), expected.sum(1)[None])


def test_asymmetric_codes_survive_torchaos_form() -> None:
    torch.manual_seed(0)
    weight = quantize_weight(torch.randn(8, 64) + 0.5, _config(4, 32, False))
    exported = to_default("w", weight)
    assert type(exported) is ExportableInt4Tensor and identity("w", weight) is weight
    assert torch.equal(exported.zero_point, exported.zero_point.round())
    assert torch.equal(exported.dequantize(torch.float32), dequantize_weight(weight))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_weight_of_4_bits_is_what_its_operator_gives(dtype: torch.dtype) -> None:
    """(code - zero point) * scale in float32, rounded once."""
    torch.manual_seed(0)
    weight = to_default("w", quantize_weight(torch.randn(8, 64), _config(4, 32, False)))
    found = torch.ops.torchao.dequantize_int4_tensor(
        weight.qdata, weight.scale, weight.zero_point, 32, dtype
    )
    codes = torch.stack((weight.qdata & 15, weight.qdata >> 4), -1).view(8, 2, 32).float()
    scale, zero = (each.float().t().unsqueeze(-1) for each in (weight.scale, weight.zero_point))
    assert torch.equal(found, ((codes - zero) * scale).view(8, 64).to(dtype))
    assert torch.equal(weight.dequantize(dtype), found)
    schema = str(torch.ops.torchao.dequantize_int4_tensor.default._schema)
    assert "SymInt group_size, ScalarType output_dtype=15)" in schema  # upstream's: bfloat16


def _codes(bits: int, group: int = 32) -> IntxUnpackedToInt8Tensor:
    weight = torch.randn(8, 64, dtype=torch.bfloat16)
    return IntxUnpackedToInt8Tensor.from_hp(weight, (1, group), getattr(torch, f"int{bits}"))


def test_codes_of_4_bits_are_packed_where_nothing_else_is_asked_for() -> None:
    for bits in (2, 3, 5, 8):
        weight = _codes(bits)
        assert to_default("w", weight) is weight and to_exportable("w", weight) is weight
    weight = _codes(4)
    packed = to_default("w", weight)
    assert type(packed) is ExportableInt4Tensor and packed.shape == weight.shape
    assert packed.qdata.nbytes * 2 == weight.qdata.nbytes
    assert torch.equal(packed.dequantize(torch.float32), dequantize_weight(weight))
    assert to_exportable("w", weight) is weight
    weight.activation_quantization = "int8_asym_per_token"
    assert to_default("w", weight) is weight
    with pytest.raises(ValueError, match="int8_asym_per_token"):
        ExportableInt4Tensor.from_intx_unpacked_to_int8_tensor(weight)


JOINED = {
    "plain": lambda: [torch.randn(4, 64), torch.randn(6, 64)],
    "int4": lambda: [to_default("w", _codes(4)) for _ in range(3)],
    "codes": lambda: [_codes(5), _codes(5)],
    "gguf": lambda: [_q4_k(2), _q4_k(3)],
}


def _q4_k(rows: int) -> ExportableGGUFTensor:
    raw = torch.randint(0, 100, (rows, 2 * 144), dtype=torch.uint8)
    return ExportableGGUFTensor.from_raw(raw, "q4_k")


@pytest.mark.parametrize("kind", JOINED)
def test_joined_weights_are_their_parts(kind: str) -> None:
    parts = JOINED[kind]()
    whole = fuse_along_output(parts)
    assert type(whole) is type(parts[0]) and len(whole) == sum(map(len, parts))

    def numbers(weight: torch.Tensor) -> torch.Tensor:
        return weight if kind == "plain" else weight.dequantize()

    assert torch.equal(numbers(whole), torch.cat([numbers(part) for part in parts]))
    assert fuse_along_output(parts[:1]) is parts[0]


def test_weights_that_cannot_be_joined() -> None:
    packed, plain = to_default("w", _codes(4)), torch.randn(8, 64)
    for parts, error, words in (
        ([], ValueError, "at least one"),
        ([plain, packed], TypeError, "one class"),
        ([packed, plain], TypeError, "one class"),
        ([packed, _codes(5)], TypeError, "one class"),
        ([packed, to_default("w", _codes(4, 64))], ValueError, "group_size 32 and 64"),
        ([packed, packed.to(torch.float16)], ValueError, "orig_dtype"),
        ([_codes(5), _codes(8)], ValueError, "target_dtype"),
        ([_q4_k(2), _q4_k(2).to(torch.float16)], ValueError, "orig_dtype"),
    ):
        with pytest.raises(error, match=words):
            fuse_along_output(parts)


def test_weights_that_read_the_same_input_are_joined() -> None:
    parts = [quantize_weight(torch.randn(rows, 64), _config(8)) for rows in (4, 6)]
    whole = fuse_along_output(parts)
    assert torch.equal(dequantize_weight(whole), torch.cat([dequantize_weight(p) for p in parts]))
    with pytest.raises(TypeError, match="Int4Tensor"):
        fuse_along_output([quantize_weight(torch.randn(4, 64), _config(4))] * 2)
    with pytest.raises(ValueError, match="alike"):
        fuse_along_output([parts[0], quantize_weight(torch.randn(4, 64), _config(8, 64))])
    assert maybe_cast(parts[0], torch.float16) is parts[0]


class _Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(12, 256)
        self.wq, self.wk = nn.Linear(256, 16), nn.Linear(256, 8, bias=False)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.wq(self.table(ids)), self.wk(self.table(ids))


def _runs_as_eager(model: nn.Module) -> None:
    inputs = (torch.tensor([[3, 11, 0]]),)
    with torch.no_grad():
        program = torch.export.export(model.eval(), inputs)
        expected = model(*inputs)
    config = ExecutorchBackendConfig(do_quant_fusion_and_const_prop=True)
    buffer = to_edge_transform_and_lower(program).to_executorch(config).buffer
    found = Runtime.get().load_program(buffer).load_method("forward").execute([*inputs])
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_a_model_by_a_recipe_exports_and_runs() -> None:
    torch.manual_seed(0)
    model = _Model()
    recipe = QuantRecipe(
        [QuantRule("table.weight", _config(8, 64)), QuantRule(r"w.\.weight", _config(4))]
    )
    state = quantize_model(model, recipe)
    assert type(state["wk.weight"]) is ExportableInt4Tensor
    assert state["wq.bias"].dtype == torch.bfloat16
    for name, value in state.items():
        state[name] = value.to(torch.float32)
    with torch.device("meta"):
        empty = _Model()
    with pytest.raises(RuntimeError, match=r"'wq\.weight' not found"):
        assign_state_dict(empty, {n: v for n, v in state.items() if n != "wq.weight"})
    assign_state_dict(empty, state)
    _runs_as_eager(empty)


def _gguf(path: Path, kinds: dict[str, gguf.GGMLQuantizationType]) -> dict[str, np.ndarray]:
    """A file of random blocks; their numbers as GGUF's own package reads them."""
    writer, numbers = gguf.GGUFWriter(path, "llama"), {}
    chance = np.random.default_rng(0)
    for name, kind in kinds.items():
        _, size = gguf.GGML_QUANT_SIZES[kind]
        raw = chance.integers(0, 255, (12, size), np.uint8)
        for at in {"Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}[kind.name]:
            raw[:, at : at + 2] = np.array([0.01], np.float16).view(np.uint8)
        raw[0, 4:16] = 63 if kind.name != "Q6_K" else raw[0, 4:16]
        raw[1, 4:8] = (
            0 if kind.name != "Q6_K" else raw[1, 4:8]
        )  # scales of zero, minima that are not
        writer.add_tensor(name, raw, raw_dtype=kind)
        numbers[name] = gguf.quants.dequantize(raw, kind)
    writer.add_tensor("plain", np.ones(5, np.float32))
    writer.add_tensor("half", np.ones(5, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return numbers


def test_gguf_weights_keep_their_bits(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    kinds = gguf.GGMLQuantizationType
    numbers = _gguf(path, {"a": kinds.Q4_K, "b": kinds.Q5_K, "c": kinds.Q6_K})
    found = dict(iter_gguf(str(path)))
    for stored, dtype in (("plain", torch.float32), ("half", torch.float16)):
        value = found.pop(stored)
        assert value.dtype == dtype and torch.equal(value.float(), torch.ones(5))
    for name, weight in found.items():
        expected = torch.from_numpy(numbers[name])
        assert type(weight) is ExportableGGUFTensor and weight.shape == (12, 256)
        assert torch.equal(weight.dequantize(torch.float32), expected)
        bytewise = weight.to_intx_unpacked_to_int8_tensor(scale_dtype=torch.float32)
        torch.testing.assert_close(dequantize_weight(bytewise), expected, rtol=1e-5, atol=1e-5)
        half = weight.to_intx_unpacked_to_int8_tensor()
        zeros = torch.int8 if name == "c" else torch.float16
        assert half.scale.dtype == half.dtype == torch.float16 and half.zero_point.dtype == zeros
        assert half.target_dtype == {"a": torch.int4, "b": torch.int5, "c": torch.int8}[name]
        with pytest.raises(AssertionError, match="floating"):
            weight.to(torch.int8)
    packed = found["a"].to_exportable_int4_tensor(torch.float32)
    torch.testing.assert_close(
        packed.dequantize(), torch.from_numpy(numbers["a"]), rtol=1e-5, atol=1e-5
    )
    with pytest.raises(NotImplementedError, match="q6_k"):
        found["c"].to_exportable_int4_tensor()
    with pytest.raises(ValueError, match="multiple"):
        ExportableGGUFTensor.from_raw(torch.zeros(2, 7, dtype=torch.uint8), "q4_k")
    with pytest.raises(NotImplementedError, match="q4_0"):
        ExportableGGUFTensor.from_raw(torch.zeros(2, 18, dtype=torch.uint8), "q4_0")
    model = _Model()
    load_checkpoint(
        str(path),
        model,
        key_map={"a": "table.weight"}.get,
        convert=lambda _, weight: weight.to(torch.float32),
    )
    assert type(model.table.weight) is ExportableGGUFTensor
    _runs_as_eager(model)


def test_equal_groups_of_a_gguf_weight_become_one() -> None:
    raw = torch.zeros(2, 210, dtype=torch.uint8)
    raw[:, 192:208] = 3
    raw[:, 208:] = torch.tensor([0.5]).half().view(torch.uint8)
    weight = ExportableGGUFTensor.from_raw(raw, "q6_k", torch.float32)
    assert weight.to_intx_unpacked_to_int8_tensor().block_size == (1, 16)
    assert weight.to_intx_unpacked_to_int8_tensor(max_group_size=128).block_size == (1, 128)
    assert torch.equal(weight.dequantize(), torch.full((2, 256), -32 * 1.5))


def test_streams_of_a_checkpoint(tmp_path: Path) -> None:
    table = torch.randn(4, 8)
    save_file({"x.e": table, "x.skip": torch.ones(1)}, tmp_path / "model.safetensors")
    names = {"x.e": "e.weight"}
    ties = {"e.weight": ("out.weight", identity)}
    found = dict(
        iter_checkpoint(str(tmp_path), key_map=names.get, tie_map=ties, dtype=torch.float16)
    )
    assert found.keys() == {"e.weight", "out.weight"}
    assert all(torch.equal(value, table.half()) for value in found.values())
    with pytest.raises(ValueError, match="/nowhere"):
        list(iter_checkpoint("/nowhere"))
    with pytest.raises(AttributeError):
        assign_one(nn.Linear(2, 2), "inner.weight", torch.ones(2, 2))


def test_a_module_by_the_names_of_commands() -> None:
    model = nn.Sequential(
        nn.Embedding(8, 64), nn.Linear(64, 64), nn.Linear(64, 40), nn.Linear(40, 8)
    )
    with pytest.raises(RuntimeError, match=r"Layer 3 .*skip_incompatible_shapes"):
        quantize_model_(model, "8da4w")
    quantize_model_(model, "8da4w", qembedding_config="8w", skip_incompatible_shapes=True)
    kinds = [getattr(layer.weight, "target_dtype", None) for layer in model]
    assert kinds == [torch.int8, torch.int4, torch.int4, None]
    assert model[0].weight.block_size == (1, 64) and model[1].weight.block_size == (1, 32)
    for names in (
        {"qlinear_config": "zz"},
        {"qembedding_config": "8da4w"},
        {"qlinear_config": "4w", "qlinear_packing_format": "tile"},
    ):
        with pytest.raises(ValueError, match="qlinear|qembedding"):
            quantize_model_(nn.Sequential(nn.Linear(64, 4), nn.Embedding(4, 64)), **names)
