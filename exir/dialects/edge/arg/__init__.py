# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of edge operators as data, for those who call operators to see what they take."""
