# SPDX-License-Identifier: BSD-3-Clause
"""Edge dialect: ATen and registered custom operators with dtype constraints."""
