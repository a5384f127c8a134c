// SPDX-License-Identifier: BSD-3-Clause
// Constants are in named data, behind the flatbuffer, or (in files of old exporters) within it.
#include <executorch/backends/xnnpack/runtime/constants.h>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace executorch::backends::xnnpack {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr size_t kAlignment = 4;
/// Files with scales of float32 for groups are read as upstream reads them: not to the nearest.
constexpr float kToBfloat16 = 1.00389105f;

uint16_t to_bfloat16(float value) {
  value *= kToBfloat16;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

float from_bfloat16(uint16_t value) {
  const uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

Error check_count(size_t found, size_t expected) {
  ET_CHECK_OR_RETURN_ERROR(found == expected && expected > 0, InvalidProgram,
                           "XNNPACK: %zu scales, expected %zu", found, expected);
  return Error::Ok;
}

Error check_scale(float scale, size_t place) {
  ET_CHECK_OR_RETURN_ERROR(is_scale(scale), InvalidProgram, "XNNPACK: scale %zu is %g", place,
                           static_cast<double>(scale));
  return Error::Ok;
}

/// Whether check_scale() would pass all. There are tens of millions, so it looks at four at a time:
/// of a normal positive number, neither the highest bit nor all or none of the next eight are set.
bool are_scales(Span<const uint16_t> scales) {
  constexpr size_t kFour = 4;
  constexpr uint64_t kEach = 0x0001000100010001;
  uint64_t wrong = 0;  // in the highest bit of each
  const auto look_at = [&](size_t place, size_t count) {
    uint64_t four = kEach * 0x3F80;
    std::memcpy(&four, scales.data() + place, count * sizeof(uint16_t));
    wrong |= four | (four + kEach * 0x0080) | ~(four + kEach * 0x7F80);
  };
  size_t i = 0;
  for (; i + kFour <= scales.size(); i += kFour) {
    look_at(i, kFour);
  }
  look_at(i, scales.size() - i);
  return (wrong & kEach * 0x8000) == 0;
}

template <typename T>
Span<const T> span_of(const void* data, size_t count) {
  return {static_cast<const T*>(data), count};
}

}  // namespace

uint8_t* Constants::allocate(size_t size) {
  made_.emplace_back(size / sizeof(uint64_t) + 1);
  return reinterpret_cast<uint8_t*>(made_.back().data());
}

Result<Span<const uint8_t>> Constants::named_bytes(const char* key) {
  auto buffer =
      data_ != nullptr ? data_->get_data(key) : Result<runtime::FreeableBuffer>(Error::NotFound);
  ET_CHECK_OR_RETURN_ERROR(buffer.ok(), NotFound,
                           "XNNPACK constant %.80s is not in the program: where a data file (.ptd) "
                           "was written with it, give its path too (data_path, --data_path)",
                           key);
  loaded_.push_back(std::move(buffer.get()));
  return span_of<uint8_t>(loaded_.back().data(), loaded_.back().size());
}

Result<Span<const uint8_t>> Constants::bytes(uint32_t index) {
  if (const auto* entries = payload_.graph->constant_data();
      entries != nullptr && entries->size() > 0) {
    ET_CHECK_OR_RETURN_ERROR(index < entries->size(), InvalidProgram,
                             "XNNPACK constant %" PRIu32 " of %zu", static_cast<uint32_t>(index),
                             static_cast<size_t>(entries->size()));
    const fb_xnnpack::ConstantDataOffset& entry = *entries->Get(index);
    if (entry.named_key() != nullptr) {
      return named_bytes(entry.named_key()->c_str());
    }
    const uint64_t size = payload_.constants.size();
    ET_CHECK_OR_RETURN_ERROR(
        entry.offset() <= size && entry.size() <= size - entry.offset(), InvalidProgram,
        "XNNPACK constant %" PRIu32 ": outside of the constants", static_cast<uint32_t>(index));
    return span_of<uint8_t>(payload_.constants.data() + entry.offset(),
                            static_cast<size_t>(entry.size()));
  }
  const auto* buffers = payload_.graph->constant_buffer();
  ET_CHECK_OR_RETURN_ERROR(
      buffers != nullptr && index < buffers->size() && buffers->Get(index)->storage() != nullptr,
      InvalidProgram, "XNNPACK constant %" PRIu32 " is missing", static_cast<uint32_t>(index));
  const auto& storage = *buffers->Get(index)->storage();
  return span_of<uint8_t>(storage.data(), storage.size());
}

Result<Span<const uint8_t>> Constants::load(uint32_t index, uint64_t size) {
  const Span<const uint8_t> found = ET_UNWRAP(bytes(index));
  ET_CHECK_OR_RETURN_ERROR(found.size() == size && size > 0, InvalidProgram,
                           "XNNPACK constant %" PRIu32 ": %zu bytes of data, expected %zu",
                           static_cast<uint32_t>(index), found.size(), static_cast<size_t>(size));
  if (reinterpret_cast<uintptr_t>(found.data()) % kAlignment == 0) {
    return found;
  }
  uint8_t* copy = allocate(found.size());
  std::memcpy(copy, found.data(), found.size());
  return span_of<uint8_t>(copy, found.size());
}

Result<Span<const uint8_t>> Constants::load_widened(uint32_t index, uint64_t count) {
  const auto halves = ET_UNWRAP(load(index, count * sizeof(executorch::aten::Half)));
  const auto* from = reinterpret_cast<const executorch::aten::Half*>(halves.data());
  const size_t size = static_cast<size_t>(count) * sizeof(float);
  auto* to = reinterpret_cast<float*>(allocate(size));
  for (size_t i = 0; i < count; ++i) {
    to[i] = static_cast<float>(from[i]);
  }
  return span_of<uint8_t>(to, size);
}

Result<Span<const float>> Constants::scales_by_channel(const Value& value) {
  const auto& given = *static_cast<const fb_xnnpack::PerChannelQuant*>(value.quantization);
  Span<const float> scales;
  if (given.scale_buffer_idx() != 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_count(given.num_scales(), value.num_scales));
    const auto found = ET_UNWRAP(load(given.scale_buffer_idx(), value.num_scales * sizeof(float)));
    scales = span_of<float>(found.data(), value.num_scales);
  } else {
    const size_t count = given.scale() == nullptr ? 0 : given.scale()->size();
    ET_CHECK_OK_OR_RETURN_ERROR(check_count(count, value.num_scales));
    scales = span_of<float>(given.scale()->data(), count);
  }
  for (size_t i = 0; i < scales.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_scale(scales[i], i));
  }
  return scales;
}

Result<Span<const uint16_t>> Constants::scales_by_group(const Value& value) {
  const auto& given = *static_cast<const fb_xnnpack::PerChannelGroupQuant*>(value.quantization);
  Span<const uint16_t> scales;
  if (given.scale_buffer_idx() != 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_count(given.num_scales(), value.num_scales));
    const auto found =
        ET_UNWRAP(load(given.scale_buffer_idx(), value.num_scales * sizeof(uint16_t)));
    scales = span_of<uint16_t>(found.data(), value.num_scales);
  } else if (const auto* bits = given.scale_bf16(); bits != nullptr && bits->size() > 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_count(bits->size(), value.num_scales));
    scales = span_of<uint16_t>(bits->data(), bits->size());
  } else {
    const size_t count = given.scale() == nullptr ? 0 : given.scale()->size();
    ET_CHECK_OK_OR_RETURN_ERROR(check_count(count, value.num_scales));
    auto* converted = reinterpret_cast<uint16_t*>(allocate(count * sizeof(uint16_t)));
    for (size_t i = 0; i < count; ++i) {
      converted[i] = to_bfloat16(given.scale()->Get(static_cast<uint32_t>(i)));
    }
    scales = span_of<uint16_t>(converted, count);
  }
  const size_t suspects = are_scales(scales) ? 0 : scales.size();
  for (size_t i = 0; i < suspects; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_scale(from_bfloat16(scales[i]), i));
  }
  return scales;
}

void Constants::give_back_but(const std::vector<const void*>& kept) {
  for (runtime::FreeableBuffer& buffer : loaded_) {
    if (std::find(kept.begin(), kept.end(), buffer.data()) == kept.end()) {
      buffer.Free();
    }
  }
}

}  // namespace executorch::backends::xnnpack
