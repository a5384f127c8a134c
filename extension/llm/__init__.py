# SPDX-License-Identifier: BSD-3-Clause
"""Language models: export, operators and runners."""
