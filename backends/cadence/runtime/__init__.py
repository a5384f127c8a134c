# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs on the computer: `runtime.run` and `run_and_compare` by `cadence_runner`."""
