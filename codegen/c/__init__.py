# SPDX-License-Identifier: BSD-3-Clause
"""A program as C++ source: direct calls of its kernels, without interpreter."""

# The design: docs/design/030-c-source.md.
