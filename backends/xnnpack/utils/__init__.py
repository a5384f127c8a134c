# SPDX-License-Identifier: BSD-3-Clause
"""The documented path of the backend's configurations."""
