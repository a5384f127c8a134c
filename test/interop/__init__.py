# SPDX-License-Identifier: BSD-3-Clause
"""Files exchanged with the upstream wheel."""
