// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/evalue_util/print_evalue.h>

#include <cmath>
#include <cstdint>
#include <ios>
#include <optional>
#include <sstream>
#include <type_traits>

#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch {

using aten::ArrayRef;
using aten::Tensor;
using runtime::EValue;
using runtime::Tag;

namespace {

constexpr long kDefaultEdgeItems = 3;

// More items than this do not stand on one line.
constexpr size_t kItemsPerLine = 10;

// The place in a stream where its edge items are kept; 0 means the default.
int edge_items_slot() {
  static const int slot = std::ios_base::xalloc();
  return slot;
}

size_t edge_items(std::ostream& os) {
  const long set = os.iword(edge_items_slot());
  return static_cast<size_t>(set > 0 ? set : kDefaultEdgeItems);
}

// Whether a stream without settings prints the same digits for an integer of this value.
bool is_printed_as_integer(double value) {
  if (!std::isfinite(value) || std::fabs(value) >= 9e15) {
    return false;
  }
  std::ostringstream as_double;
  std::ostringstream as_integer;
  as_double << std::fabs(value);
  as_integer << static_cast<int64_t>(std::fabs(value));
  return as_double.str() == as_integer.str();
}

template <typename T>
void print_number(std::ostream& os, T number) {
  if constexpr (std::is_same_v<T, bool>) {
    os << (number ? "True" : "False");
  } else if constexpr (std::is_integral_v<T>) {
    os << +number;  // not as a character
  } else {
    const auto value = static_cast<double>(number);
    os << value;
    // Floating point shows itself where the digits alone would be those of an integer, unless the
    // stream prints digits behind the point anyway.
    if (is_printed_as_integer(value) && (os.flags() & std::ios_base::floatfield) == 0) {
      os << ".";
    }
  }
}

// [a, b, c], or several lines if there is more than one line of items: ten items a line, what is
// left of ten in the first line of the tail.
template <typename Print>
void print_items(std::ostream& os, size_t count, size_t edge, Print&& print) {
  const bool is_shortened = count > 2 * edge;
  const bool has_lines = (is_shortened ? 2 * edge : count) > kItemsPerLine;
  const size_t head = is_shortened ? edge : count;
  os << "[";
  for (size_t i = 0; i < head; ++i) {
    os << (has_lines && i % kItemsPerLine == 0 ? "\n  " : "");
    print(i);
    os << (has_lines || is_shortened || i + 1 < count ? ", " : "");
  }
  if (is_shortened) {
    os << (has_lines ? "\n  ...," : "..., ");
    for (size_t left = edge; left > 0; --left) {
      os << (has_lines && (left == edge || left % kItemsPerLine == 0) ? "\n  " : "");
      print(count - left);
      os << (has_lines || left > 1 ? ", " : "");
    }
  }
  os << (has_lines ? "\n]" : "]");
}

template <typename T>
void print_list(std::ostream& os, ArrayRef<T> list) {
  os << "(len=" << list.size() << ")";
  print_items(os, list.size(), edge_items(os), [&](size_t i) { print_number(os, list[i]); });
}

// All sizes, however many: they are what one looks for.
template <typename T>
void print_sizes(std::ostream& os, ArrayRef<T> sizes) {
  print_items(os, sizes.size(), sizes.size(), [&](size_t i) { os << sizes[i]; });
}

void print_elements(std::ostream& os, const Tensor& tensor) {
  if (tensor.const_data_ptr() == nullptr && tensor.numel() > 0) {
    os << "<no data>";
    return;
  }
  const bool is_printable = runtime::dispatch_real_hb_bf16(tensor.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = static_cast<const T*>(tensor.const_data_ptr());
    print_items(os, static_cast<size_t>(tensor.numel()), edge_items(os),
                [&](size_t i) { print_number(os, data[i]); });
  });
  if (!is_printable) {
    os << "[<unhandled scalar type " << static_cast<int>(tensor.scalar_type()) << ">]";
  }
}

void print_tensor(std::ostream& os, const Tensor& tensor) {
  os << "tensor(sizes=";
  print_sizes(os, tensor.sizes());
  os << ", ";
  print_elements(os, tensor);
  os << ")";
}

void print_string(std::ostream& os, std::string_view text) {
  os << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      os << '\\';
    }
    os << c;
  }
  os << '"';
}

template <typename List>
void print_tensors(std::ostream& os, const List& list) {
  os << "(len=" << list.size() << ")[";
  const bool has_lines = list.size() > 1;
  for (size_t i = 0; i < list.size(); ++i) {
    if (has_lines) {
      os << "\n  [" << i << "]: ";
    }
    if constexpr (std::is_same_v<List, ArrayRef<std::optional<Tensor>>>) {
      if (list[i].has_value()) {
        print_tensor(os, *list[i]);
      } else {
        os << "None";
      }
    } else {
      print_tensor(os, list[i]);
    }
    os << (has_lines ? "," : "");
  }
  os << (has_lines ? "\n]" : "]");
}

template <typename Result, typename Print>
void print_or_error(std::ostream& os, const Result& result, Print&& print) {
  if (result.ok()) {
    print(os, result.get());
  } else {
    os << "<" << runtime::to_string(result.error()) << ">";
  }
}

}  // namespace

namespace ET_RUNTIME_NAMESPACE {

std::ostream& operator<<(std::ostream& os, const EValue& value) {
  switch (value.tag) {
    case Tag::None:
      os << "None";
      break;
    case Tag::Bool:
      print_number(os, value.toBool());
      break;
    case Tag::Int:
      os << value.toInt();
      break;
    case Tag::Double:
      print_number(os, value.toDouble());
      break;
    case Tag::String:
      print_or_error(os, value.tryToString(), print_string);
      break;
    case Tag::Tensor:
      print_tensor(os, value.toTensor());
      break;
    case Tag::ListInt:
      print_or_error(os, value.tryToIntList(), print_list<int64_t>);
      break;
    case Tag::ListDouble:
      print_or_error(os, value.tryToDoubleList(), print_list<double>);
      break;
    case Tag::ListBool:
      print_or_error(os, value.tryToBoolList(), print_list<bool>);
      break;
    case Tag::ListTensor:
      print_or_error(os, value.tryToTensorList(),
                     print_tensors<executorch::aten::ArrayRef<Tensor>>);
      break;
    case Tag::ListOptionalTensor:
      print_or_error(os, value.tryToListOptionalTensor(),
                     print_tensors<executorch::aten::ArrayRef<std::optional<Tensor>>>);
      break;
    default:
      os << "<Unknown EValue tag " << static_cast<int>(value.tag) << ">";
  }
  return os;
}

}  // namespace ET_RUNTIME_NAMESPACE

namespace extension {

std::ostream& operator<<(std::ostream& os, const evalue_edge_items& e) {
  os.iword(edge_items_slot()) = e.edge_items_;
  return os;
}

}  // namespace extension
}  // namespace executorch
