# SPDX-License-Identifier: BSD-3-Clause
"""Programs for Apple's backends."""
