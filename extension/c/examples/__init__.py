# SPDX-License-Identifier: BSD-3-Clause
"""One program in each language, and their test."""
