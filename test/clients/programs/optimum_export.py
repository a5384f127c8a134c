# SPDX-License-Identifier: BSD-3-Clause
"""`optimum-cli export executorch` on small checkpoints made here, and what its classes write with the files.

usage: python optimum_export.py CASE RECIPE [option of optimum-cli ...]     (CASE: a row of CASES)

Prints {"found": tokens or text of the file, "expected": transformers' own, "decibels": of the logits of one call, ...}.
"""

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

import httpx
import torch
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoModelForPreTraining,
    AutoModelForSpeechSeq2Seq,
    AutoTokenizer,
    CLIPImageProcessor,
    CLIPVisionConfig,
    Gemma3Config,
    Gemma3ImageProcessor,
    Gemma3Processor,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    LlavaConfig,
    LlavaProcessor,
    MistralConfig,
    PreTrainedTokenizerFast,
    Qwen3Config,
    SiglipVisionConfig,
    WhisperConfig,
    WhisperFeatureExtractor,
)

WORDS = "a b c d e f g h the cat sat on mat what is in this image ? user assistant".split()
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<image>", "<boi>", "<eoi>"]
SHAPE = {
    "vocab_size": 64,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
LONGEST = 24
CHECKPOINT, EXPORTED = Path("checkpoint"), Path("exported")
PROMPT = "the cat sat on the"


def tokenizer() -> PreTrainedTokenizerFast:
    places = {word: place for place, word in enumerate([*SPECIAL, *WORDS])}
    words = Tokenizer(models.WordLevel(places, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        image_token="<image>",
        boi_token="<boi>",
        eoi_token="<eoi>",
        extra_special_tokens=["<image>", "<boi>", "<eoi>"],
        model_max_length=LONGEST,
    )


def save(config, kind) -> None:
    torch.manual_seed(0)
    model = kind.from_config(config).eval()
    with torch.no_grad():  # wide logits, so that the best token is far ahead of the second
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4.0)
    model.save_pretrained(CHECKPOINT)
    tokenizer().save_pretrained(CHECKPOINT)


def make(case: str) -> str:
    """Writes the checkpoint; returns the task."""
    if case == "llama":
        save(LlamaConfig(**SHAPE), AutoModelForCausalLM)
    elif case == "qwen3":
        save(Qwen3Config(**SHAPE, tie_word_embeddings=True), AutoModelForCausalLM)
    elif case == "mistral":
        save(MistralConfig(**SHAPE, sliding_window=None), AutoModelForCausalLM)
    elif case == "gpt2":
        config = GPT2Config(
            vocab_size=64,
            n_embd=64,
            n_layer=2,
            n_head=4,
            n_positions=128,
            bos_token_id=1,
            eos_token_id=2,
        )
        save(config, AutoModelForCausalLM)
    elif case == "whisper":
        config = WhisperConfig(
            vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_target_positions=64,
            decoder_start_token_id=1, pad_token_id=0, bos_token_id=1, eos_token_id=2,
            suppress_tokens=None, begin_suppress_tokens=None,
        )  # fmt: skip
        save(config, AutoModelForSpeechSeq2Seq)
        WhisperFeatureExtractor().save_pretrained(CHECKPOINT)
        return "automatic-speech-recognition"
    elif case == "llava":
        vision = CLIPVisionConfig(
            hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            image_size=28, patch_size=14, projection_dim=32,
        )  # fmt: skip
        save(
            LlavaConfig(
                vision_config=vision, text_config=LlamaConfig(**SHAPE), image_token_index=4
            ),
            AutoModelForPreTraining,
        )
        size = {"height": 28, "width": 28}
        LlavaProcessor(
            CLIPImageProcessor(size=size, crop_size=size),
            tokenizer(),
            patch_size=14,
            vision_feature_select_strategy="default",
            num_additional_image_tokens=1,
            chat_template=TEMPLATE,
        ).save_pretrained(CHECKPOINT)
        return "multimodal-text-to-text"
    elif case == "gemma3":
        vision = SiglipVisionConfig(
            hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            image_size=28, patch_size=7,
        )  # fmt: skip
        config = Gemma3Config(
            vision_config=vision,
            text_config=Gemma3TextConfig(**SHAPE, sliding_window=32),
            mm_tokens_per_image=4,
            image_token_index=4,
            boi_token_index=5,
            eoi_token_index=6,
        )
        save(config, AutoModelForPreTraining)
        Gemma3Processor(
            Gemma3ImageProcessor(size={"height": 28, "width": 28}),
            tokenizer(),
            image_seq_length=4,
            chat_template=TEMPLATE.replace("<image>", "<boi>"),
        ).save_pretrained(CHECKPOINT)
        return "multimodal-text-to-text"
    return "text-generation"


TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %} <image>{% else %} {{ part['text'] }}{% endif %}{% endfor %}"
    "{% endfor %}{% if add_generation_prompt %} assistant{% endif %}"
)


class Picture:
    """What the exporter's sample conversation would fetch."""

    def __init__(self, *_, **__) -> None:
        data = io.BytesIO()
        Image.linear_gradient("L").convert("RGB").save(data, "PNG")
        self.content = data.getvalue()


def export(task: str, recipe: str, options: list[str]) -> None:
    """As its documentation spells the command; in this process where it would fetch a picture."""
    words = ["export", "executorch", "--model", str(CHECKPOINT), "--task", task, "--recipe", recipe]
    words += [*options, "--output_dir", str(EXPORTED)]
    if task != "multimodal-text-to-text":
        subprocess.run([Path(sys.executable).with_name("optimum-cli"), *words], check=True)
        return
    from optimum.commands.optimum_cli import main

    sys.argv = ["optimum-cli", *words]
    httpx.get = Picture
    main()


def decibels(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float(20 * torch.log10(expected.norm() / (found - expected).norm().clamp_min(1e-12)))


@torch.no_grad()
def text_generation() -> dict:
    from optimum.executorch import ExecuTorchModelForCausalLM

    words = AutoTokenizer.from_pretrained(CHECKPOINT)
    eager = AutoModelForCausalLM.from_pretrained(CHECKPOINT).eval()
    ours = ExecuTorchModelForCausalLM.from_pretrained(EXPORTED)
    inputs = words(PROMPT, return_tensors="pt").input_ids
    length = ours.model.method_meta("forward").input_tensor_meta(1).sizes()[0]
    parts = [slice(0, inputs.shape[1])] if length > 1 else [slice(i, i + 1) for i in range(5)]
    logits = [ours.forward(inputs[:, part], torch.arange(5)[part])[:, -1:] for part in parts][-1]
    found = ours.text_generation(tokenizer=words, prompt=PROMPT, max_seq_len=LONGEST)
    wanted = eager.generate(inputs, do_sample=False, max_length=LONGEST, pad_token_id=0)
    return {
        "found": found,
        "expected": words.decode(wanted[0], skip_special_tokens=True),
        "decibels": decibels(logits, eager(inputs).logits[:, -1:]),
    }


@torch.no_grad()
def speech_recognition() -> dict:
    from optimum.executorch import ExecuTorchModelForSpeechSeq2Seq

    eager = AutoModelForSpeechSeq2Seq.from_pretrained(CHECKPOINT).eval()
    ours = ExecuTorchModelForSpeechSeq2Seq.from_pretrained(EXPORTED)
    sound = torch.sin(torch.arange(16000) * 0.05).numpy()
    features = WhisperFeatureExtractor()(
        sound, sampling_rate=16000, return_tensors="pt"
    ).input_features
    tokens, wanted = torch.tensor([[1]]), []
    for _ in range(LONGEST - 1):
        logits = eager(input_features=features, decoder_input_ids=tokens).logits[:, -1]
        wanted.append(int(logits.argmax()))
        tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], 1)
        if wanted[-1] == 2:
            break
    start = torch.tensor([[1]])
    logits, _ = ours.forward(features, start, torch.tensor([0]))
    expected = eager(input_features=features, decoder_input_ids=start).logits
    return {
        "found": ours.generate(features, max_seq_len=LONGEST),
        "expected": wanted,
        "decibels": decibels(logits, expected),
    }


@torch.no_grad()
def image_to_text() -> dict:
    from optimum.executorch import ExecuTorchModelForMultiModalToText
    from transformers import AutoProcessor

    eager = AutoModelForPreTraining.from_pretrained(CHECKPOINT).eval()
    processor = AutoProcessor.from_pretrained(CHECKPOINT)
    ours = ExecuTorchModelForMultiModalToText.from_pretrained(EXPORTED)
    asked = [
        {"type": "image", "url": "https://a.picture"},
        {"type": "text", "text": "what is in this image ?"},
    ]
    inputs = processor.apply_chat_template(
        [{"role": "user", "content": asked}],
        add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt",
    )  # fmt: skip
    inputs = {name: inputs[name] for name in ("input_ids", "pixel_values")}
    ids, pixels = inputs.values()
    logits = ours.forward(ids, torch.arange(ids.shape[1]), pixels)
    ours.tokenizer = tokenizer()
    count = 8
    found = ours.generate(
        ids, echo=True, max_seq_len=ids.shape[1] + count, multimodal_features=pixels
    )
    wanted = eager.generate(**inputs, do_sample=False, max_new_tokens=count, pad_token_id=0)
    expected = eager(**inputs).logits
    return {
        "found": found,
        "expected": wanted[0, ids.shape[1] :].tolist(),
        "decibels": decibels(logits[:, -1], expected[:, -1]),
        "methods": sorted(ours.model.method_names()),
    }


RUN = {
    "text-generation": text_generation,
    "automatic-speech-recognition": speech_recognition,
    "multimodal-text-to-text": image_to_text,
}


def main() -> None:
    case, recipe, *options = sys.argv[1:]
    with contextlib.redirect_stdout(sys.stderr):
        task = make(case)
        export(task, recipe, options)
        row = RUN[task]()
    row["files"] = sorted(path.name for path in EXPORTED.iterdir())
    print(json.dumps(row))


main()
