# SPDX-License-Identifier: BSD-3-Clause
"""Relations between operators: functional form, out variant."""
