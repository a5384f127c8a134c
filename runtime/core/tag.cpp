// SPDX-License-Identifier: BSD-3-Clause
// Names of tags in a caller's buffer.
#include <executorch/runtime/core/tag.h>

#include <cstring>

namespace executorch {
namespace runtime {

namespace {

size_t copy_text(const char* text, size_t length, char* buffer, size_t buffer_size) {
  if (buffer_size > 0) {
    const size_t copied = length < buffer_size ? length : buffer_size - 1;
    for (size_t i = 0; i < copied; ++i) {
      buffer[i] = text[i];
    }
    buffer[copied] = '\0';
  }
  return length;
}

#if !ET_ENABLE_ENUM_STRINGS
size_t copy_number(uint32_t number, char* buffer, size_t buffer_size) {
  char digits[10];
  size_t start = sizeof(digits);
  do {
    digits[--start] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return copy_text(digits + start, sizeof(digits) - start, buffer, buffer_size);
}
#endif

}  // namespace

size_t tag_to_string(Tag tag, char* buffer, size_t buffer_size) {
#if ET_ENABLE_ENUM_STRINGS
  const char* const name = tag_to_string(tag);
  return copy_text(name, std::strlen(name), buffer, buffer_size);
#else
  return copy_number(static_cast<uint32_t>(tag), buffer, buffer_size);
#endif
}

}  // namespace runtime
}  // namespace executorch
