// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <xnnpack.h>

#include <cstdint>

/// Adds an operator that looks each byte of value `input` up among the 256 of `table`, which must
/// live until a runtime has been made. Both values are 8-bit, of one type; their scales say
/// nothing.
xnn_status xnn_define_byte_table(xnn_subgraph_t subgraph, const uint8_t* table, uint32_t input,
                                 uint32_t output);
