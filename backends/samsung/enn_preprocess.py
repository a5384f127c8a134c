# SPDX-License-Identifier: BSD-3-Clause
"""`EnnBackend`, the ahead-of-time half. The class's name is the backend's id."""

from __future__ import annotations

from executorch.backends.samsung.aot.compiler import payloads
from executorch.exir.backend.lowering.external.preprocess import CompiledTogether


class EnnBackend(CompiledTogether):
    """Takes the programs that EnnPartitioner cuts out."""

    payloads = staticmethod(payloads)
