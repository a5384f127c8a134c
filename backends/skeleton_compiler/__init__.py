# SPDX-License-Identifier: BSD-3-Clause
"""The smallest whole backend of a vendor's compiler and a vendor's library, to be copied."""
