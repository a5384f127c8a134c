# SPDX-License-Identifier: BSD-3-Clause
"""The shape of a model as its checkpoint tells it, as keyword arguments of ModelArgs; a params.json of the user's wins
over it. Keys that are not known are refused by name (known_keys.py)."""

from executorch.extension.llm.checkpoint.config_params import params_from_config
from executorch.extension.llm.checkpoint.gguf_params import params_from_gguf

__all__ = ["params_from_config", "params_from_gguf"]
