# SPDX-License-Identifier: BSD-3-Clause
"""Reports of the commands as text, JSON and pages with pictures."""
