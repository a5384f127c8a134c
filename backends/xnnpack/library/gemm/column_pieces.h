// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of few dynamically quantized rows read all weights once. Threads that have as many
// columns end at different times, and the last one reads alone, though memory serves two faster. So
// each thread has pieces of its columns that halve: long ones first, which memory streams best, and
// short ones last, which other threads take over.
#pragma once

#include "xnnpack/operator.h"

#include <cstddef>

namespace executorch::backends::xnnpack {

/// Whether the only step of an operator that has its sizes is over pieces.
bool is_in_pieces(const xnn_operator& op);

/// Of each thread of the pool that the operator got its sizes with.
size_t pieces_of_thread(xnn_operator& op);
size_t threads_of_pieces(xnn_operator& op);

/// Computes the piece that is `place` in the order of a thread's own.
void compute_piece_of(xnn_operator& op, size_t thread, size_t place);

}  // namespace executorch::backends::xnnpack
