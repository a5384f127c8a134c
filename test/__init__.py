# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the product as a whole."""

if __name__ == "test":
    from executorch import _alias

    _alias.install("test")
