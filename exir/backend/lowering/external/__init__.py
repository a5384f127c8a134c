# SPDX-License-Identifier: BSD-3-Clause
"""What a backend is written with whose payloads another maker's compiler or tool makes."""
