# SPDX-License-Identifier: BSD-3-Clause
"""ExecuTorch: from a PyTorch model to a `.pte` file that a small C++ runtime runs.

The importable folders of the repository root appear here under one package; `executorch.exir` and, from
the repository root, `exir` are the same module (see `_alias`).
"""
