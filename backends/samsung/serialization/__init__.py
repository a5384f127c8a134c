# SPDX-License-Identifier: BSD-3-Clause
"""What the compiler is told."""
