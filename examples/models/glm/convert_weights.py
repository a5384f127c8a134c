# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.examples.models.glm.convert_weights FOLDER FILE"""

from executorch.extension.llm.checkpoint.convert import converter, main

convert_weights = converter("glm_1_5b")

if __name__ == "__main__":
    main(convert_weights)
