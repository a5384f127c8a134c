# SPDX-License-Identifier: BSD-3-Clause
"""The version of the format that bundled programs are written in."""

BUNDLED_PROGRAM_SCHEMA_VERSION = 2
