// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, in place of its function that orders the filters of float
// convolutions: that one copies a number at a time, and was half of the time to load a ResNet.
#include <algorithm>
#include <cstddef>

extern "C" {

/// XNNPACK's own under another name (third-party/xnnpack.cmake), for kernels that read groups of
/// values of one filter.
void xnn_pack_f32_conv_goki_w_any(size_t groups, size_t filters, size_t taps, size_t channels,
                                  size_t panel, size_t kr, size_t sr, const float* weights,
                                  const float* bias, const void* scale, float* packed,
                                  size_t extra_bytes, const void* params);

/// `weights` is [groups, filters, taps, channels]. For each `panel` of filters of a group, the last
/// one padded: their biases, then their weights as [taps * channels, panel].
void xnn_pack_f32_conv_goki_w(size_t groups, size_t filters, size_t taps, size_t channels,
                              size_t panel, size_t kr, size_t sr, const float* weights,
                              const float* bias, const void* scale, float* packed,
                              size_t extra_bytes, const void* params) {
  if (kr != 1 || sr != 1 || extra_bytes != 0) {
    return xnn_pack_f32_conv_goki_w_any(groups, filters, taps, channels, panel, kr, sr, weights,
                                        bias, scale, packed, extra_bytes, params);
  }
  constexpr size_t kLine = 16;  // floats of a filter that are read at a time
  const size_t length = taps * channels;
  for (size_t group = 0; group < groups; ++group) {
    for (size_t first = 0; first < filters; first += panel) {
      const size_t count = std::min(panel, filters - first);
      if (bias != nullptr) {
        std::copy_n(bias + group * filters + first, count, packed);
      }
      packed += panel;
      for (size_t start = 0; start < length; start += kLine) {
        const size_t end = std::min(start + kLine, length);
        for (size_t filter = 0; filter < count; ++filter) {
          for (size_t k = start; k < end; ++k) {
            packed[k * panel + filter] = weights[filter * length + k];
          }
        }
      }
      packed += length * panel;
      weights += count * length;
    }
  }
}

}  // extern "C"
