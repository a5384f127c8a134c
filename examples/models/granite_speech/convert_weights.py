# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.examples.models.granite_speech.convert_weights FOLDER FILE"""

from executorch.extension.llm.checkpoint.convert import converter, main

convert_weights = converter("granite_speech_2b")

if __name__ == "__main__":
    main(convert_weights)
