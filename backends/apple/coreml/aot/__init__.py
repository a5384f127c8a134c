# SPDX-License-Identifier: BSD-3-Clause
"""What the backend takes, how coremltools converts it, and the payload that it becomes."""
