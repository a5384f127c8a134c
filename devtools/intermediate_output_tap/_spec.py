# SPDX-License-Identifier: BSD-3-Clause
"""What a tap is on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TapSpec:
    """Of one tapped node. `output_index`: its place among the flat outputs; `fields`: what the numbers there are, none
    for a whole tensor."""

    node_name: str
    op_target: str
    output_index: int
    reducer_name: str
    fields: tuple[str, ...]
    stack_trace: str | None = None
    module_path: str | None = None
    module_class: str | None = None
