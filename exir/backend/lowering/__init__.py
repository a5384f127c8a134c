# SPDX-License-Identifier: BSD-3-Clause
"""What the ahead-of-time half of a backend is made of: its table of ops, steps, payload (payload/), and what it checks
of quantized programs."""
