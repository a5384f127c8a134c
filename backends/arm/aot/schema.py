# SPDX-License-Identifier: BSD-3-Clause
"""TOSA's file format: its classes, and which class of attributes an operator has."""

from __future__ import annotations

import functools
from pathlib import Path

from executorch.exir.backend.lowering.payload.schema import PayloadSchema

SCHEMA = PayloadSchema(Path(__file__).parents[1] / "schema" / "tosa.fbs")


@functools.cache
def attribute_classes() -> dict[str, type]:
    """By the operator's name: CONV2D -> Conv2dAttribute."""
    known = {
        name.removesuffix("Attribute").upper(): made
        for name, made in SCHEMA.classes.items()
        if name.endswith("Attribute")
    }
    return {
        each.name: known[each.name.replace("_", "")]
        for each in SCHEMA.classes["Op"]
        if each.name != "UNKNOWN"
    }
