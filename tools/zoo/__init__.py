# SPDX-License-Identifier: BSD-3-Clause
"""The example models by name: what each backend takes of them, sizes, accuracy beside PyTorch, times."""
