// SPDX-License-Identifier: BSD-3-Clause
// Functions of a byte. A quantized activation that XNNPACK has no operator for, such as x *
// sigmoid(x), is in a payload a conversion to floats, operators on those, and a conversion back:
// all that is a function of a byte when it reads one value. These nodes compute it for all bytes
// once; while running it is looked up, with the same bits.
#pragma once

#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>

namespace executorch::backends::xnnpack {

/// Gives the last node of each such function its table, and marks what leads to it alone as not
/// needed. `graph` is that of `definitions`, whose constants are loaded. Only a kernel of ours
/// (kOwnByteTable) computes such a node.
runtime::Error make_byte_tables(const Definitions& definitions, Graph& graph);

}  // namespace executorch::backends::xnnpack
