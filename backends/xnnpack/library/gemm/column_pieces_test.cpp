// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of dynamically quantized rows, by threads that have pieces of the columns, beside
// XNNPACK's by tiles.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "xnnpack.h"
#include "xnnpack/compute.h"
#include "xnnpack/operator.h"

extern "C" decltype(xnn_reshape_fully_connected_nc_qd8_f32_qc4w)
    xnn_reshape_fully_connected_nc_qd8_f32_qc4w_any;

namespace {

using Reshape = decltype(xnn_reshape_fully_connected_nc_qd8_f32_qc4w)*;
using Pool = std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)>;

struct Layer {
  size_t rows, columns, depth;
};

class ColumnPieces : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success); }

  /// `by_pieces` becomes whether the step is over those.
  static std::vector<float> computed(const Layer& l, size_t threads, Reshape reshape,
                                     bool* by_pieces) {
    std::mt19937 random(static_cast<uint32_t>(l.columns * 1000 + l.depth));
    std::vector<uint8_t> weights(l.columns * ((l.depth + 1) / 2));  // two a byte
    for (uint8_t& each : weights) {
      each = static_cast<uint8_t>(random());
    }
    std::vector<int8_t> input(l.rows * l.depth + XNN_EXTRA_BYTES);
    for (int8_t& each : input) {
      each = static_cast<int8_t>(random());
    }
    const std::vector<float> scales(l.columns, 0.01f), bias(l.columns, 0.5f);
    const std::vector<xnn_quantization_params> rows(l.rows + XNN_EXTRA_QUANTIZATION_PARAMS,
                                                    {/*zero_point=*/3, /*scale=*/0.02f});
    std::vector<float> output(l.rows * l.columns, -1.0f);
    xnn_operator_t op = nullptr;
    EXPECT_EQ(xnn_create_fully_connected_nc_qd8_f32_qc4w(
                  l.depth, l.columns, l.depth, l.columns, /*kernel_zero_point=*/8, scales.data(),
                  weights.data(), bias.data(), -1e9f, 1e9f, /*flags=*/0, nullptr, nullptr, &op),
              xnn_status_success);
    const Pool pool(pthreadpool_create(threads), pthreadpool_destroy);
    EXPECT_EQ(reshape(op, l.rows, pool.get()), xnn_status_success);
    *by_pieces = op->compute[0].type == xnn_parallelization_type_1d;
    EXPECT_EQ(
        xnn_setup_fully_connected_nc_qd8_f32_qc4w(op, input.data(), output.data(), rows.data()),
        xnn_status_success);
    EXPECT_EQ(xnn_run_operator(op, pool.get()), xnn_status_success);
    EXPECT_EQ(xnn_delete_operator(op), xnn_status_success);
    return output;
  }
};

TEST_F(ColumnPieces, ComputeWhatTilesDo) {
  // Pieces of one panel up to some hundred, and columns that fill no panel.
  for (const Layer& layer : {Layer{1, 5, 8}, Layer{1, 64, 40}, Layer{1, 1000, 96},
                             Layer{1, 4099, 257}, Layer{2, 2048, 512}, Layer{1, 515, 4096}}) {
    for (const size_t threads : {1, 2, 3, 7}) {
      bool ours = false, theirs = false;
      EXPECT_EQ(computed(layer, threads, xnn_reshape_fully_connected_nc_qd8_f32_qc4w, &ours),
                computed(layer, threads, xnn_reshape_fully_connected_nc_qd8_f32_qc4w_any, &theirs))
          << layer.columns << " columns, " << threads << " threads";
      EXPECT_FALSE(theirs);
      EXPECT_TRUE(threads > 1 || !ours);
    }
  }
}

TEST_F(ColumnPieces, AreOfOneTileOfRows) {
  for (const size_t rows : {1, 200}) {
    bool by_pieces = false;
    computed({rows, 1024, 256}, 2, xnn_reshape_fully_connected_nc_qd8_f32_qc4w, &by_pieces);
    EXPECT_EQ(by_pieces, rows == 1);
  }
}

}  // namespace
