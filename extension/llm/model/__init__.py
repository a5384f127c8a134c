# SPDX-License-Identifier: BSD-3-Clause
"""One decoder-only transformer, and the table of the model families that are rows of it."""
