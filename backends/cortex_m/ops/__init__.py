# SPDX-License-Identifier: BSD-3-Clause
"""The operators `cortex_m::*`: their table, and what they compute."""
