# SPDX-License-Identifier: BSD-3-Clause
"""What a graph of QNN computes, by the public definitions of its operators: an evaluator that needs no SDK."""
