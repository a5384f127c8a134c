# SPDX-License-Identifier: BSD-3-Clause
"""The older export command, with flags; the newer one is extension.llm.export.export_llm.

usage: python -m examples.models.llama.export_llama --model llama3_2 -c consolidated.00.pth -p params.json -kv -X
"""

from __future__ import annotations

import sys

from executorch.examples.models.llama.export_llama_lib import build_args_parser, export_llama


def main() -> None:
    """Ends with a message, and code 1, where options or a checkpoint are wrong."""
    options = build_args_parser().parse_args()
    try:
        export_llama(options)
    except (ValueError, TypeError, OSError) as error:
        sys.exit(f"export_llama: error: {error}")


if __name__ == "__main__":
    main()
