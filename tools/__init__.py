# SPDX-License-Identifier: BSD-3-Clause
"""Commands for people who work on this repository."""
