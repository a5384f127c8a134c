// SPDX-License-Identifier: BSD-3-Clause
// Functions of a byte (preparation/byte_tables.h).
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <executorch/kernels/optimized/int8/byte_table.h>

namespace executorch::backends::xnnpack {

using runtime::Error;
using runtime::MemoryAllocator;

namespace {

class LookUp final : public OwnStep {
 public:
  LookUp(const Definitions& definitions, size_t begin, size_t)
      : node_(definitions.graph().nodes[begin]) {}

  Error reshape(const Shapes& shapes) override {
    count_ = static_cast<int64_t>(shapes[node_.operands.output].num_elements());
    return Error::Ok;
  }

  Error run(const Addresses& addresses, MemoryAllocator&) override {
    kernels::optimized::look_up_bytes(
        node_.table->bytes.data(), static_cast<const uint8_t*>(addresses[node_.table->input]),
        count_, static_cast<uint8_t*>(addresses[node_.operands.output]));
    return Error::Ok;
  }

 private:
  const GraphNode& node_;
  int64_t count_ = 0;
};

bool suits(const Graph&, const GraphNode& node, const OwnChoice&) {
  return node.table != nullptr;
}

}  // namespace

const OwnKind kOwnByteTable = {"Table of bytes (INT8)", suits, takes_nothing,
                               /*runs_unpacked=*/false, make_step<LookUp>};

}  // namespace executorch::backends::xnnpack
