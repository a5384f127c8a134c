# SPDX-License-Identifier: BSD-3-Clause
"""What a payload runs, for tools: the layers of the model that stands in it as XML, and why calls stay outside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from executorch.exir.backend.payload import PayloadOperator

if TYPE_CHECKING:
    pass

BACKEND_ID = "OpenvinoBackend"
_LAYER = re.compile(rb'<layer id="\d+" name="[^"]*" type="([^"]+)"')
_NO_WORK = {"Const", "Parameter", "Result"}


def operators(payload: bytes) -> list[PayloadOperator]:
    start, end = payload.find(b"<?xml"), payload.rfind(b"</net>")
    if start < 0 or end < start:
        raise ValueError("a payload of OpenVINO has the model as XML, found none")
    kinds = [each.decode() for each in _LAYER.findall(payload, start, end)]
    return [PayloadOperator(kind, None) for kind in kinds if kind not in _NO_WORK]
