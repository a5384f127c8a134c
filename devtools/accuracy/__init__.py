# SPDX-License-Identifier: BSD-3-Clause
"""How good a model or program is on data: samples of files, metrics with intervals, and what fewer bits would lose."""
