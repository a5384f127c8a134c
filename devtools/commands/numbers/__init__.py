# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that a type cannot hold: who makes them, and whether the outputs are wrong for it."""
