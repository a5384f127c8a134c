# SPDX-License-Identifier: BSD-3-Clause
"""Faults planted one at a time in a copy of the tree, and the tests that notice them."""
