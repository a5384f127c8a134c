# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.examples.models.smolvlm.convert_weights FOLDER FILE"""

from executorch.extension.llm.checkpoint.convert import converter, main

convert_weights = converter("smolvlm_500m")

if __name__ == "__main__":
    main(convert_weights)
