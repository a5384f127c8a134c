# SPDX-License-Identifier: BSD-3-Clause
"""`--quantize auto` beside 8 bits everywhere, floats, ONNX Runtime and NNCF, on networks with trained weights."""
