# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The classes of schema.fbs under the names that users import; `graph.py` makes them from the schema."""

from __future__ import annotations

import functools
import operator

from executorch.backends.xnnpack.serialization.graph import SCHEMA

_CLASSES = SCHEMA.classes

# Bases of the nodes that have the same fields.
XNNNode1x1 = _CLASSES["_XNNNode1x1"]
XNNNode2x1 = _CLASSES["_XNNNode2x1"]
XNNCat = _CLASSES["_XNNCat"]
XNNNodeConv = _CLASSES["_XNNNodeConv"]
XNNPooling2D = _CLASSES["_XNNPooling2D"]

globals().update({name: made for name, made in _CLASSES.items() if not name.startswith("_")})


def _either(names: list[str]) -> object:
    return functools.reduce(operator.or_, (_CLASSES[name] for name in names))


XNNQuantParams = _either(
    ["PerChannelQuant", "PerTensorQuant", "PerTokenDynamicQuant", "PerChannelGroupQuant"]
)
XValueUnion = _either(["XNNTensorValue", "XNNQuantizedTensorValue"])
XNodeUnion = _either(
    [
        name
        for name, made in _CLASSES.items()
        if name.startswith("XNN") and hasattr(made, "flags") and name != "XNNTensorValue"
    ]
)
