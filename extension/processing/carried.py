# SPDX-License-Identifier: BSD-3-Clause
"""What a program's metadata says of its processing: `labels`, and by method the steps before and after its model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

LABELS, METHODS = "labels", "processing"


@dataclass(frozen=True)
class Carried:
    """`preprocess`, `postprocess`: in the language of steps.py; `channels`: RGB or BGR where the method takes a picture
    of bytes, [height, width, 3]; `classes`: of how many `top` has chosen."""

    preprocess: str = ""
    postprocess: str = ""
    channels: str = ""
    classes: int = 0

    def metadata(self, method: str, labels: tuple[str, ...]) -> dict[str, Any]:
        """Entries of `ExecutorchBackendConfig.user_metadata`."""
        entry = {name: value for name, value in asdict(self).items() if value}
        named = {LABELS: list(labels)} if labels else {}
        return named | ({METHODS: {method: entry}} if entry else {})


def labels_of(metadata: str | None) -> tuple[str, ...]:
    """ValueError where they are no list of texts."""
    labels = _read(metadata).get(LABELS, [])
    if not isinstance(labels, list) or not all(isinstance(each, str) for each in labels):
        raise ValueError("expected a list of texts as the metadata's labels")
    return tuple("".join(c if c.isprintable() else " " for c in each) for each in labels)


def carried_by(metadata: str | None, method: str) -> Carried:
    """Of a method of a program; what is of another kind is of another exporter, and says nothing."""
    methods = _read(metadata).get(METHODS)
    found = methods.get(method) if isinstance(methods, dict) else None
    if not isinstance(found, Mapping):
        return Carried()
    kinds = {each.name: type(each.default) for each in fields(Carried)}
    known = {n: v for n, v in found.items() if n in kinds and isinstance(v, kinds[n])}
    return Carried(**known)


def labeled(metadata: str | None, outputs: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Labels with scores of outputs by name; none where the program has no labels, or no `scores` of `classes`."""
    labels = labels_of(metadata)
    if not labels or not {"scores", "classes"} <= {*outputs}:
        return []
    scores, classes = (outputs[name].reshape(-1).tolist() for name in ("scores", "classes"))
    return [(labels[n], score) for n, score in zip(classes, scores) if 0 <= n < len(labels)]


def _read(metadata: str | None) -> dict[str, Any]:
    try:
        found = json.loads(metadata or "{}")
    except ValueError:
        return {}  # of an exporter that writes something else than JSON
    return found if isinstance(found, dict) else {}
