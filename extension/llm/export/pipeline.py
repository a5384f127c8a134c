# SPDX-License-Identifier: BSD-3-Clause
"""The whole of one export, from a config to a file: load, transform, capture, quantize, lower, write."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from executorch.extension.llm.checkpoint.pages import release_pages
from executorch.extension.llm.checkpoint.reader import is_gguf
from executorch.extension.llm.export import companions, texts
from executorch.extension.llm.export.builder import DType, LLMEdgeManager
from executorch.extension.llm.export.config.llm_config import (
    GGUF_BITS,
    DtypeOverride,
    LlmConfig,
    LoraConfig,
)
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.config.rules import (
    check,
    enabled_backends,
    held_as,
    takes_blocks,
)
from executorch.extension.llm.export.embedding import EMBED, HiddenMean, without_cache
from executorch.extension.llm.export.models import LoadedModel, load_model
from executorch.extension.llm.export.partitioner_lib import language_models
from executorch.extension.llm.export.perplexity import perplexity
from executorch.extension.llm.export.stages import Stages
from executorch.extension.llm.export.weight_files import weight_tags
from executorch.extension.llm.model.caches import state_as_before
from executorch.extension.llm.model.likelihood import module_logits
from executorch.extension.llm.model.transformer import Transformer, check_tied
from executorch.extension.llm.quantization.budget_text import budget_of
from executorch.extension.llm.transform.plan import (
    check_linear_attention,
    transforms_for,
)

if TYPE_CHECKING:
    from executorch.extension.llm.quantization.budget import Search

ExportOptions = Any  # LlmConfig, argparse.Namespace or omegaconf's DictConfig


def as_config(options: ExportOptions) -> LlmConfig:
    """A checked config of what callers hold."""
    if isinstance(options, argparse.Namespace):
        options = LlmConfig.from_args(options)
    elif not isinstance(options, LlmConfig):
        from omegaconf import OmegaConf

        tree = OmegaConf.to_container(options) if OmegaConf.is_config(options) else options
        options = build(tree)
    check(options)
    config = _with_own_bits(options) if takes_blocks(options) else options
    asked = config.quantization
    blocks = held_as(config) == "blocks" if asked.budget else asked.own_bits
    return _with_half_caches(config) if blocks else config


def _with_half_caches(config: LlmConfig) -> LlmConfig:
    """Where nothing else is asked for: weights of few bits would be read beside keys and values of 32."""
    model = config.model
    other = model.kv_cache_dtype or model.quantize_kv_cache or model.dtype_override != "fp32"
    if other or not model.use_sdpa_with_kv_cache:
        return config
    return replace(config, model=replace(model, kv_cache_dtype=DtypeOverride.fp16))


def _with_own_bits(config: LlmConfig) -> LlmConfig:
    """Blocks of a GGUF file are kept where nothing else is asked for."""
    if not config.base.checkpoint or not is_gguf(Path(config.base.checkpoint)):
        return config
    return replace(config, quantization=replace(config.quantization, qmode=GGUF_BITS))


def example_inputs(config: LlmConfig, seq_len: int | None = None) -> tuple[Any, ...]:
    """Tokens, and with a cache the position of the first, in the form that the model takes them; `seq_len` is the
    number of tokens of a method of fixed length."""
    if seq_len is not None:
        tokens = torch.ones(1, seq_len, dtype=torch.long)
        return (
            (tokens, {"input_pos": torch.tensor([0])}) if config.model.use_kv_cache else (tokens,)
        )
    if config.export.max_sessions > 1:  # places of tokens, and tokens whose logits are wanted
        places, wanted = torch.tensor([0, 1, 2]), torch.tensor([1, 2])
        return (torch.tensor([[2, 3, 4]]), {"input_pos": places, "logits_of": wanted})
    length = max(3, config.export.max_seq_length)
    if not config.model.use_kv_cache:
        tokens = length - 1 if config.model.enable_dynamic_shape else length
        return (torch.ones(1, tokens, dtype=torch.long),)
    tokens = [[2, 3, 4]] if config.model.enable_dynamic_shape else [[1]]
    return (torch.tensor(tokens), {"input_pos": torch.tensor([0])})


def _companions(config: LlmConfig, loaded: LoadedModel) -> dict[str, bytes]:
    gguf = loaded.checkpoint.gguf if loaded.checkpoint else None
    return companions.companions_of(config.base.checkpoint, gguf, config.base.tokenizer_path)


def _metadata(config: LlmConfig, loaded: LoadedModel, beside: dict[str, bytes]) -> dict[str, Any]:
    """Constant methods: lengths and switches, what the checkpoint says of its tokens, then the user's own."""
    args = loaded.args
    found: dict[str, Any] = {
        "get_max_seq_len": args.max_seq_len,
        "get_max_context_len": args.max_context_len,
        "get_n_layers": args.n_layers,
        "get_vocab_size": args.vocab_size,
        "use_kv_cache": args.use_kv_cache,
        "use_sdpa_with_kv_cache": args.use_sdpa_with_kv_cache_op,
        "enable_dynamic_shape": args.enable_dynamic_shape,
    }
    if config.export.max_sessions > 1:
        found["get_max_sessions"] = config.export.max_sessions
    if args.num_kv_shared_layers:
        found["get_num_kv_shared_layers"] = args.num_kv_shared_layers
    gguf = loaded.checkpoint.gguf if loaded.checkpoint else None
    if gguf is not None:
        bos = gguf.metadata.get("tokenizer.ggml.bos_token_id")
        found |= {} if bos is None else {"get_bos_id": bos}
    if ends := companions.stop_tokens(beside, gguf):
        found["get_eos_ids"] = ends
    if config.base.metadata:
        try:
            extra = json.loads(config.base.metadata)
        except ValueError as error:
            raise ValueError(
                f"base.metadata: expected a JSON object, found {config.base.metadata!r}: {error}"
            ) from error
        if not isinstance(extra, dict):
            raise ValueError(f"base.metadata: expected a JSON object, found {extra!r}")
        found |= extra
    return found


Measure = Callable[[str, LoadedModel], None]


def prepare(
    config: LlmConfig,
    stages: Stages,
    lora: LoraConfig | None = None,
    seq_len: int | None = None,
    measure: Measure | None = None,
) -> tuple[LLMEdgeManager, LoadedModel]:
    """The model with its weights, rewritten as the config asks, ready to be captured; `seq_len` fixes the number of
    tokens of a call, `measure` sees the model before and after."""
    own_bits = config.quantization.own_bits
    activation_bits = config.quantization.activation_bits
    if activation_bits != 8 and not own_bits:
        raise ValueError(
            f"quantization.activation_bits={activation_bits} is of a GGUF file's quantization: expected such a file, "
            "and neither other weights nor a backend with its own"
        )
    if measure is not None and own_bits:
        floats = replace(config, quantization=replace(config.quantization, qmode=None))
        measure("before", load_model(floats, lora))
    with stages.stage("load"):
        loaded = load_model(config, lora)
    if cost := _cost_of_other_bits(config, loaded):
        print(cost)
    beside = _companions(config, loaded)
    dynamic = config.model.enable_dynamic_shape and seq_len is None
    check_linear_attention(config, loaded.args, dynamic)
    manager = LLMEdgeManager(
        model=loaded.model,
        modelname=str(config.base.model_class),
        max_seq_len=config.export.max_seq_length,
        use_kv_cache=config.model.use_kv_cache,
        example_inputs=example_inputs(config, seq_len),
        dtype=DType(str(config.model.dtype_override)),
        enable_dynamic_shape=dynamic,
        generate_full_logits=config.debug.generate_full_logits,
        calibration_tasks=config.quantization.calibration_tasks,
        calibration_limit=config.quantization.calibration_limit,
        calibration_seq_length=config.quantization.calibration_seq_length,
        calibration_data=config.quantization.calibration_data,
        tokenizer_path=config.base.tokenizer_path,
        verbose=config.debug.verbose,
        metadata=_metadata(config, loaded, beside),
        generate_etrecord=config.debug.generate_etrecord,
    ).set_output_dir(config.export.output_dir)
    if config.export.tokenizer_in_program:
        manager.named_data = companions.named(beside)
    if measure is not None and not own_bits:
        measure("before", loaded)
    with stages.stage("transform"):
        pieces = texts.pieces(config, beside)
        loaded.search = _search(config, loaded.model, pieces, beside)
        manager.source_transform(transforms_for(config, loaded.args, pieces, loaded.search))
        if loaded.checkpoint is not None:
            release_pages(loaded.checkpoint.path)
    if measure is not None:
        loaded.model = manager.model
        measure("after", loaded)
    return manager, loaded


_PROGRAM = 700_000  # bytes of a program that are no weights, about


def _search(
    config: LlmConfig, model: Transformer, pieces: list[torch.Tensor], beside: dict[str, bytes]
) -> Search | None:
    """What quantization.budget asks for."""
    if config.quantization.budget is None:
        return None
    from executorch.extension.llm.quantization.budget import Search  # needs the kernels' library
    from executorch.extension.llm.quantization.forms import FAMILIES

    carried = sum(map(len, beside.values())) if config.export.tokenizer_in_program else 0
    family = FAMILIES[held_as(config)]
    if config.model.use_shared_embedding:
        check_tied(model)
        family = family.with_shared_table()
    found = budget_of(config.quantization.budget)
    return Search(found, family, pieces, carried + _PROGRAM)


def _cost_of_other_bits(config: LlmConfig, loaded: LoadedModel) -> str:
    """What is said where the blocks of a GGUF file are quantized once more."""
    asked = config.quantization
    again = asked.budget or asked.few_bits or asked.embedding_quantize or asked.pt2e_quantize
    if not again or not loaded.checkpoint or not loaded.checkpoint.gguf:
        return ""
    return (
        f"{config.base.checkpoint}: its blocks are quantized once more ({again}), which costs quality: of "
        "SmolLM2-135M's Q4_1 8da4w makes perplexity 28.7 of 17.0; without quantization.* the file's is kept"
    )


def perplexity_of(config: LlmConfig, text: str | Path) -> Measure:
    """Prints how well a model predicts a text (`--eval`), with the config's tokenizer or a GGUF file's own."""

    def measure(when: str, loaded: LoadedModel) -> None:
        encode = texts.encoder(config, _companions(config, loaded), "--eval")
        tokens = encode(Path(text).read_text(encoding="utf-8"))
        window = max(2, config.export.max_seq_length - 1)
        with state_as_before(loaded.model):
            found = perplexity(module_logits(loaded.model), tokens, window)
        print(f"perplexity {when}: {found:.4f} over {len(tokens)} tokens")

    return measure


def partitioners_for(config: LlmConfig) -> list[Any]:
    """Of each backend that is enabled, those first whose names the config has first."""
    return [
        each
        for name in enabled_backends(config)
        for each in language_models(name).partitioners(config)
    ]


def output_path(config: LlmConfig) -> Path:
    """Below export.output_dir, unless export.output_name is an absolute path."""
    name = config.export.output_name
    if name and name.endswith(".pte"):
        return Path(config.export.output_dir) / name
    if not name:
        half = "_h" if str(config.model.dtype_override) == "fp16" else ""
        names = enabled_backends(config)
        prefix = "".join(getattr(language_models(each), "PREFIX", "") for each in names)
        name = f"{prefix}{config.base.model_class}{half}"
    return Path(config.export.output_dir) / f"{name}.pte"


def export_llama(
    export_options: ExportOptions,
    eval_text: str | Path | None = None,
    stages: Stages | None = None,
) -> str:
    """Exports and writes what the options ask for; gives the path of the file. With a text the perplexity before and
    after quantization is printed; `stages` gets the seconds and memory of each stage.

    Raises:
        ConfigError, ValueError: options that do not exist or cannot go together.
        CheckpointError: a checkpoint that cannot be read, or is not the model's.
    """
    config = as_config(export_options)
    stages = stages or Stages(say=config.debug.verbose or Stages().say)
    try:
        return _export(config, stages, eval_text)
    finally:
        if config.debug.profile_path:
            stages.write_html(config.debug.profile_path)


def _export(config: LlmConfig, stages: Stages, eval_text: str | Path | None = None) -> str:
    path = output_path(config)
    if config.multimethod.methods:
        return _export_methods(config, stages, path)
    measure = None if eval_text is None else perplexity_of(config, eval_text)
    manager, loaded = prepare(config, stages, config.base.lora_config, measure=measure)
    with stages.stage("torch.export"):
        manager.export()
    if config.export.export_only:
        return str(path)
    if config.quantization.pt2e_quantize:
        from executorch.extension.llm.export.quantizer_lib import quantize

        with stages.stage("pt2e quantize"):
            quantize(config, manager)
    tags = weight_tags(config.export)
    embedding = _embedding_manager(config, stages) if config.export.embed else None
    with stages.stage("lower"):
        if tags is not None:
            manager.tag_constants(tags)
        if embedding is not None:
            both = {"forward": manager, EMBED: embedding}
            manager.lower_together(both, partitioners_for(config))
        else:
            manager.to_edge_transform_and_lower(partitioners_for(config))
    with stages.stage("plan and emit"):
        manager.to_executorch(external_constants_tag=tags)
    return _write(config, stages, manager, loaded, path)


def _embedding_manager(config: LlmConfig, stages: Stages) -> LLMEdgeManager:
    """The same model once more, captured as what `embed` computes."""
    manager, _ = prepare(without_cache(config), stages, config.base.lora_config)
    manager.source_transform([HiddenMean])
    with stages.stage(f"torch.export {EMBED}"):
        return manager.export()


def _export_methods(config: LlmConfig, stages: Stages, path: Path) -> str:
    """Each of `multimethod.methods` is loaded and captured by itself; all are lowered into one program, which holds
    equal weights once."""
    managers: dict[str, LLMEdgeManager] = {}
    first = None
    for method in config.multimethod.methods:
        manager, loaded = prepare(config, stages, method.lora_config, method.export_seq_len)
        with stages.stage(f"torch.export {method.method_name}"):
            manager.export()
        managers[method.method_name] = manager
        first = first or (manager, loaded)
    manager, loaded = first
    if config.export.export_only:
        return str(path)
    with stages.stage("lower"):
        manager.lower_together(managers, partitioners_for(config))
    with stages.stage("plan and emit"):
        manager.to_executorch(share_mutable_buffers=config.multimethod.share_mutable_buffers)
    return _write(config, stages, manager, loaded, path)


def _write(
    config: LlmConfig, stages: Stages, manager: LLMEdgeManager, loaded: LoadedModel, path: Path
) -> str:
    with stages.stage("write"):
        manager.save_to_pte(str(path))
        _write_companions(config, manager, loaded, path)
    if loaded.search is not None:
        _write_report(loaded.search, path)
    if stages.say:
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return str(path)


def _write_report(search: Search, path: Path) -> None:
    """What the budget has chosen, beside the program."""
    report, size = path.with_suffix(".budget.md"), path.stat().st_size
    report.write_text(search.report)
    print(f"{search.report.partition(chr(10))[0]} Each matrix: {report.name}, beside the program.")
    if search.budget.bytes is not None and size > search.budget.bytes:
        print(
            f"{path}: expected {search.budget}, found {size / 1e6:.1f} MB: more beside the matrices than was foreseen; "
            f"ask for {(size - search.budget.bytes) / 1e6:.1f} MB less"
        )


def _write_companions(
    config: LlmConfig, manager: LLMEdgeManager, loaded: LoadedModel, path: Path
) -> None:
    """What stands beside the program: its ETRecord, a trace of its memory, and the tokenizer of a GGUF file."""
    if config.debug.generate_etrecord:
        manager.export_program.get_etrecord().save(str(path.with_name("etrecord.bin")))
    if config.debug.profile_memory:
        from executorch.devtools.memory_trace import generate_memory_trace

        method = sorted(manager.edge_manager.methods)[0]
        trace = str(path.with_name("memory_profile.json"))
        generate_memory_trace(manager.export_program, trace, True, method)
    if loaded.checkpoint is not None and loaded.checkpoint.gguf is not None:
        for name, held in _companions(config, loaded).items():
            path.with_name(name).write_bytes(held)
