# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops and what lowers them."""
