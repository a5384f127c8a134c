// SPDX-License-Identifier: BSD-3-Clause
// Tensors: read, made, viewed, copied; numbers of dtypes and devices; messages.
#include <executorch/backends/aoti/runtime/shims.h>

#include <cinttypes>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace executorch::backends::aoti {

using aten::ScalarType;
using runtime::Error;

namespace {

constexpr int32_t kOk = 0;

SlimTensor::Shape shape_of(int64_t ndim, const int64_t* sizes, const int64_t* strides,
                           int64_t offset, int32_t dtype) {
  const auto rank = static_cast<size_t>(ndim);
  return {{sizes, rank},
          {strides, strides == nullptr ? 0 : rank},
          offset,
          static_cast<ScalarType>(dtype)};
}

bool is_shape(const char* function, int64_t ndim, const int64_t* sizes) {
  const bool is_right = ndim >= 0 && (ndim == 0 || sizes != nullptr);
  if (!is_right) {
    ET_LOG(Error, "%s: expected sizes of 0 or more dimensions, found %s%" PRId64, function,
           sizes == nullptr ? "none of " : "", ndim);
  }
  return is_right;
}

Place place_of(int32_t type, int32_t index) {
  return {static_cast<DeviceType>(type), static_cast<DeviceIndex>(index < 0 ? 0 : index)};
}

/// -1, and no overflow, for dtypes that are none.
bool is_dtype(const char* function, int32_t dtype) {
  const bool is_right = dtype >= 0 && dtype < static_cast<int32_t>(ScalarType::NumOptions);
  if (!is_right) {
    ET_LOG(Error, "%s: dtype %d is unknown", function, dtype);
  }
  return is_right;
}

/// The same elements, dense; or with the strides of the original.
int32_t copy_of(SlimTensor* self, bool keeps_strides, SlimTensor** out) {
  SlimTensor::Shape shape{self->sizes(), {}, 0, self->dtype()};
  if (keeps_strides) {
    shape.strides = self->strides();
  }
  auto made = SlimTensor::empty(shape, self->place());
  if (made.ok()) {
    const Error error = copy_tensor(*self, **made);
    if (error != Error::Ok) {
      return status_of(error);
    }
  }
  return give(std::move(made), out);
}

}  // namespace

// ---- Read ----

#define AOTI_GETTER(name, type, expression)             \
  AOTI_SHIM int32_t name(SlimTensor* self, type* out) { \
    if (!are_given(#name, self, out)) {                 \
      return kInvalid;                                  \
    }                                                   \
    *out = (expression);                                \
    return kOk;                                         \
  }
AOTI_GETTER(aoti_torch_get_data_ptr, void*, self->data())
AOTI_GETTER(aoti_torch_get_sizes, int64_t*, self->sizes_data())
AOTI_GETTER(aoti_torch_get_strides, int64_t*, self->strides_data())
AOTI_GETTER(aoti_torch_get_dtype, int32_t, static_cast<int32_t>(self->dtype()))
AOTI_GETTER(aoti_torch_get_dim, int64_t, static_cast<int64_t>(self->dim()))
AOTI_GETTER(aoti_torch_get_numel, int64_t, self->numel())
AOTI_GETTER(aoti_torch_get_storage_offset, int64_t, self->offset())
AOTI_GETTER(aoti_torch_get_storage_size, int64_t,
            static_cast<int64_t>(self->storage()->num_bytes()))
AOTI_GETTER(aoti_torch_get_device_type, int32_t, static_cast<int32_t>(self->place().type))
AOTI_GETTER(aoti_torch_get_device_index, int32_t, self->place().index)

AOTI_SHIM int32_t aoti_torch_item_bool(SlimTensor* self, bool* out) {
  if (!are_given(__func__, self, out)) {
    return kInvalid;
  }
  if (self->numel() != 1 || self->dtype() != ScalarType::Bool) {
    ET_LOG(Error, "%s: expected one bool, found %" PRId64 " elements of %s", __func__,
           self->numel(), runtime::toString(self->dtype()));
    return kInvalid;
  }
  auto value = SlimTensor::borrow(out, {self->sizes(), {}, 0, ScalarType::Bool}, {});
  return value.ok() ? status_of(copy_tensor(*self, **value)) : status_of(value.error());
}

// ---- Numbers ----

#define AOTI_NUMBER(name, value) \
  AOTI_SHIM int32_t name() {     \
    return value;                \
  }
#define AOTI_DTYPE(name, dtype) \
  AOTI_NUMBER(aoti_torch_dtype_##name, static_cast<int32_t>(ScalarType::dtype))
AOTI_NUMBER(aoti_torch_layout_strided, 0)
AOTI_NUMBER(aoti_torch_device_type_cpu, 0)
AOTI_NUMBER(aoti_torch_device_type_cuda, 1)
AOTI_DTYPE(uint8, Byte)
AOTI_DTYPE(int8, Char)
AOTI_DTYPE(int16, Short)
AOTI_DTYPE(int32, Int)
AOTI_DTYPE(int64, Long)
AOTI_DTYPE(float16, Half)
AOTI_DTYPE(float32, Float)
AOTI_DTYPE(float64, Double)
AOTI_DTYPE(bool, Bool)
AOTI_DTYPE(bfloat16, BFloat16)
AOTI_DTYPE(uint16, UInt16)
AOTI_DTYPE(uint32, UInt32)
AOTI_DTYPE(uint64, UInt64)

AOTI_SHIM bool aoti_torch_grad_mode_is_enabled() {
  return false;
}
AOTI_SHIM int32_t aoti_torch_grad_mode_set_enabled(bool enabled) {
  return status_of(enabled ? Error::NotSupported : Error::Ok);
}

// ---- Messages ----

/// Compiled code asks with it, as of an index within its bounds. It is C++ that catches, and gives
/// an error back; nothing of the runtime lies between.
AOTI_SHIM void aoti_torch_check(bool cond, const char* func, const char* file, uint32_t line,
                                const char* msg) {
  if (cond) {
    return;
  }
  const std::string text = std::string(msg == nullptr ? "a check failed" : msg) + " (" +
                           (func == nullptr ? "" : func) + ", " + (file == nullptr ? "" : file) +
                           ":" + std::to_string(line) + ")";
  ET_LOG(Error, "AOTInductor's code: %s", text.c_str());
#ifdef __cpp_exceptions
  throw std::runtime_error(text);
#else
  runtime::runtime_abort();
#endif
}

AOTI_SHIM void aoti_torch_warn(const char* func, const char* file, uint32_t line, const char* msg) {
  ET_LOG(Info, "AOTInductor's code: %s (%s, %s:%" PRIu32 ")", msg == nullptr ? "" : msg,
         func == nullptr ? "" : func, file == nullptr ? "" : file, line);
}

// ---- Made ----

AOTI_SHIM int32_t aoti_torch_create_tensor_from_blob(void* data, int64_t ndim, const int64_t* sizes,
                                                     const int64_t* strides, int64_t offset,
                                                     int32_t dtype, int32_t device_type,
                                                     int32_t device_index, SlimTensor** out) {
  if (!are_given(__func__, out) || !is_shape(__func__, ndim, sizes) || !is_dtype(__func__, dtype)) {
    return kInvalid;
  }
  const auto shape = shape_of(ndim, sizes, strides, offset, dtype);
  auto made = SlimTensor::borrow(data, shape, place_of(device_type, device_index));
  // Constants without elements have no memory.
  if (made.ok() && (*made)->numel() > 0 && !are_given(__func__, data)) {
    return kInvalid;
  }
  return give(std::move(made), out);
}

AOTI_SHIM int32_t aoti_torch_create_tensor_from_blob_v2(
    void* data, int64_t ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
    int32_t dtype, int32_t device_type, int32_t device_index, SlimTensor** out, int32_t /*layout*/,
    const uint8_t* /*opaque*/, int64_t /*opaque_size*/) {
  return aoti_torch_create_tensor_from_blob(data, ndim, sizes, strides, offset, dtype, device_type,
                                            device_index, out);
}

AOTI_SHIM int32_t aoti_torch_empty_strided(int64_t ndim, const int64_t* sizes,
                                           const int64_t* strides, int32_t dtype,
                                           int32_t device_type, int32_t device_index,
                                           SlimTensor** out) {
  if (!are_given(__func__, out) || !is_shape(__func__, ndim, sizes) || !is_dtype(__func__, dtype)) {
    return kInvalid;
  }
  return give(SlimTensor::empty(shape_of(ndim, sizes, strides, 0, dtype),
                                place_of(device_type, device_index)),
              out);
}

AOTI_SHIM int32_t aoti_torch_delete_tensor_object(SlimTensor* self) {
  if (!are_given(__func__, self)) {
    return kInvalid;
  }
  delete self;
  return kOk;
}

AOTI_SHIM int32_t aoti_torch_new_tensor_handle(SlimTensor* self, SlimTensor** out) {
  if (!are_given(__func__, self, out)) {
    return kInvalid;
  }
  return give(SlimTensor::over(self->storage(),
                               {self->sizes(), self->strides(), self->offset(), self->dtype()}),
              out);
}

AOTI_SHIM int32_t aoti_torch_assign_tensors_out(SlimTensor* src, SlimTensor** out) {
  return aoti_torch_new_tensor_handle(src, out);
}

AOTI_SHIM int32_t aoti_torch__reinterpret_tensor(SlimTensor* self, int64_t ndim,
                                                 const int64_t* sizes, const int64_t* strides,
                                                 int64_t offset, SlimTensor** out) {
  if (!are_given(__func__, self, out) || !is_shape(__func__, ndim, sizes)) {
    return kInvalid;
  }
  const auto dtype = static_cast<int32_t>(self->dtype());
  return give(SlimTensor::over(self->storage(),
                               shape_of(ndim, sizes, strides, self->offset() + offset, dtype)),
              out);
}

// ---- Copied ----

AOTI_SHIM int32_t aoti_torch_clone(SlimTensor* self, SlimTensor** out) {
  return are_given(__func__, self, out) ? copy_of(self, false, out) : kInvalid;
}

AOTI_SHIM int32_t aoti_torch_clone_preserve_strides(SlimTensor* self, SlimTensor** out) {
  return are_given(__func__, self, out) ? copy_of(self, true, out) : kInvalid;
}

AOTI_SHIM int32_t aoti_torch_copy_(SlimTensor* self, SlimTensor* src, int32_t /*non_blocking*/) {
  return are_given(__func__, self, src) ? status_of(copy_tensor(*src, *self)) : kInvalid;
}

runtime::Span<const Shim> tensor_shims() {
#define SHIM(name) {#name, reinterpret_cast<void*>(&name)}
  static const Shim shims[] = {
      SHIM(aoti_torch_get_data_ptr),
      SHIM(aoti_torch_get_sizes),
      SHIM(aoti_torch_get_strides),
      SHIM(aoti_torch_get_dtype),
      SHIM(aoti_torch_get_dim),
      SHIM(aoti_torch_get_numel),
      SHIM(aoti_torch_get_storage_offset),
      SHIM(aoti_torch_get_storage_size),
      SHIM(aoti_torch_get_device_type),
      SHIM(aoti_torch_get_device_index),
      SHIM(aoti_torch_item_bool),
      SHIM(aoti_torch_layout_strided),
      SHIM(aoti_torch_device_type_cpu),
      SHIM(aoti_torch_device_type_cuda),
      SHIM(aoti_torch_dtype_uint8),
      SHIM(aoti_torch_dtype_int8),
      SHIM(aoti_torch_dtype_int16),
      SHIM(aoti_torch_dtype_int32),
      SHIM(aoti_torch_dtype_int64),
      SHIM(aoti_torch_dtype_float16),
      SHIM(aoti_torch_dtype_float32),
      SHIM(aoti_torch_dtype_float64),
      SHIM(aoti_torch_dtype_bool),
      SHIM(aoti_torch_dtype_bfloat16),
      SHIM(aoti_torch_dtype_uint16),
      SHIM(aoti_torch_dtype_uint32),
      SHIM(aoti_torch_dtype_uint64),
      SHIM(aoti_torch_grad_mode_is_enabled),
      SHIM(aoti_torch_grad_mode_set_enabled),
      SHIM(aoti_torch_check),
      SHIM(aoti_torch_warn),
      SHIM(aoti_torch_create_tensor_from_blob),
      SHIM(aoti_torch_create_tensor_from_blob_v2),
      SHIM(aoti_torch_empty_strided),
      SHIM(aoti_torch_delete_tensor_object),
      SHIM(aoti_torch_new_tensor_handle),
      SHIM(aoti_torch_assign_tensors_out),
      SHIM(aoti_torch__reinterpret_tensor),
      SHIM(aoti_torch_clone),
      SHIM(aoti_torch_clone_preserve_strides),
      SHIM(aoti_torch_copy_),
  };
#undef SHIM
  return {shims, sizeof(shims) / sizeof(shims[0])};
}

}  // namespace executorch::backends::aoti
