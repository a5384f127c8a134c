# SPDX-License-Identifier: BSD-3-Clause
"""Networks that numbers draw: a test tool."""
