# SPDX-License-Identifier: BSD-3-Clause
"""What the names that other code imports compute: equal to eager PyTorch, or to the numbers of release 1.4.1."""

from __future__ import annotations

import builtins
import dataclasses
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from executorch.examples.models.lfm2.short_conv import ShortConvBlock
from executorch.examples.models.llama import hf_download
from executorch.examples.models.llama.attention import (
    RingKVCache,
    _create_causal_mask_for_ring_buffer,
)
from executorch.examples.models.llama.convert_weights import load_and_convert_unsloth_to_meta
from executorch.examples.models.llama.export_llama_lib import get_quantizer_and_quant_params
from executorch.examples.models.llama.norm import RMSNorm
from executorch.examples.models.llama.runner import eager
from executorch.examples.models.llama.runner.generation import LlamaRunner, next_token
from executorch.examples.models.llama.source_transformation.attention_sink import (
    _create_causal_mask_for_attention_sink,
)
from executorch.examples.models.llama.source_transformation.custom_kv_cache import (
    CustomRingKVCache,
    QuantizedCacheType,
    QuantizedRingKVCache,
)
from executorch.examples.models.llama.source_transformation.pre_quantization import (
    sanitize_checkpoint_from_pre_quantization,
    transform_embedding_for_pre_quantization,
    transform_linear_for_pre_quantization,
    transform_output_linear_for_pre_quantization,
)
from executorch.examples.models.llama.source_transformation.quantize import (
    EmbeddingQuantHandler,
    QuantizedGroupEmbedding,
    dynamically_quantize_per_channel,
    get_quant_embedding_transform,
    get_quant_weight_transform,
)
from executorch.examples.models.llama.source_transformation.rms_norm import (
    replace_rms_norm_with_native_rms_norm,
)
from executorch.examples.models.llama.source_transformation.sdpa import (
    SDPASimple,
    replace_sdpa_with_simple_sdpa,
)
from executorch.exir import to_edge
from executorch.extension.llm.export.config.llm_config import LlmConfig, Pt2eQuantize
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import construct_transformer
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

INF = float("inf")
ARGS = ModelArgs(dim=32, n_layers=2, n_heads=4, n_kv_heads=2, vocab_size=64, hidden_dim=48, max_seq_len=32,
                 max_context_len=32)  # fmt: skip


def rand(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


# ---- Weights in few bits ----


@pytest.mark.parametrize("low, high, group", [(-128, 127, None), (-8, 7, 4), (-8, 7, 3)])
def test_scales_span_the_largest_value_of_a_group(
    low: int, high: int, group: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    x = rand(3, 8)
    with caplog.at_level(logging.WARNING):
        found = dynamically_quantize_per_channel(
            x, low, high, torch.int8, group, scales_dtype=torch.float32
        )
    codes, scales, points = found
    for number, part in enumerate(x.split(group or 8, 1)):
        scale = part.abs().amax(1) / ((high - low) / 2)
        torch.testing.assert_close(scales[:, number], scale)
        wanted = (part / scale[:, None]).round().clamp(low, high)
        first = number * (group or 8)
        assert torch.equal(codes[:, first : first + part.shape[1]].float(), wanted)
    assert points.count_nonzero() == 0 and codes.dtype == torch.int8
    assert ("has 2 of 3" in caplog.text) == (group == 3)


def test_scales_of_zeros_and_of_halves() -> None:
    codes, scales, _ = dynamically_quantize_per_channel(torch.zeros(2, 4), -128, 127, torch.int8)
    assert codes.count_nonzero() == 0 and scales.dtype == torch.float16
    with pytest.raises(ValueError, match="divides 8 columns, found 3"):
        dynamically_quantize_per_channel(
            rand(2, 8), -8, 7, torch.int8, 3, enable_non_multiple_groups=False
        )


@pytest.mark.parametrize(
    "bits, group, packed", [(8, None, False), (4, 32, True), (2, 32, True), (4, 32, False)]
)
@pytest.mark.parametrize("by_squares", [True, False])
def test_a_quantized_table_is_that_of_the_export_option(
    bits: int, group: int | None, packed: bool, by_squares: bool
) -> None:
    tables = [nn.Sequential(nn.Embedding(6, 64)) for _ in "ab"]
    for model in tables:
        model[0].weight.data = rand(6, 64)
    options = {
        "bitwidth": bits,
        "group_size": group,
        "packed": packed,
        "quantize_with_hqq": by_squares,
    }
    ours = EmbeddingQuantHandler(tables[0], **options).quantized_model()
    assert isinstance(ours[0], QuantizedGroupEmbedding)
    text = f"{bits},{group or 0}"
    wanted = get_quant_embedding_transform(text, quantize_with_hqq=by_squares)(tables[1])
    rows = (torch.tensor([[0, 3, 5]]),)
    torch.testing.assert_close(ours(*rows), wanted(*rows), rtol=0, atol=0)
    assert ours[0].weight.numel() == 6 * 64 * (bits if packed else 8) // 8
    edge = to_edge(torch.export.export(ours, rows))
    run = _load_for_executorch_from_buffer(edge.to_executorch().buffer)
    torch.testing.assert_close(run.forward(rows)[0], wanted(*rows), rtol=0, atol=0)


def test_a_table_follows_the_type_of_its_model() -> None:
    table = QuantizedGroupEmbedding("cpu", 6, 16, 8)
    assert table(torch.tensor([1])).dtype == torch.float16
    assert table.to(torch.float32)(torch.tensor([1])).dtype == torch.float32
    assert table.weight.dtype == torch.int8 and table.scales.shape == (6, 2)
    with pytest.raises(ValueError, match="2 or 4 bits, found 8"):
        QuantizedGroupEmbedding("cpu", 6, 16, packed=True)


@pytest.mark.parametrize(
    "mode, group, bits, dynamic",
    [("8da4w", 32, 4, True), ("4w", 32, 4, False), ("int8", None, 8, False)],
)
def test_a_weight_transform_is_a_qmode(
    mode: str, group: int | None, bits: int, dynamic: bool
) -> None:
    model = nn.Sequential(nn.Linear(64, 32, bias=False))
    plain = model[0].weight.detach().clone()
    weight = get_quant_weight_transform(mode, group)(model)[0].weight
    assert str(weight.target_dtype) == f"torch.int{bits}"
    assert (weight.activation_quantization is not None) == dynamic
    error = (weight.dequantize() - plain).abs().max()
    # half a step of the largest group; more where least squares clamps the largest value
    assert 0 < error <= 1.5 * plain.abs().max() / (1 << bits - 1)
    with pytest.raises(ValueError, match="no such mode: 'bogus'"):
        get_quant_weight_transform("bogus")
    with pytest.raises(ValueError, match="rounded by a text"):
        get_quant_weight_transform("8da4w-gptq")


def prequantized() -> tuple[nn.Module, dict[str, torch.Tensor]]:
    model = nn.Module()
    model.layers = nn.Sequential(nn.Linear(64, 32, bias=False), nn.Linear(64, 8, bias=False))
    model.output, model.tok_embeddings = nn.Linear(64, 32, bias=False), nn.Embedding(10, 64)

    def codes(low: int, high: int, *shape: int) -> torch.Tensor:
        made = torch.randint(low, high, shape, generator=torch.Generator().manual_seed(low))
        return made.to(torch.int8)

    return model, {
        "layers.0.weight": codes(-8, 8, 32, 64),
        "layers.0.scales": rand(32, 2).abs(),
        "layers.1.weight": rand(8, 64),
        "output.weight": codes(-128, 128, 32, 64),
        "output.scales": rand(32, 1).abs(),
        "tok_embeddings.weight": codes(-8, 8, 10, 64),
        "tok_embeddings.scales": rand(10, 2).abs(),
    }


@pytest.mark.parametrize("weight_only", [False, True])
def test_layers_take_a_checkpoint_in_few_bits(weight_only: bool) -> None:
    model, checkpoint = prequantized()
    transform_output_linear_for_pre_quantization(model, checkpoint, torch.float32)
    transform_linear_for_pre_quantization(model, checkpoint, 32, torch.float32, weight_only)
    transform_embedding_for_pre_quantization(model, checkpoint, torch.float32, 4, 32)
    assert type(model.layers[1]) is nn.Linear
    sanitize_checkpoint_from_pre_quantization(checkpoint)
    assert checkpoint["output.scales"].shape == (32,)
    model.load_state_dict(checkpoint, strict=False, assign=True)
    x = rand(2, 64)

    def floats(name: str) -> torch.Tensor:
        scales = checkpoint[f"{name}.scales"].reshape(checkpoint[f"{name}.weight"].shape[0], -1)
        return checkpoint[f"{name}.weight"] * scales.repeat_interleave(64 // scales.shape[1], 1)

    rows = torch.tensor([1, 3])
    torch.testing.assert_close(model.tok_embeddings(rows), floats("tok_embeddings")[rows])
    for name, layer, exact in (
        ("layers.0", model.layers[0], weight_only),
        ("output", model.output, False),
    ):
        wanted = x @ floats(name).T
        # inputs of 8 bits: half a step of each, times the weights it meets
        near = (
            1e-4
            if exact
            else float((x.amax(1) - x.amin(1)).max() / 255 * floats(name).norm(dim=1).max())
        )
        assert (layer(x) - wanted).abs().max() <= near
        if not exact:
            assert not torch.equal(layer(x), wanted)
    with pytest.raises(ValueError, match="divides 64, found 48"):
        transform_linear_for_pre_quantization(prequantized()[0], checkpoint, 48, torch.float32)


# ---- Attention, caches, norms ----


def test_simple_attention_is_torchs_and_exports() -> None:
    q, k, v, mask = rand(1, 4, 3, 8), rand(1, 2, 6, 8), rand(1, 2, 6, 8), rand(3, 6)
    simple = SDPASimple(32, 8, 2)
    wanted = nn.functional.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
    found = simple(torch.tensor([3]), q, k, v, 1, 3, mask)
    torch.testing.assert_close(found, wanted.transpose(1, 2).reshape(1, 3, 32))

    plain = construct_transformer(ARGS).eval()
    tokens = torch.tensor([[3, 5, 7, 9]])
    before = plain(tokens)
    replace_sdpa_with_simple_sdpa(plain)
    assert isinstance(plain.layers[1].attention.SDPA, SDPASimple)
    torch.testing.assert_close(plain(tokens), before)
    edge = to_edge(torch.export.export(plain, (tokens,)))
    run = _load_for_executorch_from_buffer(edge.to_executorch().buffer)
    torch.testing.assert_close(run.forward((tokens,))[0], before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("offset", [False, True])
def test_norms_become_torchs(offset: bool) -> None:
    model = nn.Sequential(RMSNorm(8, add_unit_offset=offset), nn.Sequential(RMSNorm(8, eps=1e-3)))
    model[0].weight.data = rand(8)
    x = rand(2, 8)
    wanted = model(x)
    assert replace_rms_norm_with_native_rms_norm(model) is model
    assert type(model[0]) is nn.RMSNorm and model[1][0].eps == 1e-3
    torch.testing.assert_close(model(x), wanted)


def test_masks_of_rings_and_sinks() -> None:
    held = torch.tensor([0, 1, 2, 3, 9, 5, 6, -1])
    # the rows of release 1.4.1: a window of 4 seen from positions 8 and 9
    ring = torch.tensor([[1, 1, 1, 1, 1, 0, 0, 1], [1, 1, 1, 1, 0, 1, 0, 1]]).bool()
    wanted = torch.zeros(2, 8).masked_fill(ring, -INF)
    assert torch.equal(_create_causal_mask_for_ring_buffer(held, 4, 8, 2), wanted)
    wanted[:, :2] = 0  # the first two positions stay
    assert torch.equal(_create_causal_mask_for_attention_sink(held, 4, 2, 8, 2), wanted)


def test_rings_are_made_by_position() -> None:
    kind = QuantizedCacheType.AffineAsymmetric
    rings = [
        RingKVCache(1, 4, 2, 8, True, torch.float16),
        CustomRingKVCache(1, 4, 2, 8, torch.float16),
        QuantizedRingKVCache(1, 4, 2, 8, kind, False, True),
    ]
    new = rand(1, 2, 1, 8)
    for ring in rings:
        assert ring.window_size == 4 and ring.max_context_length == 8
        for position in range(10):  # rows 0 and 1 are written a second time
            keys, values = ring.update(torch.tensor([position]), new + position, new - position)
        torch.testing.assert_close(keys[:, :, 1:2].float(), new + 9, rtol=1e-2, atol=1e-2)
        torch.testing.assert_close(values[:, :, 2:3].float(), new - 2, rtol=5e-2, atol=5e-2)
        mask = ring.create_causal_mask_for_ring_buffer(9, 1)
        assert (mask == 0)[0].tolist() == [True, True, False, False, False, False, True, True]


def test_a_layer_of_lfm2_alone() -> None:
    layer = ShortConvBlock(8, 12, 1e-5).eval()
    x = rand(1, 4, 8)
    out, none = layer(x)
    gated = layer.attention_norm(x)
    conv = layer.conv
    shifted = nn.functional.pad((conv.B_proj(gated) * conv.x_proj(gated)).transpose(1, 2), (2, 0))
    mixed = conv.conv(shifted).transpose(1, 2)
    wanted = x + conv.out_proj(conv.C_proj(gated) * mixed)
    wanted = wanted + layer.feed_forward(layer.ffn_norm(wanted))
    torch.testing.assert_close(out, wanted)
    assert none is None
    layer.reset_cache()
    parts = [
        layer(x[:, first : first + 2], None, None, {"input_pos": torch.tensor([first])})[0]
        for first in (0, 2)
    ]
    torch.testing.assert_close(torch.cat(parts, 1), wanted)


# ---- Texts ----


def test_the_next_token_is_the_likeliest_or_drawn() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0, 0.0]])
    assert next_token(logits, 0, 0.9) == 2
    assert next_token(torch.stack([-logits, logits], 1), 0, 0.9) == 2  # the last of two
    torch.manual_seed(5)  # what release 1.4.1 draws from this seed
    assert [next_token(logits, 1.0, 0.9) for _ in range(12)] == [1, 2, 1, 1, 2, 0, 1, 2, 2, 2, 2, 0]
    assert {next_token(logits, 1.0, 0.5) for _ in range(50)} == {2}  # which has 0.64 alone
    drawn = [next_token(logits, 1.0, 1.0) for _ in range(3000)]
    wanted = torch.softmax(logits, -1)[0] * 3000
    counts = torch.bincount(torch.tensor(drawn), minlength=4)
    assert (counts - wanted).abs().max() < 5 * 3000**0.5 / 2  # five deviations of a half chance


class Counting(LlamaRunner):
    """Says 1 to 5 again and again, and 7, the end, in call `end`."""

    def __init__(self, use_kv_cache: bool, end: int = 0) -> None:
        self.use_kv_cache, self.device, self.end = use_kv_cache, "cpu", end
        self.max_seq_len = 8
        self.calls: list[Any] = []
        self.tokenizer = self
        self.eos_id, self.stop_tokens = 7, [7]

    def encode(self, text: str, bos: bool, eos: bool) -> list[int]:
        self.text = text
        return [1, 2, 3]

    def decode_token(self, token: int) -> str:
        return f"<{token}>"

    def forward(self, tokens: torch.Tensor, input_pos: torch.Tensor | None = None) -> torch.Tensor:
        self.calls.append((tokens.tolist()[0], None if input_pos is None else int(input_pos)))
        tokens = len(self.calls)
        return nn.functional.one_hot(
            torch.tensor([7 if tokens == self.end else tokens % 5 + 1]), 10
        ).float()


def test_texts_go_on_to_their_end(capsys: pytest.CaptureFixture[str]) -> None:
    cached, whole = Counting(True), Counting(False)
    assert cached.generate([1, 2, 3], 8, 0.0, 0.9, False, 3) == [2, 3, 4, 5, 1]
    assert cached.calls == [([1, 2, 3], 3), ([2], 6), ([3], 7), ([4], 8), ([5], 9)]
    assert "<2><3><4><5><1>\n" in capsys.readouterr().out
    assert whole.text_completion("Hi", 0.0) == [2, 3, 4, 5, 1]
    assert whole.calls[-1] == ([1, 2, 3, 2, 3, 4, 5], None) and whole.text == "Hi"
    ending = Counting(True, end=3)
    assert ending.generate([1, 2, 3], 8, 0.0, echo=True) == [1, 2, 3, 2, 3, 7]
    assert "<7>" not in capsys.readouterr().out
    assert Counting(True).generate([1] * 9, 8, 0.0) == [2]


@pytest.mark.parametrize("use_kv_cache", [True, False])
def test_a_chat_goes_on_where_it_was(use_kv_cache: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["hello", "again", "exit"])
    monkeypatch.setattr(builtins, "input", lambda _: next(typed))
    runner = Counting(use_kv_cache)
    tokens = runner.chat_completion(6, 0.0)
    assert "user<|end_header_id|>\n\nagain<|eot_id|>" in runner.text
    if (
        use_kv_cache
    ):  # the answer's last token comes with the next question; as release 1.4.1 counts
        assert tokens == [1, 2, 3, 2, 3, 4, 1, 2, 3, 5, 1]
        assert runner.calls[3:] == [([4, 1, 2, 3], 5), ([5], 9)]
    else:
        assert tokens == [1, 2, 3, 2, 3, 4, 1, 2, 3, 5, 1, 2]
        assert runner.calls[3][0] == [1, 2, 3, 2, 3, 4, 1, 2, 3]


def test_an_eager_model_is_run_by_the_export_commands_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    params = Path(hf_download.__file__).parent / "params/demo_config.json"
    flags = ["eager", "-p", str(params), "-kv", "-t", "none", "--show_tokens", "--max_seq_length", "16",
             "--max_context_length", "16"]  # fmt: skip
    monkeypatch.setattr("sys.argv", flags)
    tokenizer = Counting(True)
    monkeypatch.setattr("pytorch_tokenizers.get_tokenizer", lambda *_: tokenizer)
    torch.manual_seed(0)
    runners: list[eager.EagerLlamaRunner] = []

    class Kept(eager.EagerLlamaRunner):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            runners.append(self)

    eager.execute_runner(Kept)
    (runner,) = runners
    shown = capsys.readouterr().out
    tokens = eval(shown.rsplit("tokens: ", 1)[1])
    assert tokenizer.text == "Hello" and len(tokens) <= 16
    plain = construct_transformer(
        dataclasses.replace(runner.model.params, use_kv_cache=False, generate_full_logits=True)
    )
    plain.load_state_dict(runner.model.state_dict(), strict=False)
    wanted = plain.eval()(torch.tensor([tokens[:-1]]))[0].argmax(-1)
    assert wanted[2:].tolist() == tokens[3:]


# ---- Files and options ----


def test_a_repository_is_fetched_and_converted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(hf_download, "download", lambda repo, _: tmp_path / "snapshot" / repo)
    seen = []

    def convert(folder: str, file: str) -> None:
        seen.append(folder)
        Path(file).write_bytes(b"weights")

    for _ in range(2):
        found = hf_download.download_and_convert_hf_checkpoint("Org/Repo-1B", convert)
        assert found == str(tmp_path / ".cache/meta_checkpoints/Org_Repo-1B.pth")
        assert Path(found).read_bytes() == b"weights"
    assert seen == [str(tmp_path / "snapshot/Org/Repo-1B")]
    with pytest.raises(OSError, match="no"):
        hf_download.download_and_convert_hf_checkpoint("Org/Other", _fails)
    assert not (tmp_path / ".cache/meta_checkpoints/Org_Other.pth").exists()


def _fails(folder: str, file: str) -> None:
    Path(file).write_bytes(b"half")
    raise OSError("no")


def test_adapters_get_our_names(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    layer = "base_model.model.model.layers.3"
    file = tmp_path / "adapter_model.safetensors"
    a, b = rand(4, 8), rand(8, 4)
    save_file(
        {f"{layer}.self_attn.q_proj.lora_A.weight": a, f"{layer}.mlp.up_proj.lora_B.weight": b},
        file,
    )
    found = load_and_convert_unsloth_to_meta(str(file))
    assert sorted(found) == [
        "layers.3.attention.wq.lora_a.weight",
        "layers.3.feed_forward.w3.lora_b.weight",
    ]
    assert torch.equal(found["layers.3.attention.wq.lora_a.weight"], a)
    save_file({f"{layer}.self_attn.q_proj.weight": a}, file)
    with pytest.raises(ValueError, match="expected an adapter of a projection"):
        load_and_convert_unsloth_to_meta(str(file))


def test_quantizers_of_a_config() -> None:
    config = LlmConfig()
    assert get_quantizer_and_quant_params(config) == (None, [], None)
    config.quantization.pt2e_quantize = Pt2eQuantize.xnnpack_dynamic_qc4
    options, quantizers, _ = get_quantizer_and_quant_params(config)
    assert options.quantize_linear.is_qc4 and options.quantize_embedding is None
    assert [type(each).__name__ for each in quantizers] == ["XNNPACKQuantizer"]
    config.quantization.pt2e_quantize = Pt2eQuantize.vulkan_8w
    options, quantizers, _ = get_quantizer_and_quant_params(config)
    assert options is None and [type(each).__name__ for each in quantizers] == ["VulkanQuantizer"]
