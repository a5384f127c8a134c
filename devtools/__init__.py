# SPDX-License-Identifier: BSD-3-Clause
"""Developer tools: what happened to a model, at export and at run time."""

from typing import TYPE_CHECKING

from executorch._lazy import lazy_names

if TYPE_CHECKING:
    from executorch.devtools.bundled_program.core import BundledProgram
    from executorch.devtools.etrecord import ETRecord, generate_etrecord, parse_etrecord
    from executorch.devtools.inspector import Inspector

if __name__ == "devtools":
    from executorch import _alias

    _alias.install("devtools")

# Imported when they are asked for: exporting needs none of them.
_HOMES = {
    "BundledProgram": "bundled_program.core",
    "ETRecord": "etrecord",
    "Inspector": "inspector",
    "generate_etrecord": "etrecord",
    "parse_etrecord": "etrecord",
}
__all__ = ["BundledProgram", "ETRecord", "Inspector", "generate_etrecord", "parse_etrecord"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
