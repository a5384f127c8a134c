# SPDX-License-Identifier: BSD-3-Clause
"""`--quantize auto`: few bits where a model bears them, more where it does not, by data and an allowed loss."""
