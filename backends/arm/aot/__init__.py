# SPDX-License-Identifier: BSD-3-Clause
"""What the backends of TOSA take, and how a program becomes a TOSA graph."""
