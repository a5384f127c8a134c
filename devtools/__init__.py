# SPDX-License-Identifier: BSD-3-Clause
"""Developer tools: what happened to a model, at export and at run time."""

if __name__ == "devtools":
    from executorch import _alias

    _alias.install("devtools")
else:
    from executorch.devtools.bundled_program.core import BundledProgram
    from executorch.devtools.etrecord import ETRecord, generate_etrecord, parse_etrecord
    from executorch.devtools.inspector import Inspector

    __all__ = ["BundledProgram", "ETRecord", "Inspector", "generate_etrecord", "parse_etrecord"]
