// SPDX-License-Identifier: BSD-3-Clause
// out = sum, mean, extremum, its place, or variance over some dimensions. The walk is over the others: operands are in and out.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glslh"
#include "iteration.glslh"

BUFFER(1, x)
BUFFER(2, y)
// 0 sum, 1 mean, 2 largest, 3 smallest, 4 its place, 5 the smallest's, 6 variance
layout(constant_id = 2) const int CODE = 0;
layout(constant_id = 3) const int LANES = 1;
layout(std140, set = 0, binding = 0) uniform Params {
  ITERATION
  int count;
  int inner_rank;
  ivec4 inner_sizes[2];
  ivec4 inner_strides[2];
  float divisor;
};
#include "lanes.glslh"

int inner_place(int i) {
  int place = 0;
  for (int d = 0; d < inner_rank; ++d) {
    const int size = inner_sizes[d >> 2][d & 3];
    place += i % size * inner_strides[d >> 2][d & 3];
    i /= size;
  }
  return place;
}

// Whether (v, i) wins over (best, at): not a number does, then the first of equals.
bool wins(float v, int i, float best, int at) {
  if (isnan(v) || isnan(best)) {
    return isnan(v) && (!isnan(best) || i < at);
  }
  return CODE == 4 || CODE == 2 ? v > best || (v == best && i < at) : v < best || (v == best && i < at);
}

void main() {
  const int row = row_number();
  if (row >= numel) {
    return;
  }
  PLACES_OF(row)
  if (CODE == 0 || CODE == 1 || CODE == 6) {
    float sum = 0.0;
    for (int i = lane(); i < count; i += LANES) {
      sum += x_float(places.x + inner_place(i));
    }
    sum = over_lanes_sum(sum);
    float result = CODE == 0 ? sum : sum / float(count);
    if (CODE == 6) {
      const float mean = result;
      sum = 0.0;
      for (int i = lane(); i < count; i += LANES) {
        const float d = x_float(places.x + inner_place(i)) - mean;
        sum += d * d;
      }
      result = over_lanes_sum(sum) / divisor;
    }
    if (lane() == 0) {
      y_set_float(places.y, result);
    }
    return;
  }
  float best = x_float(places.x + inner_place(min(lane(), count - 1)));
  int at = min(lane(), count - 1);
  for (int i = lane() + LANES; i < count; i += LANES) {
    const float v = x_float(places.x + inner_place(i));
    if (wins(v, i, best, at)) {
      best = v;
      at = i;
    }
  }
  if (LANES > 1) {
    lane_values[lane()] = best;
    lane_places[lane()] = at;
    barrier();
    for (int other = 0; other < 64; ++other) {
      if (wins(lane_values[other], lane_places[other], best, at)) {
        best = lane_values[other];
        at = lane_places[other];
      }
    }
  }
  if (lane() == 0) {
    if (CODE == 4 || CODE == 5) {
      y_set_int(places.y, at);
    } else {
      y_set_float(places.y, best);
    }
  }
}
