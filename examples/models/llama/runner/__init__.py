# SPDX-License-Identifier: BSD-3-Clause
"""Text from models before they are exported."""
