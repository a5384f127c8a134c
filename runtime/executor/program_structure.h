// SPDX-License-Identifier: BSD-3-Clause
// Structure of program data: whether what offsets, vectors, strings and unions refer to lies
// inside. A table of the schema's fields and one walk over it, in a third of the code that flatc
// writes for the same.
#pragma once

#include <cstddef>
#include <cstdint>

namespace executorch::runtime {

/// Whether all that can be reached from the root table lies inside `size` bytes, is aligned, and is
/// of the schema's kinds. Shared tables are walked as often as they are referred to, but no more
/// tables than there are bytes.
bool has_program_structure(const uint8_t* data, size_t size);

/// Whether the root table and its list of fields lie inside.
bool has_root_table(const uint8_t* data, size_t size);

}  // namespace executorch::runtime
