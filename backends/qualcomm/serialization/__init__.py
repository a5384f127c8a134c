# SPDX-License-Identifier: BSD-3-Clause
"""What users may ask of the compiler and the runtime, and the bytes of it."""
