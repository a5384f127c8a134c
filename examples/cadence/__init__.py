# SPDX-License-Identifier: BSD-3-Clause
"""Models and operators for Cadence's DSPs, run on the computer."""
