# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.llm_server`: the same as `executorch serve`, with its options."""

from executorch.extension.llm.server.__main__ import main

if __name__ == "__main__":
    main("python -m executorch.examples.llm_server")
