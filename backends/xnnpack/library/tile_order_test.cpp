// SPDX-License-Identifier: BSD-3-Clause
// Linear layers whose tiles are computed down the columns beside XNNPACK's along the rows.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

extern "C" decltype(xnn_reshape_fully_connected_nc_f32) xnn_reshape_fully_connected_nc_f32_any;

namespace executorch::backends::xnnpack::testing {
namespace {

class TileOrder : public ConvolutionTest {};

TEST_F(TileOrder, GoesDownTheColumnsOfLargeWeights) {
  for (const size_t inputs : {100, 800}) {
    const Image c = matrix(37, inputs, 500);
    draw_for(c);
    const Operator ours = create_linear(c), theirs = create_linear(c);
    EXPECT_EQ(computed_linear(c, ours.get(), 3),
              computed_linear(c, theirs.get(), 3, xnn_reshape_fully_connected_nc_f32_any));
    EXPECT_EQ(ours->compute[0].range[0] == c.outputs, inputs == 800);  // 1.6 MB
    EXPECT_NE(theirs->compute[0].range[0], c.outputs);
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
