# SPDX-License-Identifier: BSD-3-Clause
"""All pages that commands write, in a browser."""
