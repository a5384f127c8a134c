# SPDX-License-Identifier: BSD-3-Clause
"""Single operators: each module exports one, runs it and compares."""
