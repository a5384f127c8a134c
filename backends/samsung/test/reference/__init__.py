# SPDX-License-Identifier: BSD-3-Clause
"""An evaluator of graphs, written from ENN's operators and PyTorch's meaning of them, not from the rows."""
