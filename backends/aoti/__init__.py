# SPDX-License-Identifier: BSD-3-Clause
"""What backends that compile with AOTInductor have in common."""
