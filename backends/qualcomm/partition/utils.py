# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Documented path: the bytes of options, as compile specs have them."""

from __future__ import annotations

from collections.abc import Iterable

from executorch.backends.qualcomm.serialization.compile_specs import options_in
from executorch.backends.qualcomm.serialization.qc_schema_serialize import option_to_flatbuffer
from executorch.exir.backend.compile_spec_schema import CompileSpec


def generate_qnn_executorch_option(compiler_specs: Iterable[CompileSpec]) -> bytes:
    """ValueError for a spec of another key."""
    return option_to_flatbuffer(options_in(compiler_specs))
