# SPDX-License-Identifier: BSD-3-Clause
"""Programs for the MPS backend, which is deprecated."""
