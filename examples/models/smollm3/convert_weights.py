# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.examples.models.smollm3.convert_weights FOLDER FILE"""

from executorch.extension.llm.checkpoint.convert import converter, load_checkpoint, main

__all__ = ["convert_weights", "load_checkpoint"]

convert_weights = converter("smollm3_3b")

if __name__ == "__main__":
    main(convert_weights)
