# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison says of one listed row."""

from dataclasses import dataclass

from executorch.tools.api.listing import Row


@dataclass(frozen=True)
class Verdict:
    row: Row
    state: str  # exists | differs | missing
    note: str = ""
