# SPDX-License-Identifier: BSD-3-Clause
"""Programs for Core ML, and their models as packages."""
