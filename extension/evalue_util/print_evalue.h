// SPDX-License-Identifier: BSD-3-Clause
// Prints values: 3, true, "text", [1, 2], tensor(sizes=[2, 2], [1., 2., 3., 4.]).
#pragma once

#include <ostream>

#include <executorch/runtime/core/evalue.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// Long lists are shortened to their first and last items, as evalue_edge_items says. Numbers are
// printed with the precision of the stream.
std::ostream& operator<<(std::ostream& os, const EValue& value);

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace executorch::extension {

// os << evalue_edge_items(n) << value: lists longer than 2 n are printed as their first n items,
// "...", and their last n. The stream remembers it. Default 3; n < 1 gives the default.
class evalue_edge_items final {
 public:
  explicit evalue_edge_items(long edge_items) : edge_items_(edge_items < 1 ? 0 : edge_items) {}

  friend std::ostream& operator<<(std::ostream& os, const evalue_edge_items& e);

 private:
  long edge_items_;
};

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::evalue_edge_items;
}  // namespace torch::executor::util
