# SPDX-License-Identifier: BSD-3-Clause
"""Ways to a device: a row of table.py and a module each."""
