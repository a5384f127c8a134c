# SPDX-License-Identifier: BSD-3-Clause
"""The compiler: from torch.export programs to planned, emitted ExecuTorch programs."""

if __name__ == "exir":
    from executorch import _alias

    _alias.install("exir")
else:
    from typing import TYPE_CHECKING, Any

    from executorch import _light

    if TYPE_CHECKING or not _light.is_on:
        from executorch.exir.capture._names import *  # noqa: F403
        from executorch.exir.capture._names import (  # noqa: F401
            _capture_legacy_do_not_use,
            _to_edge,
        )
    else:

        def __getattr__(name: str) -> Any:
            """A program that reads files needs their readers, and the compiler only when it asks for it."""
            from importlib import import_module
            from importlib.util import find_spec

            if name.startswith("__") or find_spec(
                f"{__name__}.{name}"
            ):  # a module is imported as one
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
            return getattr(import_module("executorch.exir.capture._names"), name)
