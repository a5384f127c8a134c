# SPDX-License-Identifier: BSD-3-Clause
"""Bundled programs, events and values on the command line: example_runner and the scripts around it."""
