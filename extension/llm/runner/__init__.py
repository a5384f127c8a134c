# SPDX-License-Identifier: BSD-3-Clause
"""The runner of language models in Python: text in, text out, by a program and a tokenizer file.

runner = TextLLMRunner("model.pte", "tokenizer.json")
runner.generate("Once upon a time", GenerationConfig(max_new_tokens=50), token_callback=print)
"""

try:
    # Kernels and backends register with the runtime in this module.
    from executorch.extension.pybindings import _portable_lib  # noqa: F401  # isort: skip
    from executorch.extension.llm.runner._llm_runner import (
        Audio,
        GenerationConfig,
        Image,
        MultimodalInput,
        MultimodalRunner,
        RawAudio,
        Stats,
        TextLLMRunner,
        check_grammar,
        json_schema_to_gbnf,
        make_text_input,
        make_token_input,
        named_data,
        sampling_of,
        sampling_settings,
    )
except ImportError as error:
    raise RuntimeError(
        "the native module of executorch.extension.llm.runner is not here: install executorch's wheel, or build with "
        f"EXECUTORCH_BUILD_PYBIND=ON and EXECUTORCH_BUILD_EXTENSION_LLM_RUNNER=ON ({error})"
    ) from error

from executorch.extension.llm.runner.hf import generate_hf, generate_text_hf
from executorch.extension.llm.runner.inputs import (
    make_audio_input,
    make_image_input,
    make_raw_audio_input,
)

MultimodalRunner.generate_hf = generate_hf
MultimodalRunner.generate_text_hf = generate_text_hf

__all__ = [
    "Audio",
    "GenerationConfig",
    "Image",
    "MultimodalInput",
    "MultimodalRunner",
    "RawAudio",
    "Stats",
    "TextLLMRunner",
    "check_grammar",
    "generate_hf",
    "generate_text_hf",
    "json_schema_to_gbnf",
    "make_audio_input",
    "make_image_input",
    "make_raw_audio_input",
    "make_text_input",
    "make_token_input",
    "named_data",
    "sampling_of",
    "sampling_settings",
]
