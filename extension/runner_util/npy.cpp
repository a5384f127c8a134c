// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/npy.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::runtime::Error;
using executorch::runtime::Result;

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Description {
  std::string_view text;  // as in the header, without the byte order
  ScalarType type;
};

constexpr Description kTypes[] = {
    {"b1", ScalarType::Bool},         {"u1", ScalarType::Byte},
    {"i1", ScalarType::Char},         {"i2", ScalarType::Short},
    {"i4", ScalarType::Int},          {"i8", ScalarType::Long},
    {"u2", ScalarType::UInt16},       {"u4", ScalarType::UInt32},
    {"u8", ScalarType::UInt64},       {"f2", ScalarType::Half},
    {"f4", ScalarType::Float},        {"f8", ScalarType::Double},
    {"c8", ScalarType::ComplexFloat}, {"c16", ScalarType::ComplexDouble},
};

// The header is the text of a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2,)}
std::string_view value_of(std::string_view header, std::string_view key) {
  const size_t found = header.find(key);
  const size_t start =
      found == std::string_view::npos ? found : header.find_first_not_of(": ", found + key.size());
  return start == std::string_view::npos ? "" : header.substr(start);
}

bool parse_type(std::string_view header, ScalarType* out) {
  std::string_view text = value_of(header, "'descr'");
  // '<' and '|' are this machine's order; every machine that this runs on is little-endian.
  if (text.size() < 3 || text[0] != '\'' || (text[1] != '<' && text[1] != '|')) {
    return false;
  }
  text = text.substr(2, text.find('\'', 2) - 2);
  for (const Description& known : kTypes) {
    if (text == known.text) {
      *out = known.type;
      return true;
    }
  }
  return false;
}

bool parse_sizes(std::string_view header, std::vector<SizesType>* out) {
  const std::string_view text = value_of(header, "'shape'");
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) {
    return false;
  }
  const std::string list(text.substr(1, end - 1));
  for (const char* position = list.c_str(); *position != '\0';) {
    if (*position == ' ' || *position == ',') {
      ++position;
      continue;
    }
    char* stop = nullptr;
    const long long size = std::strtoll(position, &stop, 10);
    if (stop == position || size < 0 || size > std::numeric_limits<SizesType>::max()) {
      return false;
    }
    out->push_back(static_cast<SizesType>(size));
    position = stop;
  }
  return true;
}

// Whether the bytes are as many as the sizes say; false, too, where their product does not fit.
bool has_size(size_t num_bytes, const NpyHeader& header) {
  size_t expected = executorch::runtime::elementSize(header.type);
  bool fits = true;
  for (const SizesType size : header.sizes) {
    fits = fits && !__builtin_mul_overflow(expected, static_cast<size_t>(size), &expected);
  }
  return fits && expected == num_bytes;
}

}  // namespace

Result<NpyHeader> parse_npy(std::string_view bytes, const std::string& path) {
  constexpr size_t kVersion = kMagic.size();
  constexpr size_t kLength = kVersion + 2;
  ET_CHECK_OR_RETURN_ERROR(
      bytes.size() >= kLength + 4 && bytes.substr(0, kVersion) == kMagic, InvalidArgument,
      "%s is no file of numpy.save(): other files with raw bytes must not end in .npy",
      path.c_str());
  const size_t length_bytes = bytes[kVersion] == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<size_t>(static_cast<uint8_t>(bytes[kLength + i])) << (8 * i);
  }
  NpyHeader header{};
  header.data_offset = kLength + length_bytes + length;
  ET_CHECK_OR_RETURN_ERROR(header.data_offset <= bytes.size(), InvalidArgument,
                           "%s is cut: its header has %zu bytes", path.c_str(), length);
  const std::string_view text = bytes.substr(kLength + length_bytes, length);
  ET_CHECK_OR_RETURN_ERROR(
      parse_type(text, &header.type), NotSupported,
      "%s: expected numbers of a tensor's type in little-endian order, got %.*s. Convert them "
      "with .astype() before numpy.save()",
      path.c_str(), static_cast<int>(std::min<size_t>(text.size(), 40)), text.data());
  ET_CHECK_OR_RETURN_ERROR(parse_sizes(text, &header.sizes), InvalidArgument,
                           "%s: cannot read the shape in %.*s", path.c_str(),
                           static_cast<int>(std::min<size_t>(text.size(), 80)), text.data());
  ET_CHECK_OR_RETURN_ERROR(
      value_of(text, "'fortran_order'").substr(0, 4) != "True" || header.sizes.size() < 2,
      NotSupported, "%s is in Fortran's order: save numpy.ascontiguousarray(...) of the array",
      path.c_str());
  ET_CHECK_OR_RETURN_ERROR(has_size(bytes.size() - header.data_offset, header), InvalidArgument,
                           "%s is cut, or has more elements than its shape says: %zu bytes",
                           path.c_str(), bytes.size() - header.data_offset);
  return header;
}

}  // namespace executorch::extension
