# SPDX-License-Identifier: BSD-3-Clause
"""The command `executorch`: rows of table.py, each with a module that has `parser(prog)` and `run(options)`.

A module imports what it works with inside `run`, so that `--help` needs no PyTorch.
"""
