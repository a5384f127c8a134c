# SPDX-License-Identifier: BSD-3-Clause
"""Backends: one folder per delegate."""

if __name__ == "backends":
    from executorch import _alias

    _alias.install("backends")
