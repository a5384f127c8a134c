# SPDX-License-Identifier: BSD-3-Clause
"""Programs that come with the package."""
