# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The number of the program format that the compiler writes."""

EXECUTORCH_SCHEMA_VERSION = 0
