// SPDX-License-Identifier: BSD-3-Clause
// What copies, joins, cuts and looks up elements.
#include <executorch/backends/qualcomm/stand_in/operators.h>

#include <algorithm>

namespace executorch::backends::qualcomm::stand_in {

namespace {

/// Each element of the result is that of input 0 where `place(places in the result)` says; below 0:
/// `otherwise`.
template <typename Place>
Results moved(const Call& call, Place place, double otherwise = 0) {
  Value out{call.output_dims(), std::vector<double>(numel(call.output_dims()))};
  const Value& x = call.input(0);
  for_each_place(out.dims, [&](size_t i, const Dims& places) {
    const int64_t at = place(places);
    out.numbers[i] = at < 0 ? otherwise : x.numbers[static_cast<size_t>(at)];
  });
  return {std::move(out)};
}

Results reshape(const Call& call) {
  return {{call.output_dims(), call.input(0).numbers}};
}

Results transpose(const Call& call) {
  const auto perm = call.array("perm");
  const Dims strides = strides_of(call.input(0).dims);
  return moved(call, [&](const Dims& places) {
    size_t at = 0;
    for (size_t d = 0; d < places.size(); ++d) {
      at += places[d] * strides[static_cast<size_t>(perm[d])];
    }
    return static_cast<int64_t>(at);
  });
}

/// By whole numbers of each dimension.
Results tile(const Call& call) {
  const Dims dims = call.input(0).dims, strides = strides_of(dims);
  return moved(call, [&](const Dims& places) {
    size_t at = 0;
    for (size_t d = 0; d < places.size(); ++d) {
      at += places[d] % dims[d] * strides[d];
    }
    return static_cast<int64_t>(at);
  });
}

/// `ranges`: begin, end and step of each dimension; dimensions of shrink_axes are left out.
Results strided_slice(const Call& call) {
  const auto ranges = call.array("ranges");
  const Dims dims = call.input(0).dims, strides = strides_of(dims);
  const size_t shrunk = call.size("shrink_axes");
  return moved(call, [&](const Dims& places) {
    int64_t at = 0;
    size_t next = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      const bool is_left_out = (shrunk >> d & 1) != 0;
      const int64_t step = is_left_out ? 0 : static_cast<int64_t>(places[next++]);
      at += (ranges[3 * d] + step * ranges[3 * d + 2]) * static_cast<int64_t>(strides[d]);
    }
    return at;
  });
}

/// Constant 0, mirror with the edge 1, without it 2, the edge 3.
int64_t padded_place(int64_t place, int64_t size, size_t scheme) {
  if (place >= 0 && place < size) {
    return place;
  }
  const int64_t skipped = scheme == 2 ? 1 : 0;
  const int64_t mirrored = place < 0 ? -place - 1 + skipped : 2 * size - 1 - place - skipped;
  return scheme == 3 ? std::clamp<int64_t>(place, 0, size - 1) : scheme == 0 ? -1 : mirrored;
}

Results pad(const Call& call) {
  const auto amounts = call.array("pad_amount");
  const Dims dims = call.input(0).dims, strides = strides_of(dims);
  const size_t scheme = call.size("scheme");
  double filling = call.number("pad_constant_value");
  if (const auto& encoding = call.input_spec(0).encoding) {  // it is a quantized value
    filling = encoding->scales[0] * (filling + encoding->offsets[0]);
  }
  return moved(
      call,
      [&](const Dims& places) {
        int64_t at = 0;
        for (size_t d = 0; d < dims.size() && at >= 0; ++d) {
          const int64_t place = padded_place(static_cast<int64_t>(places[d]) - amounts[2 * d],
                                             static_cast<int64_t>(dims[d]), scheme);
          at = place < 0 ? -1 : at + place * static_cast<int64_t>(strides[d]);
        }
        return at;
      },
      filling);
}

/// Of tensors that have the same dimensions but along `axis`.
Results concat(const Call& call) {
  const size_t axis = call.size("axis");
  Value out{call.output_dims(), std::vector<double>(numel(call.output_dims()))};
  const Dims strides = strides_of(out.dims);
  size_t begin = 0;
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    const Value& x = call.input(i);
    for_each_place(x.dims, [&](size_t element, const Dims& places) {
      size_t at = begin * strides[axis];
      for (size_t d = 0; d < places.size(); ++d) {
        at += places[d] * strides[d];
      }
      out.numbers[at] = x.numbers[element];
    });
    begin += x.dims[axis];
  }
  return {std::move(out)};
}

/// Each output begins where the one before ends.
Results split(const Call& call) {
  const size_t axis = call.size("axis");
  const Value& x = call.input(0);
  const Dims strides = strides_of(x.dims);
  Results results;
  size_t begin = 0;
  for (size_t i = 0; i < call.num_outputs(); ++i) {
    Value out{call.output_dims(i), {}};
    for_each_place(out.dims, [&](size_t, const Dims& places) {
      size_t at = begin * strides[axis];
      for (size_t d = 0; d < places.size(); ++d) {
        at += places[d] * strides[d];
      }
      out.numbers.push_back(x.numbers[at]);
    });
    begin += out.dims[axis];
    results.push_back(std::move(out));
  }
  return results;
}

/// Rows of input 0 along an axis, at the indices of input 1.
Results gather(const Call& call) {
  const Value &x = call.input(0), &indices = call.input(1);
  const size_t axis = call.size("axis"), rank = indices.dims.size();
  const Dims strides = strides_of(x.dims), of_indices = strides_of(indices.dims);
  return moved(call, [&](const Dims& places) {
    size_t index = 0, at = 0;
    for (size_t d = 0; d < rank; ++d) {
      index += places[axis + d] * of_indices[d];
    }
    for (size_t d = 0; d < x.dims.size(); ++d) {
      const size_t place = d < axis    ? places[d]
                           : d == axis ? static_cast<size_t>(indices.numbers[index])
                                       : places[d + rank - 1];
      at += std::min(place, x.dims[d] - 1) * strides[d];
    }
    return static_cast<int64_t>(at);
  });
}

}  // namespace

const Row kDataMovement[] = {
    {"Concat", 1, 1024, concat}, {"Gather", 2, 2, gather},
    {"Pad", 1, 1, pad},          {"Reshape", 1, 1, reshape},
    {"Split", 1, 1, split},      {"StridedSlice", 1, 1, strided_slice},
    {"Tile", 1, 1, tile},        {"Transpose", 1, 1, transpose},
    {nullptr, 0, 0, nullptr},
};

}  // namespace executorch::backends::qualcomm::stand_in
