# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.devtools <what>`: see commands/__init__.py."""

import sys

from executorch.devtools.commands import main

if __name__ == "__main__":
    sys.exit(main())
