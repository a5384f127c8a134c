# SPDX-License-Identifier: BSD-3-Clause
"""The smallest whole backend, to be copied."""
