# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of every kind: read as the packages that define the formats read them, refused by name when corrupted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
import safetensors.torch
import tokenizers
import torch

import pytorch_tokenizers
from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.keys import (
    ADAPTER_NAMES,
    NAMES,
    get_mapped_key,
    interleaved,
    to_model_names,
)
from executorch.extension.llm.checkpoint.load import load_into, load_pairs
from executorch.extension.llm.checkpoint.pages import release_pages
from executorch.extension.llm.checkpoint.params import params_from_gguf
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.checkpoint.tokenizer import tokenizer_json
from executorch.extension.llm.formats.blocks import BLOCK_FORMATS
from executorch.extension.llm.model.args import ModelArgs, read_params
from executorch.extension.llm.model.families import FAMILIES
from executorch.extension.llm.model.transformer import Transformer, construct_transformer

SHAPE = {
    "dim": 64,
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": 96,
    "hidden_dim": 96,
    "max_seq_len": 16,
    "max_context_len": 16,
}
QUANTIZED = [number for number, row in BLOCK_FORMATS.items() if row.numbers > 1]


def model(**changes: object) -> Transformer:
    torch.manual_seed(0)
    return construct_transformer(ModelArgs(**{**SHAPE, **changes})).eval()


def empty(**changes: object) -> Transformer:
    with torch.device("meta"):
        return construct_transformer(ModelArgs(**{**SHAPE, **changes})).eval()


@pytest.mark.parametrize("number", QUANTIZED, ids=lambda n: BLOCK_FORMATS[n].name)
def test_a_block_format_is_read_as_ggufs_own_package_does(number: int) -> None:
    row = BLOCK_FORMATS[number]
    kind = gguf.GGMLQuantizationType(number)
    assert kind.name == row.name
    raw = np.random.default_rng(number).integers(0, 256, (50, row.bytes), dtype=np.uint8)
    with np.errstate(all="ignore"):
        expected, found = gguf.quants.dequantize(raw, kind), row.dequantize(raw)
    np.testing.assert_array_equal(found, expected)


def write_safetensors(state: dict[str, torch.Tensor], folder: Path) -> Path:
    safetensors.torch.save_file(state, folder / "model.safetensors")
    return folder / "model.safetensors"


def write_shards(state: dict[str, torch.Tensor], folder: Path) -> Path:
    names = list(state)
    parts = {"a.safetensors": names[:5], "b.safetensors": names[5:]}
    for file, inside in parts.items():
        safetensors.torch.save_file({n: state[n] for n in inside}, folder / file)
    index = {"weight_map": {n: file for file, inside in parts.items() for n in inside}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def write_pth(state: dict[str, torch.Tensor], folder: Path) -> Path:
    torch.save({"model": state}, folder / "consolidated.00.pth")
    return folder / "consolidated.00.pth"


def write_old_pth(state: dict[str, torch.Tensor], folder: Path) -> Path:
    torch.save(state, folder / "old.pth", _use_new_zipfile_serialization=False)
    return folder / "old.pth"


@pytest.mark.req("LLM-003")
@pytest.mark.parametrize("write", [write_safetensors, write_shards, write_pth, write_old_pth])
def test_a_state_dict_comes_back(write: Callable[..., Path], tmp_path: Path) -> None:
    original, filled = model(), empty()
    load_into(filled, open_checkpoint(write(original.state_dict(), tmp_path)), FAMILIES["llama3_2"])
    for name, value in original.state_dict().items():
        assert torch.equal(filled.state_dict()[name], value), name


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.machine("resident memory")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux says what is resident")
@pytest.mark.parametrize("write", [write_safetensors, write_pth])
def test_pages_of_a_checkpoint_can_be_given_back(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    """They are read again, and what was written to them stays."""
    count = 16 << 20
    path = write({"w": torch.arange(count, dtype=torch.int32)}, tmp_path)
    with path.open("rb+") as file:
        os.fsync(file.fileno())  # a page that waits to be written stays
    (weight,) = dict(open_checkpoint(path)).values()
    weight[5] = -1
    expected = count * (count - 1) // 2 - 6
    assert weight.sum() == expected
    before = resident_bytes()
    release_pages(tmp_path)
    assert before - resident_bytes() > 2 * count
    assert weight.sum() == expected and weight[5] == -1


def test_safetensors_of_every_type_come_back(tmp_path: Path) -> None:
    types = (
        "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool float8_e4m3fn".split()
    )
    state = {name: torch.arange(7).to(getattr(torch, name)) for name in types}
    state |= {"empty": torch.empty(0, 3), "scalar": torch.tensor(2.5)}
    found = dict(open_checkpoint(write_safetensors(state, tmp_path)))
    assert found.keys() == state.keys()
    for name, value in state.items():
        assert found[name].dtype == value.dtype and found[name].shape == value.shape
        assert found[name].float().tolist() == value.float().tolist(), name


def write_gguf(
    folder: Path,
    kind: gguf.GGMLQuantizationType,
    quantize: Callable[..., np.ndarray] = gguf.quants.quantize,
    **changes: int,
) -> tuple[Path, Transformer]:
    """A Llama of SHAPE with `changes` whose matrices are `quantize(matrix, kind)`; the second result holds what they
    stand for."""
    original, shape = model(**changes), {**SHAPE, **changes}
    writer = gguf.GGUFWriter(folder / "model.gguf", "llama")
    writer.add_block_count(2)
    writer.add_embedding_length(shape["dim"])
    writer.add_feed_forward_length(shape["hidden_dim"])
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    pieces = [bytes([i]).decode("latin1") for i in range(33, 127)] + ["ab", "<s>"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(pieces)
    writer.add_token_types([1] * 95 + [3])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(95)
    from executorch.extension.llm.checkpoint.keys import GGUF_NAMES

    state = original.state_dict()
    for theirs, ours in GGUF_NAMES.items():
        for layer in range(2) if "{}" in theirs else (0,):
            name = ours.replace("{}", str(layer))
            if name not in state or theirs == "output.weight":
                continue
            data = state[name].numpy()
            if data.ndim == 1:
                writer.add_tensor(theirs.replace("{}", str(layer)), data)
                continue
            blocks = quantize(data, kind)
            state[name].copy_(torch.from_numpy(gguf.quants.dequantize(blocks, kind)))
            writer.add_tensor(theirs.replace("{}", str(layer)), blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    original.output.weight = original.tok_embeddings.weight
    return folder / "model.gguf", original


@pytest.mark.parametrize("name", ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_a_gguf_file_tells_its_shape_and_weights(name: str, tmp_path: Path) -> None:
    path, original = write_gguf(tmp_path, gguf.GGMLQuantizationType[name])
    checkpoint = open_checkpoint(path)
    shape = params_from_gguf(checkpoint.gguf)
    assert {key: shape[key] for key in ("dim", "n_layers", "vocab_size", "hidden_dim")} == {
        key: SHAPE[key] for key in ("dim", "n_layers", "vocab_size", "hidden_dim")
    }
    filled = empty(norm_eps=shape["norm_eps"])
    load_into(filled, checkpoint, FAMILIES["smollm2"])
    assert filled.output.weight is filled.tok_embeddings.weight
    tokens = torch.tensor([[3, 5, 90]])
    assert torch.equal(filled(tokens), original(tokens))


def test_the_tokenizer_of_a_gguf_file(tmp_path: Path) -> None:
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.F32)
    contents = tokenizer_json(open_checkpoint(path).gguf)
    made = tokenizers.Tokenizer.from_str(json.dumps(contents))
    encoded = made.encode("cab<s>1")
    assert encoded.tokens == ["c", "ab", "<s>", "1"]
    assert made.decode(encoded.ids, skip_special_tokens=False) == "cab<s>1"


def tokenizer_of(folder: Path, architecture: str, pre: str | None) -> tokenizers.Tokenizer:
    """Of a GGUF file that says how text is cut, or does not."""
    writer = gguf.GGUFWriter(folder / "t.gguf", architecture)
    writer.add_tokenizer_model("gpt2")
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    pieces = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    writer.add_token_list([*pieces, "ab"])
    writer.add_token_merges(["a b"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(GGUFFile(folder / "t.gguf"))))


# architecture, tokenizer.ggml.pre, what a text is cut into
CUTS = [
    ("llama", "gpt-2", ["it", "'s", "Ġ12345", "Ġ$$.", "Ġa", "Ġ", "Ġb"]),
    # llama.cpp's src/llama-vocab.cpp: punctuation, words, numbers, three digits, one rule after the other
    ("llama", "default", ["it", "'", "s", "Ġ", "123", "45", "Ġ", "$$.", "Ġa", "Ġ", "Ġb"]),
    ("llama", "smollm", ["it", "'s", "Ġ", "1", "2", "3", "4", "5", "Ġ$$.", "Ġa", "Ġ", "Ġb"]),
    ("granite", None, ["it", "'s", "Ġ", "1", "2", "3", "4", "5", "Ġ$$.", "Ġa", "Ġ", "Ġb"]),
    ("qwen2", None, ["it", "'s", "Ġ", "1", "2", "3", "4", "5", "Ġ$$.", "Ġa", "Ġ", "Ġb"]),
    ("qwen3", None, ["it", "'s", "Ġ", "1", "2", "3", "4", "5", "Ġ$$.", "Ġa", "Ġ", "Ġb"]),
    ("smollm3", None, ["it", "'s", "Ġ", "123", "45", "Ġ$$.", "Ġa", "Ġ", "Ġb"]),
    ("lfm2", None, ["it", "'s", "Ġ", "123", "45", "Ġ$$.", "Ġa", "Ġ", "Ġb"]),
]


def test_how_text_is_cut_is_named_or_follows_from_the_architecture(tmp_path: Path) -> None:
    for architecture, pre, expected in CUTS:
        whole, text = tokenizer_of(tmp_path, architecture, pre), "it's 12345 $$. a  b"
        found = [piece for piece, _ in whole.pre_tokenizer.pre_tokenize_str(text)]
        assert found == expected, (architecture, pre)
        whole.save(str(tmp_path / "tokenizer.json"))
        ours = pytorch_tokenizers.CppHFTokenizer()
        ours.load(str(tmp_path / "tokenizer.json"))
        assert list(ours.encode(text)) == whole.encode(text).ids, (architecture, pre)
    with pytest.raises(
        CheckpointError, match="lacks tokenizer.ggml.pre.*'llama'.*base.tokenizer_path"
    ):
        tokenizer_of(tmp_path, "llama", None)
    with pytest.raises(CheckpointError, match="cut as one of .* found 'gpt2', 'bloom'"):
        tokenizer_of(tmp_path, "llama", "bloom")


def test_a_word_of_llama_3_is_never_merged_of_parts(tmp_path: Path) -> None:
    """As in llama.cpp, for tokenizers of Llama 3 and LFM2."""
    for pre in ("llama-bpe", "llama3", "lfm2", "qwen2", "smaug-bpe", "smollm"):
        model = json.loads(tokenizer_of(tmp_path, "llama", pre).to_str())["model"]
        assert model["ignore_merges"] == (pre in ("llama-bpe", "llama3", "lfm2")), pre


def test_names_of_other_projects() -> None:
    key = "model.layers.11.self_attn.q_proj.weight"
    assert get_mapped_key(key, NAMES["base"]) == "layers.11.attention.wq.weight"
    key = "base_model.model.model.layers.3.mlp.down_proj.lora_B.weight"
    assert get_mapped_key(key, ADAPTER_NAMES) == "layers.3.feed_forward.w2.lora_b.weight"
    with pytest.raises(Exception, match="vision.tower"):
        get_mapped_key("vision.tower", NAMES["base"])


def test_halves_become_neighbors() -> None:
    """Two heads of four rows: 0 1 | 2 3 becomes 0 2 1 3."""
    rows = torch.arange(8)[:, None]
    assert interleaved(rows, 2).flatten().tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


def test_fused_projections_are_shared_out_by_heads() -> None:
    args = ModelArgs(**SHAPE, use_hf_rope=True)  # queries 64 rows, keys and values 32
    fused = torch.arange(128.0)[:, None]
    name = "model.layers.0.self_attn.qkv_proj.weight"
    pairs = dict(to_model_names([(name, fused)], [name], FAMILIES["phi_4_mini"], args))
    assert [len(pairs[f"layers.0.attention.w{x}.weight"]) for x in "qkv"] == [64, 32, 32]
    assert pairs["layers.0.attention.wk.weight"][0].item() == 64


def cut(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


@pytest.mark.parametrize("write", [write_safetensors, write_pth, write_gguf])
def test_a_truncated_file_is_refused_by_name(write: Callable[..., Path], tmp_path: Path) -> None:
    if write is write_gguf:
        path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q8_0)
    else:
        path = write(model().state_dict(), tmp_path)
    path.write_bytes(cut(path.read_bytes()))
    with pytest.raises(CheckpointError) as caught:
        load_into(empty(), open_checkpoint(path), FAMILIES["smollm2"])
    assert path.name in str(caught.value)
    if write is not write_pth:  # a zip archive without its end has no names
        assert "tensor '" in str(caught.value)


def test_corrupted_gguf_files_never_do_worse_than_an_error(tmp_path: Path) -> None:
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q4_0)
    whole, draw = path.read_bytes(), np.random.default_rng(3)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for place in draw.integers(0, 2500, 3):
            data[place] = draw.integers(0, 256)
        path.write_bytes(data)
        try:
            checkpoint = open_checkpoint(path)
            params_from_gguf(checkpoint.gguf)
            load_into(empty(), checkpoint, FAMILIES["smollm2"])
        except CheckpointError as error:
            assert path.name in str(error)
            refused += 1
    assert 30 < refused < 300


def test_a_weight_that_the_model_has_no_place_for_is_named(tmp_path: Path) -> None:
    """A bias or a norm that is left out would change what is computed; tables of rotary positions are no weights."""
    state = {**model().state_dict(), "rope.freqs": torch.zeros(8)}
    load_into(empty(), open_checkpoint(write_safetensors(state, tmp_path)), FAMILIES["llama2"])
    for name in (
        "layers.0.attention.wq.bias",
        "layers.1.attention.k_norm_fn.weight",
        "layers.2.ffn_norm.weight",
    ):
        path = write_safetensors({**state, name: torch.zeros(8)}, tmp_path)
        with pytest.raises(CheckpointError, match=f"that the model has not: {name}"):
            load_into(empty(), open_checkpoint(path), FAMILIES["llama2"])


@pytest.mark.parametrize("kept", [{"input_prune_map": {0: 3, 1: 90}}, {"output_prune_map": {0: 7}}])
def test_rows_that_are_kept_come_from_the_whole_tables(
    kept: dict[str, dict[int, int]], tmp_path: Path
) -> None:
    """Each table alone: the file has all rows of both."""
    original, filled = model(), empty(**kept)
    load_into(
        filled,
        open_checkpoint(write_safetensors(original.state_dict(), tmp_path)),
        FAMILIES["llama2"],
    )
    rows = {name: [there for _, there in sorted(each.items())] for name, each in kept.items()}
    for table, name in (("tok_embeddings", "input_prune_map"), ("output", "output_prune_map")):
        whole = getattr(original, table).weight
        expected = whole[rows[name]] if name in rows else whole
        assert torch.equal(getattr(filled, table).weight, expected)


def test_tensors_of_another_shape_or_too_few_are_named(tmp_path: Path) -> None:
    state = model().state_dict()
    path = write_safetensors(state | {"norm.weight": torch.zeros(63)}, tmp_path)
    with pytest.raises(CheckpointError, match=r"norm.weight.*expected shape \[64\], found \[63\]"):
        load_into(empty(), open_checkpoint(path), FAMILIES["llama2"])
    del state["layers.1.attention.wk.weight"]
    path = write_safetensors(state, tmp_path)
    with pytest.raises(CheckpointError, match="layers.1.attention.wk.weight"):
        load_into(empty(), open_checkpoint(path), FAMILIES["llama2"])
    path = write_safetensors({"model.layers.0.mlp.oops.weight": torch.zeros(1)}, tmp_path)
    with pytest.raises(CheckpointError, match="oops"):
        load_into(empty(), open_checkpoint(path), FAMILIES["llama2"])


@pytest.mark.parametrize(
    ("header", "word"),
    [
        (b"not json", "JSON"),
        (b'{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,12]}}', "'w'"),
        (b'{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}', "'w'"),
        (b'{"w":{"dtype":"F33","shape":[4],"data_offsets":[0,16]}}', "'w'"),
        (b'{"w":{"dtype":"F32","shape":[-4],"data_offsets":[0,-16]}}', "'w'"),
    ],
)
def test_safetensors_headers_that_lie(header: bytes, word: str, tmp_path: Path) -> None:
    path = tmp_path / "lie.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(CheckpointError, match=word):
        open_checkpoint(path)


@pytest.mark.parametrize("dtype", [None, torch.float16, torch.float32])
def test_floats_become_the_dtype_that_is_given_and_integers_stay(dtype: torch.dtype | None) -> None:
    layer = torch.nn.Linear(2, 2, bias=False)
    layer.register_buffer("codes", torch.zeros(2, dtype=torch.int8))
    pairs = [("weight", torch.full((2, 2), 0.5, dtype=torch.bfloat16)), ("other", torch.ones(1))]
    pairs += [("codes", torch.tensor([1, -7], dtype=torch.int8))]
    assert load_pairs(layer, pairs, "here", dtype) == ({"weight", "codes"}, ["other"])
    assert layer.weight.dtype == (dtype or torch.bfloat16) and layer.weight.eq(0.5).all()
    assert layer.codes.dtype == torch.int8 and layer.codes.tolist() == [1, -7]


def test_wrong_paths_and_params(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such file"):
        open_checkpoint(tmp_path / "absent.gguf")
    with pytest.raises(CheckpointError, match="model.safetensors"):
        open_checkpoint(tmp_path)
    params = tmp_path / "params.json"
    params.write_text('{"n_head": 4}')
    with pytest.raises(
        TypeError, match=r"params.json: unknown key 'n_head'; did you mean 'n_heads'"
    ):
        read_params(params)
    params.write_text("{")
    with pytest.raises(ValueError, match="params.json: not JSON"):
        read_params(params)
