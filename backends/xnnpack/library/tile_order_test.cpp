// SPDX-License-Identifier: BSD-3-Clause
// Linear layers whose tiles are computed down the columns beside XNNPACK's along the rows.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/tile_order.h>

extern "C" decltype(xnn_reshape_fully_connected_nc_f32) xnn_reshape_fully_connected_nc_f32_any;

namespace executorch::backends::xnnpack::testing {
namespace {

class TileOrder : public ConvolutionTest {
 protected:
  std::vector<float> computed_linear(size_t rows, size_t inputs, size_t outputs, bool& by_columns,
                                     decltype(xnn_reshape_fully_connected_nc_f32)* reshape) {
    xnn_operator_t made = nullptr;
    EXPECT_EQ(xnn_create_fully_connected_nc_f32(inputs, outputs, inputs, outputs, filters_.data(),
                                                bias_.data(), -kInfinity, kInfinity, 0, nullptr,
                                                nullptr, &made),
              xnn_status_success);
    const Operator op(made);
    const Pool pool(pthreadpool_create(3));
    EXPECT_EQ(reshape(op.get(), rows, pool.get()), xnn_status_success);
    by_columns = op->compute[0].range[0] == outputs;
    std::vector<float> output(rows * outputs, kUntouched);
    EXPECT_EQ(xnn_setup_fully_connected_nc_f32(op.get(), input_.data(), output.data()),
              xnn_status_success);
    EXPECT_EQ(xnn_run_operator(op.get(), pool.get()), xnn_status_success);
    return output;
  }
};

TEST_F(TileOrder, GoesDownTheColumnsOfLargeWeights) {
  for (const size_t inputs : {100, 800}) {
    const size_t rows = 37, outputs = 500;
    input_ = draw(rows * inputs);
    filters_ = draw(outputs * inputs);
    bias_ = draw(outputs);
    bool is_ours = false, is_theirs = false;
    EXPECT_EQ(
        computed_linear(rows, inputs, outputs, is_ours, xnn_reshape_fully_connected_nc_f32),
        computed_linear(rows, inputs, outputs, is_theirs, xnn_reshape_fully_connected_nc_f32_any));
    EXPECT_EQ(is_ours, inputs == 800);  // 1.6 MB
    EXPECT_FALSE(is_theirs);
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
