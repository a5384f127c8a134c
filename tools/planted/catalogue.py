# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of faults: in which files they are planted, by which changes, and the tests beside them that should notice.

A kind for a file of one's own is one row. Changes of C++ are listed one by one: each takes a compilation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from executorch.tools.planted.plants import (
    Mutator,
    Plant,
    choices,
    comparisons,
    conditions,
    entries,
    guards,
    in_python,
    listed,
    numbers,
    operands,
    settings,
)


@dataclass(frozen=True)
class Listed:
    """A change by hand of a file: `old` stands there once."""

    file: str
    old: str
    new: str
    change: str


@dataclass(frozen=True)
class Kind:
    """`tests` run in this order until one fails: those that are quick and near first; of a `tier`, those alone.
    `native` names the target of CMake whose module the tests load, and which is linked again with what was planted.
    `at_import`: modules keep what the functions give, as tables do, so that each run imports them."""

    name: str
    about: str
    tests: tuple[str, ...]
    files: tuple[str, ...] = ()
    changes: tuple[Mutator, ...] = ()
    listed: tuple[Listed, ...] = ()
    native: str = ""
    tier: str = ""
    at_import: bool = False

    def plants(self, root: Path) -> Iterator[Plant]:
        for file in self.files:
            yield from in_python(root, file, self.changes)
        for one in self.listed:
            yield listed(root, one.file, one.old, one.new, one.change)


_XNNPACK = "backends/xnnpack"
_ARM, _CORTEX_M, _CADENCE = (f"backends/{name}/test" for name in ("arm", "cortex_m", "cadence"))
_QUANTIZER = "exir/backend/lowering/quantizer"
_NORM, _UNARY = "kernels/portable/norm/norm.cpp", "kernels/portable/unary.h"
_QUANTIZED = "kernels/quantized"

KERNELS = (
    Listed(_NORM, "1.0 / std::sqrt(squares / static_cast<double>(length) + eps)",
           "1.0 / std::sqrt(squares / static_cast<double>(length) + 1.1 * eps)", "eps 10 % more"),
    Listed("kernels/portable/norm/batch_norm.cpp",
           "const double unbiased = moments.variance * count / (count - 1.0);",
           "const double unbiased = moments.variance;", "running variance without ddof"),
    Listed("kernels/portable/reduce/variance.cpp", "count - correction > 0 ? count - correction : 0",
           "count - correction > 0 ? count - 1.01 * correction : 0", "the correction 1 % more"),
    Listed("kernels/portable/softmax.cpp", "const C scale = static_cast<C>(1.0 / sum);",
           "const C scale = static_cast<C>(1.0001 / sum);", "0.01 % more"),
    Listed(_UNARY, "T(0.70710678118654752440)", "T(0.7072)", "gelu's root of a half"),
    Listed(_UNARY, "T(0.044715)", "T(0.0448)", "gelu's cubic term"),
    Listed("kernels/portable/resize/sample.cpp", "align_corners ? C(0) : C(-0.5)",
           "align_corners ? C(0) : C(-0.499)", "a border's place"),
)  # fmt: skip
QUANTIZED = (
    Listed(f"{_QUANTIZED}/choose_qparams.cpp",
           "const float shift = std::nearbyint(extremes.least / scale);",
           "const float shift = std::floor(extremes.least / scale);", "the zero point is cut off"),
    Listed(f"{_QUANTIZED}/choose_qparams.cpp", "               static_cast<float>(eps));",
           "               static_cast<float>(eps) * 1.5f);", "eps 50 % more"),
    Listed(f"{_QUANTIZED}/quantize.cpp", "const C inverse = static_cast<C>(1.0 / param.scale(at));",
           "const C inverse = static_cast<C>(1.002 / param.scale(at));", "scale 0.2 % off"),
    Listed(f"{_QUANTIZED}/add.cpp", "const float inverse = static_cast<float>(1.0 / out_scale);",
           "const float inverse = static_cast<float>(1.01 / out_scale);", "scale 1 % off"),
)  # fmt: skip
_LLM = "extension/llm"
_SAMPLER = f"{_LLM}/sampler/sampler.cpp"
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
PLANNER = (
    Listed("exir/_native/memory_planner.cpp", "return a.first <= b.last && b.first <= a.last;",
           "return a.first < b.last && b.first <= a.last;", "what ends and what begins at a step share a place"),
    Listed("exir/_native/memory_planner.cpp", "(tensor.size + alignment - 1) / alignment * alignment",
           "(tensor.size + 7) / 8 * 8", "sizes rounded to 8"),
    Listed("exir/_native/file_layout.cpp", "own == 0 ? 0 : std::lcm(alignment, own)",
           "own == 0 ? 0 : alignment", "an alignment of a datum's own is forgotten"),
)  # fmt: skip

_CONFORMANCE = "backends/test/conformance"
_OF_TABLES = (conditions, guards, operands, comparisons, choices, numbers, entries, settings)


def _sources(*places: str) -> tuple[str, ...]:
    """Python files, and those of folders, in the order of their names."""
    root = Path(__file__).resolve().parents[2]
    found = [path for place in places for path in sorted(root.glob(place))]
    return tuple(path.relative_to(root).as_posix() for path in found if path.name != "__init__.py")


# What the fast tests of a backend notice in the code that makes its programs.
OF_BACKENDS = (
    Kind("arm", "Arm's rows, conditions and integer arithmetic",
         (_ARM, f"{_CONFORMANCE}/conformance_test.py -k TOSABackend and not integers"),
         _sources("backends/arm/aot/*.py"), _OF_TABLES, tier="fast", at_import=True),
    Kind("cortex-m", "rows, passes and formulas of Cortex-M",
         (_CORTEX_M, f"{_CONFORMANCE}/kernel_conformance_test.py -k cortex_m"),
         _sources("backends/cortex_m/passes/*.py", "backends/cortex_m/ops/*.py", "backends/cortex_m/quantizer/*.py"),
         _OF_TABLES, tier="fast", at_import=True),
    Kind("cadence", "rows, passes, quantizers and formulas of Cadence",
         (_CADENCE, f"{_CONFORMANCE}/kernel_conformance_test.py -k cadence"),
         _sources("backends/cadence/aot/*.py", "backends/cadence/aot/operators/*.py",
                  "backends/cadence/aot/quantizer/*.py"),
         _OF_TABLES, tier="fast", at_import=True),
)  # fmt: skip

KINDS = (
    *OF_BACKENDS,
    Kind("condition", "conditions under which XNNPACK takes a call",
         (f"{_XNNPACK}/test/conditions_test.py", f"{_XNNPACK}/test/quantized_conditions_test.py",
          f"{_XNNPACK}/test/limits_test.py", f"{_XNNPACK}/test/partitioner_test.py",
          f"{_XNNPACK}/test/ops_test.py"),
         (f"{_XNNPACK}/aot/conditions.py",), (conditions,)),
    Kind("row", "rows of XNNPACK's table of operators, and their settings",
         (f"{_XNNPACK}/test/ops_test.py", f"{_XNNPACK}/test/quantized_test.py",
          f"{_XNNPACK}/test/partitioner_test.py", f"{_XNNPACK}/quantizer/xnnpack_quantizer_test.py",
          f"{_XNNPACK}/test/row_settings_test.py"),
         (f"{_XNNPACK}/aot/ops.py",), (entries, settings)),
    Kind("annotation", "what the quantizer annotates, and with which observer",
         (f"{_QUANTIZER}/table_quantizer_test.py", f"{_XNNPACK}/quantizer/xnnpack_quantizer_test.py",
          f"{_XNNPACK}/test/quantized_test.py", f"{_XNNPACK}/quantizer/large_values_test.py",
          f"{_XNNPACK}/quantizer/annotation_choices_test.py"),
         (f"{_QUANTIZER}/annotate.py", f"{_QUANTIZER}/captured.py", f"{_QUANTIZER}/configs.py"),
         (guards, operands, choices, entries, numbers)),
    Kind("planner", "lifetimes, arenas and what is left out of them",
         ("exir/memory_planning_test.py", "exir/emit/memory_planning_choices_test.py", "exir/emit/branches_test.py",
          "exir/passes/passes_test.py", "exir/emit/emit_program_test.py", "exir/emit/loops_test.py"),
         ("exir/memory_planning.py", "exir/memory_lifetimes.py", "exir/passes/memory_planning_pass.py"),
         (guards, operands, comparisons, choices)),
    Kind("emitter", "values, lists, views, constants and control flow of a program",
         ("exir/emit/emit_program_test.py", "exir/emit/refusals_test.py", "exir/emit/branches_test.py",
          "exir/emit/lists_test.py",
          "exir/emit/emission_choices_test.py", "exir/emit/loops_test.py",
          "exir/program/external_data_test.py", "exir/memory_planning_test.py", "test/e2e/small_programs_test.py"),
         ("exir/emit/_emitter.py", "exir/emit/_values.py", "exir/emit/_program_state.py",
          "exir/emit/_control_flow.py"),
         (guards, operands, comparisons, choices, entries)),
    Kind("rope", "constants of rotary positions and their scaling rules",
         ("extension/llm/model/rope_test.py", "extension/llm/model/rope_turns_test.py", "extension/llm/model"),
         ("extension/llm/model/rope.py",), (numbers, guards, operands, comparisons, choices)),
    Kind("llm-checkpoint", "what config.json, GGUF metadata and names of tensors say of a model",
         (f"{_LLM}/checkpoint/gguf_params_test.py", f"{_LLM}/checkpoint/params_test.py",
          f"{_LLM}/checkpoint/checkpoint_test.py", f"{_LLM}/model/families_test.py -k transformers or itself",
          f"{_LLM}/model/rope_test.py"),
         tuple(f"{_LLM}/checkpoint/{name}.py" for name in (
             "config_params", "gguf_params", "model_types", "known_keys", "keys", "load", "tokenizer")),
         (guards, operands, comparisons, choices, entries, numbers)),
    Kind("llm-model", "the decoder: attention, caches, masks, mixers, norms",
         (f"{_LLM}/model/transformer_test.py", f"{_LLM}/model/decoder_choices_test.py",
          f"{_LLM}/model/families_test.py -k transformers or left_out", f"{_LLM}/checkpoint/params_test.py"),
         tuple(f"{_LLM}/model/{name}.py" for name in (
             "args", "attention", "caches", "feed_forward", "masks", "mixers", "norms", "transformer")),
         (guards, operands, comparisons, choices, entries, numbers)),
    Kind("llm-template", "chat templates, stop strings and what of a conversation is kept",
         (f"{_LLM}/runner/chat_template_test.py", f"{_LLM}/runner/conversation_test.py"),
         (f"{_LLM}/runner/chat_template.py", f"{_LLM}/runner/conversation.py"),
         (guards, operands, comparisons, choices, entries, numbers, settings)),
    Kind("llm-sampling", "from logits to a token, in C++",
         (f"{_LLM}/runner/sampling_test.py", f"{_LLM}/runner/runner_test.py -k sampl or penal"),
         listed=SAMPLING, native="llm_runner_module"),
    Kind("kernel", "parameters of portable kernels",
         ("kernels/test/differential_test.py -k sample_of_calls and portable", "kernels/test/op_test.py"),
         listed=KERNELS, native="_portable_kernels"),
    Kind("quantized-kernel", "rounding and scales of quantized kernels",
         ("kernels/test/quantized_test.py",), listed=QUANTIZED, native="_quantized_kernels"),
    Kind("native-planner", "the planner and the file's layout in C++",
         ("exir/memory_planning_test.py", "exir/_serialize", "exir/emit/emit_program_test.py"),
         listed=PLANNER, native="exir_native"),
)  # fmt: skip


def named(names: list[str]) -> list[Kind]:
    """All kinds, or those of the names."""
    known = {kind.name: kind for kind in KINDS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"unknown kind {', '.join(unknown)}: expected one of {', '.join(known)}; --list shows them"
        )
    return [known[name] for name in names] if names else list(KINDS)
