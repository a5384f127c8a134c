# SPDX-License-Identifier: BSD-3-Clause
"""Programs for the Vulkan backend."""
