# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.examples.models.phi_4_mini.convert_weights FOLDER FILE"""

from executorch.extension.llm.checkpoint.convert import converter, main

_convert = converter("phi_4_mini")


def convert_weights(input_dir_or_checkpoint: str, output_file: str) -> None:
    """Of a folder, or of one file under Hugging Face's or torchtune's names."""
    _convert(input_dir_or_checkpoint, output_file)


if __name__ == "__main__":
    main(convert_weights)
