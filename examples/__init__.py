# SPDX-License-Identifier: BSD-3-Clause
"""Models and recipes; nothing in the library imports from here."""

if __name__ == "examples":
    from executorch import _alias

    _alias.install("examples")
