// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/stand_in/values.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace executorch::backends::qualcomm::stand_in {

namespace {

/// What the types of integers are, whether they stand for themselves or are quantized.
template <typename Use>
bool with_integers(uint32_t dtype, Use use) {
  switch (dtype) {
    case QNN_DATATYPE_INT_8:
    case QNN_DATATYPE_SFIXED_POINT_8:
      return use(int8_t{}), true;
    case QNN_DATATYPE_INT_16:
    case QNN_DATATYPE_SFIXED_POINT_16:
      return use(int16_t{}), true;
    case QNN_DATATYPE_INT_32:
    case QNN_DATATYPE_SFIXED_POINT_32:
      return use(int32_t{}), true;
    case QNN_DATATYPE_INT_64:
      return use(int64_t{}), true;
    case QNN_DATATYPE_UINT_8:
    case QNN_DATATYPE_UFIXED_POINT_8:
    case QNN_DATATYPE_BOOL_8:
      return use(uint8_t{}), true;
    case QNN_DATATYPE_UINT_16:
    case QNN_DATATYPE_UFIXED_POINT_16:
      return use(uint16_t{}), true;
    case QNN_DATATYPE_UINT_32:
    case QNN_DATATYPE_UFIXED_POINT_32:
      return use(uint32_t{}), true;
    default:
      return false;
  }
}

template <typename Use>
bool with_type(uint32_t dtype, Use use) {
  switch (dtype) {
    case QNN_DATATYPE_FLOAT_32:
      return use(float{}), true;
    case QNN_DATATYPE_FLOAT_16:
      return use(executorch::aten::Half{}), true;
    default:
      return with_integers(dtype, use);
  }
}

bool has_axis(const qnn_stand_in::EncodingT& encoding) {
  return encoding.type == QNN_QUANTIZATION_ENCODING_AXIS_SCALE_OFFSET ||
         encoding.type == QNN_QUANTIZATION_ENCODING_BW_AXIS_SCALE_OFFSET ||
         encoding.type == QNN_QUANTIZATION_ENCODING_BLOCKWISE_EXPANSION;
}

/// Which scale and offset each element has. Blocks are along what an index of the axis has, in its
/// order in memory.
struct Scales {
  explicit Scales(const TensorSpec& spec) : encoding(*spec.encoding) {
    if (has_axis(encoding)) {
      const Dims dims = dims_of(spec);
      const auto axis = static_cast<size_t>(encoding.axis);
      size = dims[axis];
      stride = strides_of(dims)[axis];
      num_blocks = encoding.block_scales.size() / size;
      per_block = num_blocks == 0 ? 0 : numel(dims) / size / num_blocks;
    }
  }
  size_t place(size_t element) const { return element / stride % size; }
  double scale(size_t element) const {
    const double found = encoding.scales[place(element)];
    if (num_blocks == 0) {
      return found;
    }
    const size_t along = element / (stride * size) * stride + element % stride;
    return found * encoding.block_scales[place(element) * num_blocks + along / per_block];
  }
  double offset(size_t element) const { return encoding.offsets[place(element)]; }

  const qnn_stand_in::EncodingT& encoding;
  size_t size = 1, stride = 1, num_blocks = 0, per_block = 0;
};

/// Values in fewer bits have their sign at the top of these.
int64_t in_bits(int64_t stored, uint32_t bitwidth, bool is_signed) {
  if (bitwidth == 0) {
    return stored;
  }
  const int64_t low = stored & ((int64_t{1} << bitwidth) - 1);
  const bool is_negative = is_signed && (low >> (bitwidth - 1)) != 0;
  return is_negative ? low - (int64_t{1} << bitwidth) : low;
}

}  // namespace

size_t numel(const Dims& dims) {
  size_t count = 1;
  for (const size_t size : dims) {
    count *= size;
  }
  return count;
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d > 1; --d) {
    strides[d - 2] = strides[d - 1] * dims[d - 1];
  }
  return strides;
}

Dims dims_of(const TensorSpec& spec) {
  return {spec.dims.begin(), spec.dims.end()};
}

std::string text_of(const Dims& dims) {
  std::string text = "[";
  for (size_t d = 0; d < dims.size(); ++d) {
    text += (d > 0 ? ", " : "") + std::to_string(dims[d]);
  }
  return text + "]";
}

size_t num_bytes(uint32_t dtype) {
  size_t size = 0;
  with_type(dtype, [&](auto element) { size = sizeof(element); });
  return size;
}

size_t num_bytes(const TensorSpec& spec) {
  return numel(dims_of(spec)) * num_bytes(spec.dtype);
}

std::string why_not(const TensorSpec& spec) {
  if (num_bytes(spec.dtype) == 0) {
    return "data type " + std::to_string(spec.dtype) + " is not known";
  }
  if (spec.dims.empty() || std::count(spec.dims.begin(), spec.dims.end(), 0u) > 0) {
    return "dimensions above 0 are expected";
  }
  if (spec.encoding == nullptr) {
    return "";
  }
  const qnn_stand_in::EncodingT& encoding = *spec.encoding;
  size_t count = 1;
  if (has_axis(encoding)) {
    if (encoding.axis < 0 || static_cast<size_t>(encoding.axis) >= spec.dims.size()) {
      return "an axis of " + text_of(dims_of(spec)) + " is expected";
    }
    count = spec.dims[static_cast<size_t>(encoding.axis)];
  }
  if (encoding.type == QNN_QUANTIZATION_ENCODING_BLOCKWISE_EXPANSION) {
    const size_t found = encoding.block_scales.size() / count;
    if (found == 0 || numel(dims_of(spec)) / count % found != 0) {
      return "blocks of one size are expected along " + text_of(dims_of(spec));
    }
  }
  const bool fits = encoding.scales.size() == count && encoding.offsets.size() == count;
  return fits ? ""
              : "an encoding with " + std::to_string(count) + " scales and offsets is expected";
}

Value read(const TensorSpec& spec, const uint8_t* bytes) {
  Value value{dims_of(spec), {}};
  value.numbers.resize(numel(value.dims));
  with_type(spec.dtype, [&](auto element) {
    for (size_t i = 0; i < value.numbers.size(); ++i) {
      std::memcpy(&element, bytes + i * sizeof(element), sizeof(element));
      value.numbers[i] = static_cast<double>(element);
    }
  });
  if (spec.encoding == nullptr) {
    return value;
  }
  const Scales scales(spec);
  const uint32_t bitwidth = spec.encoding->bitwidth;
  const bool is_signed = spec.dtype < QNN_DATATYPE_UFIXED_POINT_8;
  for (size_t i = 0; i < value.numbers.size(); ++i) {
    const auto stored = in_bits(static_cast<int64_t>(value.numbers[i]), bitwidth, is_signed);
    value.numbers[i] = scales.scale(i) * (static_cast<double>(stored) + scales.offset(i));
  }
  return value;
}

void store(const TensorSpec& spec, const Value& value, uint8_t* out) {
  const auto put = [&](size_t i, auto element) {
    std::memcpy(out + i * sizeof(element), &element, sizeof(element));
  };
  const size_t count = value.numbers.size();
  if (spec.encoding != nullptr) {
    const Scales scales(spec);
    with_integers(spec.dtype, [&](auto element) {
      using T = decltype(element);
      const double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
      for (size_t i = 0; i < count; ++i) {
        const double stored = std::nearbyint(value.numbers[i] / scales.scale(i)) - scales.offset(i);
        put(i, static_cast<T>(std::isnan(stored) ? 0 : std::clamp(stored, least, most)));
      }
    });
    return;
  }
  with_type(spec.dtype, [&](auto element) {
    using T = decltype(element);
    for (size_t i = 0; i < count; ++i) {
      const double number = value.numbers[i];
      if constexpr (std::is_integral_v<T>) {
        put(i, spec.dtype == QNN_DATATYPE_BOOL_8 ? static_cast<T>(number != 0)
                                                 : static_cast<T>(static_cast<int64_t>(number)));
      } else {
        put(i, static_cast<T>(static_cast<float>(number)));
      }
    }
  });
}

}  // namespace executorch::backends::qualcomm::stand_in
