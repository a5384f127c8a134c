# SPDX-License-Identifier: BSD-3-Clause
"""Python parts of the extensions."""

if __name__ == "extension":
    from executorch import _alias

    _alias.install("extension")
