# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.examples.models.phi_4_mini.convert_weights FOLDER FILE"""

from executorch.extension.llm.checkpoint.convert import converter, main

convert_weights = converter("phi_4_mini")

if __name__ == "__main__":
    main(convert_weights)
