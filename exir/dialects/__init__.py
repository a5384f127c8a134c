# SPDX-License-Identifier: BSD-3-Clause
"""The operator dialects a program passes through: edge, then optionally backend."""
