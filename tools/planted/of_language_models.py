# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of faults of language models: checkpoints, the decoder, chat templates, sampling."""

from __future__ import annotations

from executorch.tools.planted.kinds import Kind, Listed
from executorch.tools.planted.plants import (
    choices,
    comparisons,
    entries,
    guards,
    numbers,
    operands,
    settings,
)

_LLM = "extension/llm"
_SAMPLER = "extension/text/sampler/sampler.cpp"
SAMPLING = (
    Listed(_SAMPLER, "rng_state_ ^= rng_state_ >> 12;", "rng_state_ ^= rng_state_ >> 13;", "another shift"),
    Listed(_SAMPLER, "static_cast<float>(bits >> 8) / 16777216.0f", "static_cast<float>(bits >> 8) / 16000000.0f",
           "random numbers above 1"),
    Listed(_SAMPLER, "logit = logit > 0 ? logit / penalty_ : logit * penalty_;", "logit /= penalty_;",
           "logits below 0 are rewarded"),
    Listed(_SAMPLER, "static_cast<float>(count) * frequency_penalty_ + presence_penalty_;",
           "frequency_penalty_ + presence_penalty_;", "frequency is presence"),
    Listed(_SAMPLER, "static_cast<float>(count) * frequency_penalty_ + presence_penalty_;",
           "static_cast<float>(count) * (frequency_penalty_ + presence_penalty_);", "presence is frequency"),
    Listed(_SAMPLER, "const float bound = min_p_ * probs_[best];", "const float bound = 0.95f * min_p_ * probs_[best];",
           "min-p 5 % less"),
    Listed(_SAMPLER, "const float bound = (1.0f - topp_) / static_cast<float>(probs_.size() - 1);",
           "const float bound = 4.0f * (1.0f - topp_) / static_cast<float>(probs_.size() - 1);",
           "what top-p sorts begins too high"),
    Listed(_SAMPLER, "while (count < possible_.size() && sum <= bound) {",
           "while (count < possible_.size() && sum + possible_[count].prob <= bound) {",
           "top-p without the token that passes it"),
    Listed(_SAMPLER, "const auto end = possible_.begin() + topk_;", "const auto end = possible_.begin() + topk_ + 1;",
           "one token more than top-k"),
    Listed(_SAMPLER, "const bool has_topp = then_topp_ && topp_ > 0 && topp_ < 1;",
           "const bool has_topp = topp_ > 0 && topp_ < 1;", "top-p behind top-k though nobody gave it"),
    Listed(_SAMPLER, "logit *= 1.0f / temperature_;", "logit *= 1.02f / temperature_;", "2 % colder"),
    Listed(_SAMPLER, "    ++taken_[token];", "    taken_[token] = 1;", "each token counts once"),
    Listed(f"{_LLM}/runner/text_decoder_runner.cpp", "sampler_->set_topk(config.top_k, config.top_p.is_given());",
           "sampler_->set_topk(config.top_k, false);", "top-p behind top-k is forgotten"),
    Listed(f"{_LLM}/runner/text_decoder_runner.cpp", "sampler_->set_min_p(config.min_p);", "sampler_->set_min_p(0);",
           "min-p is forgotten"),
)  # fmt: skip
OF_LANGUAGE_MODELS = (
    Kind("rope", "constants of rotary positions and their scaling rules",
         ("extension/llm/model/rope_test.py", "extension/llm/model/rope_turns_test.py", "extension/llm/model"),
         ("extension/llm/model/rope.py",), (numbers, guards, operands, comparisons, choices)),
    Kind("llm-checkpoint", "what config.json, GGUF metadata and names of tensors say of a model",
         (f"{_LLM}/checkpoint/gguf_params_test.py", f"{_LLM}/checkpoint/params_test.py",
          f"{_LLM}/checkpoint/names_test.py", f"{_LLM}/checkpoint/checkpoint_test.py",
          f"{_LLM}/model/families_test.py -k transformers or itself",
          f"{_LLM}/model/rope_test.py"),
         tuple(f"{_LLM}/checkpoint/{name}.py" for name in (
             "config_params", "gguf_params", "model_types", "known_keys", "keys", "load", "tokenizer")),
         (guards, operands, comparisons, choices, entries, numbers)),
    Kind("llm-model", "the decoder: attention, caches, masks, mixers, norms",
         (f"{_LLM}/model/transformer_test.py", f"{_LLM}/model/decoder_choices_test.py", f"{_LLM}/model/caches_test.py",
          f"{_LLM}/model/families_test.py -k transformers or left_out", f"{_LLM}/checkpoint/params_test.py",
          f"{_LLM}/checkpoint/checkpoint_test.py -k wrong_paths"),
         tuple(f"{_LLM}/model/{name}.py" for name in (
             "args", "attend", "attention", "caches", "feed_forward", "masks", "mixers", "norms", "transformer")),
         (guards, operands, comparisons, choices, entries, numbers)),
    Kind("llm-template", "chat templates, stop strings and what of a conversation is kept",
         (f"{_LLM}/runner/chat_template_test.py", f"{_LLM}/runner/conversation_test.py"),
         (f"{_LLM}/runner/chat_template.py", f"{_LLM}/runner/conversation.py"),
         (guards, operands, comparisons, choices, entries, numbers, settings)),
    Kind("llm-sampling", "from logits to a token, in C++",
         (f"{_LLM}/runner/sampling_test.py", f"{_LLM}/runner/runner_test.py -k sampl or penal"),
         listed=SAMPLING, native="llm_runner_module"),
)  # fmt: skip
