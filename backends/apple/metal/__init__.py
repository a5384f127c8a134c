# SPDX-License-Identifier: BSD-3-Clause
"""The ahead-of-time names of the backend that compiles for Metal with AOTInductor."""
