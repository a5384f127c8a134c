# SPDX-License-Identifier: BSD-3-Clause
"""From the names in a checkpoint to the model's: tables of (theirs, ours), `{}` for the number of a layer.

A fused tensor names several of ours and how its rows are shared out. The model turns neighbors of a head where a
family says so (`use_hf_rope` false), Hugging Face's files always halves: queries and keys are put in order then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import torch

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.families import Family

Pair = tuple[str, torch.Tensor]

_LAYER = "model.layers.{}"


def _layer(rows: str, prefix: str = _LAYER) -> dict[str, str]:
    """Lines "theirs ours", both within a layer."""
    pairs = (line.split() for line in rows.strip().splitlines())
    return {f"{prefix}.{theirs}": f"layers.{{}}.{ours}" for theirs, ours in pairs}


# named groups of rows; a family takes some (families.py)
NAMES: dict[str, dict[str, str]] = {
    "base": {
        "model.embed_tokens.weight": "tok_embeddings.weight",
        "model.norm.weight": "norm.weight",
        "lm_head.weight": "output.weight",
        **_layer("""
            self_attn.q_proj.weight attention.wq.weight
            self_attn.k_proj.weight attention.wk.weight
            self_attn.v_proj.weight attention.wv.weight
            self_attn.o_proj.weight attention.wo.weight
            input_layernorm.weight attention_norm.weight
            post_attention_layernorm.weight ffn_norm.weight
            mlp.gate_proj.weight feed_forward.w1.weight
            mlp.down_proj.weight feed_forward.w2.weight
            mlp.up_proj.weight feed_forward.w3.weight
        """),
    },
    "qkv_bias": _layer("""
        self_attn.q_proj.bias attention.wq.bias
        self_attn.k_proj.bias attention.wk.bias
        self_attn.v_proj.bias attention.wv.bias
    """),
    "qk_norm": _layer("""
        self_attn.q_norm.weight attention.q_norm_fn.weight
        self_attn.k_norm.weight attention.k_norm_fn.weight
    """),
    "gemma_norms": _layer("""
        post_attention_layernorm.weight post_attention_norm.weight
        pre_feedforward_layernorm.weight ffn_norm.weight
        post_feedforward_layernorm.weight post_ffn_norm.weight
    """),
    "fused": _layer("""
        mlp.gate_up_proj.weight feed_forward.w1+w3.weight
        self_attn.qkv_proj.weight attention.wq+wk+wv.weight
    """),
    "lfm2": {
        "model.embedding_norm.weight": "norm.weight",
        **_layer("""
            self_attn.out_proj.weight attention.wo.weight
            self_attn.q_layernorm.weight attention.q_norm_fn.weight
            self_attn.k_layernorm.weight attention.k_norm_fn.weight
            operator_norm.weight attention_norm.weight
            ffn_norm.weight ffn_norm.weight
            feed_forward.w1.weight feed_forward.w1.weight
            feed_forward.w2.weight feed_forward.w2.weight
            feed_forward.w3.weight feed_forward.w3.weight
            conv.conv.weight conv.conv.weight
            conv.out_proj.weight conv.out_proj.weight
            conv.in_proj.weight conv.B_proj+C_proj+x_proj.weight
        """),
    },
    "delta_net": _layer(
        "\n".join(
            f"linear_attn.{name} attention.{name}"
            for name in """in_proj_qkv.weight in_proj_z.weight in_proj_b.weight in_proj_a.weight
            conv1d.weight norm.weight out_proj.weight dt_bias A_log""".split()
        )
    ),
}

# what llama.cpp calls the same; its files have queries and keys in the order of the rotation that they ask for
_ROTARY_TABLES = (
    "rotary_emb.inv_freq",
    "rope_freqs.weight",
    "rope_factors_short.weight",
    "rope_factors_long.weight",
)
GGUF_NAMES: dict[str, str] = {
    "token_embd.weight": "tok_embeddings.weight",
    "output_norm.weight": "norm.weight",
    "token_embd_norm.weight": "norm.weight",  # LFM2's
    "output.weight": "output.weight",
    **_layer(
        """
        attn_norm.weight attention_norm.weight
        attn_q.weight attention.wq.weight
        attn_k.weight attention.wk.weight
        attn_v.weight attention.wv.weight
        attn_q.bias attention.wq.bias
        attn_k.bias attention.wk.bias
        attn_v.bias attention.wv.bias
        attn_output.weight attention.wo.weight
        attn_qkv.weight attention.wq+wk+wv.weight
        attn_q_norm.weight attention.q_norm_fn.weight
        attn_k_norm.weight attention.k_norm_fn.weight
        post_attention_norm.weight post_attention_norm.weight
        ffn_norm.weight ffn_norm.weight
        post_ffw_norm.weight post_ffn_norm.weight
        ffn_gate.weight feed_forward.w1.weight
        ffn_down.weight feed_forward.w2.weight
        ffn_up.weight feed_forward.w3.weight
        shortconv.conv.weight conv.conv.weight
        shortconv.out_proj.weight conv.out_proj.weight
        shortconv.in_proj.weight conv.B_proj+C_proj+x_proj.weight
        """,
        "blk.{}",
    ),
}

# what torchtune calls the same; its files have queries and keys in Llama's order
TUNE_NAMES: dict[str, str] = {
    "tok_embeddings.weight": "tok_embeddings.weight",
    "norm.scale": "norm.weight",
    "output.weight": "output.weight",
    **_layer(
        """
        attn.q_proj.weight attention.wq.weight
        attn.k_proj.weight attention.wk.weight
        attn.v_proj.weight attention.wv.weight
        attn.output_proj.weight attention.wo.weight
        attn.q_norm.scale attention.q_norm_fn.weight
        attn.k_norm.scale attention.k_norm_fn.weight
        sa_norm.scale attention_norm.weight
        mlp_norm.scale ffn_norm.weight
        mlp.w1.weight feed_forward.w1.weight
        mlp.w2.weight feed_forward.w2.weight
        mlp.w3.weight feed_forward.w3.weight
        """,
        "layers.{}",
    ),
}

# adapters of peft: the layer's own name, then lora_a or lora_b
ADAPTER_NAMES: dict[str, str] = {
    f"base_model.model.{theirs.removesuffix('weight')}lora_{side.upper()}.weight": (
        f"{ours.removesuffix('weight')}lora_{side}.weight"
    )
    for theirs, ours in NAMES["base"].items()
    if "_proj" in theirs
    for side in ("a", "b")
}

_NUMBER = re.compile(r"\.(\d+)(?=\.|$)")


def get_mapped_key(key: str, mapping_dict: dict[str, str]) -> str:
    """Our name of a checkpoint's; the layer's number is looked up as `{}`. Raises Exception for an unknown one."""
    found = _NUMBER.search(key)
    pattern = _NUMBER.sub(".{}", key)
    if pattern not in mapping_dict:
        raise Exception(
            f"Error converting the state dict: found unexpected key {key!r}. "
            "Please make sure that this is a checkpoint of the model class given."
        )
    return mapping_dict[pattern].replace("{}", found[1]) if found else mapping_dict[pattern]


def interleaved(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of a projection, or of its bias, from halves of each head to neighbors."""
    rows = weight.shape[0]
    halves = weight.reshape(heads, 2, rows // heads // 2, *weight.shape[1:])
    return halves.transpose(1, 2).reshape(weight.shape)


def halved(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """The inverse of `interleaved`."""
    rows = weight.shape[0]
    neighbors = weight.reshape(heads, rows // heads // 2, 2, *weight.shape[1:])
    return neighbors.transpose(1, 2).reshape(weight.shape)


def _rows_of(name: str, args: ModelArgs, total: int, parts: int) -> list[int]:
    """How the rows of a fused tensor are shared out: by heads for queries, keys and values, else equally."""
    if "attention" not in name:
        return [total // parts] * parts
    kv = args.n_kv_heads * args.head_dim
    return [total - 2 * kv, kv, kv]


def _split(name: str, tensor: torch.Tensor, args: ModelArgs) -> Iterator[Pair]:
    """`a.x+y.weight` becomes `a.x.weight` and `a.y.weight`."""
    if "+" not in name:
        yield name, tensor
        return
    head, _, tail = name.rpartition(".")
    base, _, parts = head.rpartition(".")
    names = parts.split("+")
    rows = _rows_of(name, args, tensor.shape[0], len(names))
    if sum(rows) != tensor.shape[0] or min(rows) < 1:
        raise ValueError(f"cannot share {tensor.shape[0]} rows out to {parts}: {rows}")
    for part, piece in zip(names, tensor.split(rows)):
        yield f"{base}.{part}.{tail}", piece


Order = Callable[[torch.Tensor, int], torch.Tensor]


def _order(convention: str, family: Family, args: ModelArgs) -> Order | None:
    """From the order of queries and keys in files of Hugging Face to the one that the model turns."""
    if convention not in ("hf", "adapter") or family.has_neighbors != args.use_hf_rope:
        return None
    return halved if args.use_hf_rope else interleaved


def _ordered(name: str, tensor: torch.Tensor, args: ModelArgs, order: Order) -> torch.Tensor:
    for projection, heads in (("wq", args.n_heads), ("wk", args.n_kv_heads)):
        if f"attention.{projection}." in name and ".lora_a." not in name:
            return order(tensor, heads)
    return tensor


def _convention(names: Iterable[str]) -> str:
    """Whose names a file has: "hf", "gguf", "tune", "adapter" or "meta" (ours)."""
    for name in names:
        if name.startswith("base_model."):
            return "adapter"
        if name.startswith("blk.") or name == "token_embd.weight":
            return "gguf"
        if ".layers." in name or name.startswith(("model.embed_tokens", "lm_head")):
            return "hf"
        if ".attn." in name or ".sa_norm." in name:
            return "tune"
    return "meta"


def to_model_names(
    pairs: Iterable[Pair], names: Iterable[str], family: Family, args: ModelArgs
) -> Iterator[Pair]:
    """The checkpoint's tensors under the model's names; `names` are all names that the checkpoint has.

    Tensors that no text model has (vision, rotary tables) are left out.
    """
    convention = _convention(names)
    if convention == "meta":
        yield from pairs
        return
    table: dict[str, str] = {"gguf": GGUF_NAMES, "tune": TUNE_NAMES, "adapter": ADAPTER_NAMES}.get(
        convention, {}
    )
    if convention == "hf":
        table = {theirs: ours for group in family.names for theirs, ours in NAMES[group].items()}
    reorder = _order(convention, family, args)
    prefix = _prefix(names, family) if convention == "hf" else "model."
    gguf_gemma = convention == "gguf" and args.norm_type == "gemma3"
    for name, tensor in pairs:
        plain = _without_prefix(name, prefix)
        if plain is None or plain.endswith(_ROTARY_TABLES):
            continue
        ours = get_mapped_key(plain, table)
        if convention == "gguf" and ours.endswith("w3.weight") and _holds_gate(tensor, args):
            ours = ours.replace(".w3.", ".w1+w3.")
        if gguf_gemma and "norm" in ours:
            tensor = tensor - 1  # llama.cpp adds the one that these norms have
        if ours.endswith("conv.conv.weight") and tensor.dim() == 2:
            tensor = tensor.unsqueeze(1)
        for part, piece in _split(ours, tensor, args):
            yield part, piece if reorder is None else _ordered(part, piece, args, reorder)


def _holds_gate(tensor: torch.Tensor, args: ModelArgs) -> bool:
    return tensor.shape[0] == 2 * args.hidden_dim


def _prefix(names: Iterable[str], family: Family) -> str:
    """What the names of the text model begin with: the family's, or what the file calls the layers' place."""
    found = {name.partition("layers.")[0] for name in names if "layers.0." in name}
    if family.prefix in found or not found:
        return family.prefix
    texts = {each for each in found if f"{each}embed_tokens.weight" in set(names)}
    return min(texts, default=family.prefix, key=len)


def _without_prefix(name: str, prefix: str) -> str | None:
    """`model.` instead of the prefix; None for tensors of other parts of a larger model."""
    if prefix == "model." or name.startswith("lm_head"):
        return name
    if name.startswith(prefix):
        return "model." + name.removeprefix(prefix)
    if name == prefix.removesuffix("model.") + "lm_head.weight":
        return "lm_head.weight"
    # a text-only file of the same family has plain names
    return (
        name if name.startswith(("model.layers.", "model.embed_tokens.", "model.norm.")) else None
    )
