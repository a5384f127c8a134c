# SPDX-License-Identifier: BSD-3-Clause
"""Op tables as text: an empty line between rows."""

from __future__ import annotations

from typing import Any

import yaml

from ..op_table import YamlRow


class BlankLineDumper(yaml.SafeDumper):
    """Dumper with an empty line after each item of the outermost list."""

    def write_line_break(self, data: Any = None) -> None:
        super().write_line_break(data)
        if len(self.indents) == 1:
            super().write_line_break()


BlankLineDumper.add_representer(YamlRow, lambda dumper, row: dumper.represent_dict(row.items()))
