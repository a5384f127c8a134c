# SPDX-License-Identifier: BSD-3-Clause
"""What the backend takes, as which operators of QNN, and who compiles these."""
