# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch <command>`."""

import sys

from executorch.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
