// SPDX-License-Identifier: BSD-3-Clause
// Shims that run kernels of ours: matmuls by weights of few bits, sort, and random numbers.
#include <executorch/backends/cuda/kernels/plain_matmul.h>
#include <executorch/backends/cuda/kernels/random.h>
#include <executorch/backends/cuda/kernels/sort.h>
#include <executorch/backends/cuda/runtime/cuda_kernels.h>
#include <executorch/backends/cuda/runtime/cuda_shims.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>

namespace executorch::backends::cuda {

using aoti::are_given;
using aoti::kInvalid;
using aoti::SlimTensor;
using aten::ScalarType;
using runtime::Error;
using runtime::Result;

namespace {

/// An operand, and the shape that it must have.
struct Operand {
  const char* name;
  const SlimTensor* tensor;
  ScalarType dtype;
  int64_t rows, columns;
};

Error check_operand(const char* kernel, const Operand& operand) {
  const SlimTensor& tensor = *operand.tensor;
  ET_CHECK_OR_RETURN_ERROR(tensor.dtype() == operand.dtype && tensor.dim() == 2 &&
                               tensor.sizes()[0] == operand.rows &&
                               tensor.sizes()[1] == operand.columns && tensor.is_contiguous() &&
                               tensor.place().type == aoti::DeviceType::CUDA,
                           InvalidArgument,
                           "%s: expected %s to be dense, of %s [%" PRId64 ", %" PRId64
                           "] on the GPU, found %s of %zu "
                           "dimensions",
                           kernel, operand.name, runtime::toString(operand.dtype), operand.rows,
                           operand.columns, runtime::toString(tensor.dtype()), tensor.dim());
  return Error::Ok;
}

struct Format {
  const char* kernel;
  int low_bits, high_bits;
  ScalarType low, scale, zero;
};

/// A matrix; null is what its format does not have.
struct Weights {
  const Format& format;
  const SlimTensor *low, *high, *scale, *scale_step, *zero, *zero_step;
};

/// A format, and what a shim's arguments are, in their order.
template <size_t count>
struct Kind {
  Format format;
  const SlimTensor* Weights::* members[count];
};

constexpr Kind<5> kInt4 = {
    {"int4_plain_mm", 4, 0, ScalarType::Byte, ScalarType::Byte, ScalarType::Byte},
    {&Weights::low, &Weights::scale, &Weights::scale_step, &Weights::zero, &Weights::zero_step}};
constexpr Kind<6> kInt5 = {
    {"int5_plain_mm", 4, 1, ScalarType::Byte, ScalarType::Byte, ScalarType::Byte},
    {&Weights::low, &Weights::high, &Weights::scale, &Weights::scale_step, &Weights::zero,
     &Weights::zero_step}};
constexpr Kind<4> kInt6 = {
    {"int6_plain_mm", 4, 2, ScalarType::Byte, ScalarType::Char, ScalarType::Char},
    {&Weights::low, &Weights::high, &Weights::scale, &Weights::scale_step}};
constexpr Kind<3> kInt8 = {
    {"int8_plain_mm", 8, 0, ScalarType::Char, ScalarType::BFloat16, ScalarType::Char},
    {&Weights::low, &Weights::scale, &Weights::zero}};

template <typename... Tensors>
Weights weights_of(const Kind<sizeof...(Tensors)>& kind, const Tensors*... arguments) {
  Weights weights = {kind.format};
  const auto* member = kind.members;
  ((weights.*(*member++) = arguments), ...);
  return weights;
}

template <typename T>
T* data_of(const SlimTensor* tensor) {
  return tensor == nullptr ? nullptr : static_cast<T*>(tensor->data());
}

Result<std::unique_ptr<SlimTensor>> multiply(const SlimTensor& x, const Weights& w, int64_t group) {
  const Format& format = w.format;
  ET_CHECK_OR_RETURN_ERROR(x.dim() == 2 && w.low->dim() == 2, InvalidArgument,
                           "%s: expected matrices, found %zu and %zu dimensions", format.kernel,
                           x.dim(), w.low->dim());
  const int64_t m = x.sizes()[0], k = x.sizes()[1], n = w.low->sizes()[0];
  const bool has_steps = w.scale_step != nullptr;
  ET_CHECK_OR_RETURN_ERROR(group > 0 && k % group == 0 && k % 8 == 0 &&
                               (!has_steps || (k % kSuperGroup == 0 && kSuperGroup % group == 0)),
                           InvalidArgument, "%s: %" PRId64 " columns in groups of %" PRId64,
                           format.kernel, k, group);
  const Operand operands[] = {
      {"x", &x, ScalarType::BFloat16, m, k},
      {"the weight", w.low, format.low, n, k * format.low_bits / 8},
      {"the high bits", w.high, ScalarType::Byte, n, k * format.high_bits / 8},
      {"scale", w.scale, format.scale, n, k / group},
      {"zero", w.zero, format.zero, n, k / group},
      {"the step of scale", w.scale_step, ScalarType::Half, n, k / kSuperGroup},
      {"the step of zero", w.zero_step, ScalarType::Half, n, k / kSuperGroup},
  };
  for (const Operand& each : operands) {
    if (each.tensor != nullptr) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_operand(format.kernel, each));
    }
  }
  const int64_t sizes[] = {m, n};
  auto out = ET_UNWRAP(SlimTensor::empty({{sizes, 2}, {}, 0, ScalarType::BFloat16}, x.place()));
  if (m == 0 || n == 0) {
    return out;
  }
  PlainMatmul arguments = {static_cast<const uint16_t*>(x.data()),
                           data_of<const uint8_t>(w.low),
                           data_of<const uint8_t>(w.high),
                           data_of<const uint8_t>(w.scale),
                           data_of<const uint16_t>(w.scale_step),
                           data_of<const uint8_t>(w.zero),
                           data_of<const uint16_t>(w.zero_step),
                           static_cast<uint16_t*>(out->data()),
                           m,
                           n,
                           k,
                           group};
  const Grid grid = {static_cast<uint32_t>((n + kColumns - 1) / kColumns),
                     static_cast<uint32_t>((m + kRows - 1) / kRows), kLanes, kColumns};
  ET_CHECK_OK_OR_RETURN_ERROR(launch(format.kernel, grid, &arguments));
  return out;
}

/// What the shims of matmuls do.
template <typename... Tensors>
int32_t plain_mm(const char* shim, const Kind<sizeof...(Tensors)>& kind, const SlimTensor* x,
                 int64_t group, SlimTensor** out, const Tensors*... arguments) {
  if (!are_given(shim, x, out, arguments...)) {
    return kInvalid;
  }
  return aoti::give(multiply(*x, weights_of(kind, arguments...), group), out);
}

const char* kernel_of(ScalarType dtype) {
  switch (static_cast<int>(dtype)) {
#define SORT_NAME(name, number, type) \
  case number:                        \
    return "sort_" #name;
    CUDA_SORT_TYPES(SORT_NAME)
#undef SORT_NAME
    default:
      return nullptr;
  }
}

using Sorted = std::pair<std::unique_ptr<SlimTensor>, std::unique_ptr<SlimTensor>>;

/// Empty ones of the shape of `like`.
Result<Sorted> pair_like(const SlimTensor& like) {
  auto values = ET_UNWRAP(SlimTensor::empty({like.sizes(), {}, 0, like.dtype()}, like.place()));
  auto places = ET_UNWRAP(SlimTensor::empty({like.sizes(), {}, 0, ScalarType::Long}, like.place()));
  return Sorted(std::move(values), std::move(places));
}

/// Values, and where they were.
Result<Sorted> sort(const SlimTensor& self, int64_t dim, bool is_descending) {
  const auto rank = static_cast<int64_t>(self.dim());
  const int64_t wanted = dim < 0 ? dim + rank : dim;
  const char* kernel = kernel_of(self.dtype());
  ET_CHECK_OR_RETURN_ERROR(kernel != nullptr && wanted >= 0 && wanted < std::max<int64_t>(rank, 1),
                           InvalidArgument,
                           "aoti_torch_cuda_sort_stable: dim %" PRId64 " of %" PRId64 ", of %s",
                           dim, rank, runtime::toString(self.dtype()));
  SortPass pass = {};
  pass.inner = 1;
  for (int64_t i = wanted + 1; i < rank; ++i) {
    pass.inner *= self.sizes()[static_cast<size_t>(i)];
  }
  pass.length = rank == 0 ? 1 : self.sizes()[static_cast<size_t>(wanted)];
  pass.rows = pass.length == 0 ? 0 : self.numel() / pass.length;
  pass.is_descending = is_descending;
  Sorted from = ET_UNWRAP(pair_like(self))
  , to = ET_UNWRAP(pair_like(self));
  ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(self, *from.first));  // dense
  if (self.numel() == 0) {
    return from;
  }
  const Grid grid = {static_cast<uint32_t>((self.numel() + kSortThreads - 1) / kSortThreads), 1,
                     kSortThreads, 1};
  bool is_first = true;
  // Once where a row is one element, for its place.
  for (pass.run = 1; is_first || pass.run < pass.length; pass.run *= 2) {
    pass.in_values = from.first->data();
    pass.in_places = is_first ? nullptr : static_cast<const int64_t*>(from.second->data());
    pass.out_values = to.first->data();
    pass.out_places = static_cast<int64_t*>(to.second->data());
    ET_CHECK_OK_OR_RETURN_ERROR(launch(kernel, grid, &pass));
    std::swap(from, to);
    is_first = false;
  }
  return from;
}

const char* random_kernel_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float:
      return "random_f32";
    case ScalarType::BFloat16:
      return "random_bf16";
    case ScalarType::Long:
      return "random_i64";
    default:
      return nullptr;
  }
}

uint64_t seed_of_process() {
  static const uint64_t seed = [] {
    std::random_device device;
    return device() | static_cast<uint64_t>(device()) << 32;
  }();
  return seed;
}

/// Integers of [low, high), floats of [0, 1).
Error fill(const char* shim, SlimTensor& out, int64_t low, int64_t high) {
  const char* kernel = random_kernel_of(out.dtype());
  ET_CHECK_OR_RETURN_ERROR(
      kernel != nullptr && low < high && out.is_contiguous() &&
          out.place().type == aoti::DeviceType::CUDA,
      InvalidArgument,
      "%s: expected dense float, bfloat16 or int64 numbers on the GPU, from %" PRId64
      " to a higher one, found %s to %" PRId64,
      shim, low, runtime::toString(out.dtype()), high);
  if (out.numel() == 0) {
    return Error::Ok;
  }
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  RandomFill arguments = {out.data(), out.numel(), low, range, seed_of_process()};
  const auto blocks = static_cast<uint32_t>((out.numel() + kRandomThreads - 1) / kRandomThreads);
  ET_CHECK_OK_OR_RETURN_ERROR(launch(kernel, {blocks, 1, kRandomThreads, 1}, &arguments));
  return launch("count_random", {1, 1, 1, 1}, &arguments);
}

Result<std::unique_ptr<SlimTensor>> uniform(const char* shim, SlimTensor::Numbers sizes,
                                            ScalarType dtype, int32_t index) {
  const int device = ET_UNWRAP(device_of(*ET_UNWRAP(cuda_library()), index));
  auto out = ET_UNWRAP(SlimTensor::empty(
      {sizes, {}, 0, dtype}, {aoti::DeviceType::CUDA, static_cast<aoti::DeviceIndex>(device)}));
  ET_CHECK_OK_OR_RETURN_ERROR(fill(shim, *out, 0, 1));
  return out;
}

}  // namespace

AOTI_SHIM int32_t aoti_torch_cuda_int4_plain_mm(SlimTensor* x, SlimTensor* q, SlimTensor* scale,
                                                SlimTensor* scale_step, SlimTensor* zero,
                                                SlimTensor* zero_step, int64_t group,
                                                SlimTensor** out) {
  return plain_mm(__func__, kInt4, x, group, out, q, scale, scale_step, zero, zero_step);
}

AOTI_SHIM int32_t aoti_torch_cuda_int5_plain_mm(SlimTensor* x, SlimTensor* low, SlimTensor* high,
                                                SlimTensor* scale, SlimTensor* scale_step,
                                                SlimTensor* zero, SlimTensor* zero_step,
                                                int64_t group, SlimTensor** out) {
  return plain_mm(__func__, kInt5, x, group, out, low, high, scale, scale_step, zero, zero_step);
}

AOTI_SHIM int32_t aoti_torch_cuda_int6_plain_mm(SlimTensor* x, SlimTensor* low, SlimTensor* high,
                                                SlimTensor* scale, SlimTensor* steps, int64_t group,
                                                SlimTensor** out) {
  return plain_mm(__func__, kInt6, x, group, out, low, high, scale, steps);
}

AOTI_SHIM int32_t aoti_torch_cuda_int8_plain_mm(SlimTensor* x, SlimTensor* q, SlimTensor* scale,
                                                SlimTensor* zero, int64_t group, SlimTensor** out) {
  return plain_mm(__func__, kInt8, x, group, out, q, scale, zero);
}

AOTI_SHIM int32_t aoti_torch_cuda_sort_stable(SlimTensor* self, int32_t* /*stable*/, int64_t dim,
                                              int32_t descending, SlimTensor** values,
                                              SlimTensor** indices) {
  if (!are_given(__func__, self, values, indices)) {
    return kInvalid;
  }
  auto sorted = sort(*self, dim, descending != 0);
  if (sorted.ok()) {
    *values = sorted->first.release();
    *indices = sorted->second.release();
  }
  return aoti::status_of(sorted.error());
}

/// Float without a dtype, on the thread's device without an index.
AOTI_SHIM int32_t aoti_torch_cuda_rand(const int64_t* sizes, int64_t rank, int32_t* dtype,
                                       int32_t* /*layout*/, int32_t* /*device*/, int32_t index,
                                       int32_t* /*pinned*/, SlimTensor** out) {
  if (!are_given(__func__, sizes, out) || rank < 0) {
    return kInvalid;
  }
  const auto wanted = dtype == nullptr ? ScalarType::Float : static_cast<ScalarType>(*dtype);
  return aoti::give(uniform(__func__, {sizes, static_cast<size_t>(rank)}, wanted, index), out);
}

AOTI_SHIM int32_t aoti_torch_cuda_randint_low_out(SlimTensor* out, int64_t low, int64_t high,
                                                  const int64_t* sizes, int64_t rank) {
  if (!are_given(__func__, out, sizes)) {
    return kInvalid;
  }
  const SlimTensor::Numbers found = out->sizes();
  if (rank != static_cast<int64_t>(found.size()) ||
      !std::equal(found.begin(), found.end(), sizes) || out->dtype() != ScalarType::Long) {
    ET_LOG(Error, "%s: expected int64 numbers of the sizes that are asked for", __func__);
    return kInvalid;
  }
  return aoti::status_of(fill(__func__, *out, low, high));
}

runtime::Span<const aoti::Shim> kernel_shims() {
#define SHIM(name) {#name, reinterpret_cast<void*>(&name)}
  static const aoti::Shim shims[] = {
      SHIM(aoti_torch_cuda_int4_plain_mm),   SHIM(aoti_torch_cuda_int5_plain_mm),
      SHIM(aoti_torch_cuda_int6_plain_mm),   SHIM(aoti_torch_cuda_int8_plain_mm),
      SHIM(aoti_torch_cuda_sort_stable),     SHIM(aoti_torch_cuda_rand),
      SHIM(aoti_torch_cuda_randint_low_out),
  };
#undef SHIM
  return {shims, sizeof(shims) / sizeof(shims[0])};
}

}  // namespace executorch::backends::cuda
