# SPDX-License-Identifier: BSD-3-Clause
"""Which weights are held in how many bits: the first rule that takes a name decides."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)(?=\.|$)")


@dataclass(frozen=True)
class QuantConfig:
    """`group_size` columns of a row share a scale; `method` is "min_max" or "hqq" (least squares)."""

    bits: int
    group_size: int
    symmetric: bool
    method: str


@dataclass
class QuantRule:
    """Takes names that `pattern`, a regular expression, matches whole, of these `layers` only (None: all). `config`
    None leaves the weight as it is."""

    pattern: str
    config: QuantConfig | None
    layers: set[int] | None = field(default=None, repr=False)

    def takes(self, fqn: str) -> bool:
        if re.fullmatch(self.pattern, fqn) is None:
            return False
        layer = _LAYER.search(fqn)
        return self.layers is None or layer is None or int(layer[1]) in self.layers


@dataclass
class QuantRecipe:
    rules: list[QuantRule]

    def get_config(self, fqn: str) -> QuantConfig | None:
        """None for a weight that no rule takes, or that stays as it is."""
        return next((rule.config for rule in self.rules if rule.takes(fqn)), None)
