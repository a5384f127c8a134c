// SPDX-License-Identifier: BSD-3-Clause
// Shapes as text, digit by digit: the core does not depend on printf.
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>

namespace executorch {
namespace runtime {

namespace {

using Text = std::array<char, kTensorShapeStringSizeLimit>;

class Writer {
 public:
  void add(const char* text) {
    while (*text != '\0' && length_ + 1 < text_.size()) {
      text_[length_++] = *text++;
    }
  }
  void add_size(int64_t size) {
    constexpr auto kLimit = static_cast<int64_t>(internal::kMaximumPrintableTensorShapeElement);
    if (size < 0 || size > kLimit) {
      add("ERR");
      return;
    }
    char digits[11];
    size_t start = sizeof(digits) - 1;
    digits[start] = '\0';
    do {
      digits[--start] = static_cast<char>('0' + size % 10);
      size /= 10;
    } while (size != 0);
    add(digits + start);
  }
  const Text& text() const { return text_; }

 private:
  Text text_{};
  size_t length_ = 0;
};

template <typename SizesType>
Text shape_to_text(Span<const SizesType> shape) {
  Writer writer;
  if (shape.size() > kTensorDimensionLimit) {
    writer.add("(ERR: tensor ndim exceeds limit)");
    return writer.text();
  }
  writer.add("(");
  for (size_t i = 0; i < shape.size(); ++i) {
    writer.add(i == 0 ? "" : ", ");
    writer.add_size(shape[i]);
  }
  writer.add(")");
  return writer.text();
}

}  // namespace

Text tensor_shape_to_c_string(Span<const std::int32_t> shape) {
  return shape_to_text(shape);
}

Text tensor_shape_to_c_string(Span<const std::int64_t> shape) {
  return shape_to_text(shape);
}

}  // namespace runtime
}  // namespace executorch
