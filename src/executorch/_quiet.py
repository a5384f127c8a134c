# SPDX-License-Identifier: BSD-3-Clause
"""What commands of ours keep from the terminal: lines of torch and torchao about GPUs that are not there, and to their
own developers. The one place of it. Programs of users that import the package hear everything."""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path


def quieten_own_command() -> None:
    """Quiet, if `python -m` runs a module of ours (executorch.devtools, or tools.bench.ops from the repository).
    Called when the package is imported: before torch, whoever imports that."""
    root = _main_module().partition(".")[0]
    file = getattr(sys.modules.get(root), "__file__", None)
    here = Path(__file__).parent
    if root == "executorch" or (file and Path(file).resolve().parent == (here / root).resolve()):
        quieten()


def _main_module() -> str:
    """The name behind `python -m`; "" without it."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None:
        return spec.name
    # While the module is looked for argv[0] is "-m", and its name stands before its arguments.
    is_sought = sys.argv[:1] == ["-m"]
    return sys.orig_argv[-len(sys.argv)].removeprefix("-m") if is_sought else ""


def quieten() -> None:
    for name in ("torchao", "torch.utils._pytree"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", category=FutureWarning)
