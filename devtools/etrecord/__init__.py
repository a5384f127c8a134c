# SPDX-License-Identifier: BSD-3-Clause
"""What export knows of a model, in a file for tools."""

from executorch.devtools.etrecord._etrecord import ETRecord, generate_etrecord, parse_etrecord

__all__ = ["ETRecord", "generate_etrecord", "parse_etrecord"]
