# SPDX-License-Identifier: BSD-3-Clause
"""Whether this process is a program that reads files and runs them, and begins without PyTorch: the command
`executorch` says so before it imports anything else. `executorch.exir` then loads the compiler when one of its names
is asked for; otherwise importing it registers its operators with PyTorch at once, as users expect."""

import sys
from importlib import import_module

is_on = False


def end() -> None:
    """What follows needs PyTorch: what was left out of `executorch.exir` is imported now."""
    global is_on
    is_on = False
    if "executorch.exir" in sys.modules:
        import_module("executorch.exir.capture._names")
