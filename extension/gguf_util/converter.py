# SPDX-License-Identifier: BSD-3-Clause
"""From what a GGUF file holds to a program, by its architecture."""

from __future__ import annotations

from executorch.extension.gguf_util.converters import llama_converter
from executorch.extension.gguf_util.load_gguf import GGUFModelArgs, GGUFWeights

CONVERTERS = {"llama": llama_converter.convert_to_pte}


def convert_to_pte(model_args: GGUFModelArgs, weights: GGUFWeights) -> bytes:
    """The bytes of a `.pte` file.

    Raises:
        NotImplementedError: an architecture that has no converter here.
        CheckpointError: tensors that are not the model's.
    """
    if model_args.arch not in CONVERTERS:
        raise NotImplementedError(
            f"expected an architecture of {', '.join(CONVERTERS)}, found {model_args.arch!r}; "
            "executorch.extension.llm.export.export_llm reads GGUF files of more"
        )
    return CONVERTERS[model_args.arch](model_args, weights)
