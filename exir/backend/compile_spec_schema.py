# SPDX-License-Identifier: BSD-3-Clause
"""`CompileSpec` under its documented path: a key and bytes that a backend's runtime half gets with the blob."""

from executorch.exir.schema import CompileSpec

__all__ = ["CompileSpec"]
