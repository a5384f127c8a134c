# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.examples.models.qwen3_5.convert_weights FOLDER FILE"""

from executorch.extension.llm.checkpoint.convert import converter, main, to_meta

convert_weights = converter("qwen3_5_0_8b")
qwen_3_5_to_meta = to_meta("qwen3_5_0_8b")

if __name__ == "__main__":
    main(convert_weights)
