# SPDX-License-Identifier: BSD-3-Clause
"""The quantizer of a backend: `TableQuantizer` reads the annotations of its table's rows."""
