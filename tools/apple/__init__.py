# SPDX-License-Identifier: BSD-3-Clause
"""The frameworks of Apple's systems as a table, and what is made of it."""
