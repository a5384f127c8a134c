// SPDX-License-Identifier: BSD-3-Clause
// GEMMs that pack a panel when they need it beside XNNPACK's, which packs all of them first.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

extern "C" decltype(xnn_reshape_dynamic_fully_connected_nc_f32)
    xnn_reshape_dynamic_fully_connected_nc_f32_any;

namespace executorch::backends::xnnpack::testing {
namespace {

struct Gemm {
  size_t rows, inputs, outputs, threads;
  bool has_bias;
};

/// Whether each of `threads` gets four panels or more; how wide they are depends on the processor.
bool has_enough_panels(const Operator& op, size_t outputs, size_t threads) {
  const size_t width = op->context.gemm.packw_gemm_goi.nr;
  return (outputs + width - 1) / width >= 4 * threads;
}

class PanelGemm : public ConvolutionTest {
 protected:
  using Reshape = decltype(xnn_reshape_dynamic_fully_connected_nc_f32);

  std::vector<float> computed(const Gemm& p, Reshape* reshape, size_t& workspace_size,
                              bool& is_enough) {
    constexpr size_t kGap = 3;  // columns between rows
    xnn_operator_t made = nullptr;
    EXPECT_EQ(xnn_create_dynamic_fully_connected_nc_f32(-1.5f, 2, 0, &made), xnn_status_success);
    const Operator op(made);
    const Pool pool(pthreadpool_create(p.threads));
    size_t alignment = 0;
    EXPECT_EQ(reshape(op.get(), p.rows, p.inputs, p.outputs, p.inputs, p.outputs + kGap,
                      &workspace_size, &alignment, pool.get()),
              xnn_status_success);
    is_enough = has_enough_panels(op, p.outputs, p.threads);
    void* const workspace = std::aligned_alloc(XNN_ALLOCATION_ALIGNMENT, workspace_size);
    std::vector<float> output(p.rows * (p.outputs + kGap), kUntouched);
    EXPECT_EQ(xnn_setup_dynamic_fully_connected_nc_f32(
                  op.get(), workspace, input_.data(), filters_.data(),
                  p.has_bias ? bias_.data() : nullptr, output.data()),
              xnn_status_success);
    EXPECT_EQ(xnn_run_operator(op.get(), pool.get()), xnn_status_success);
    std::free(workspace);
    return output;
  }
};

TEST_F(PanelGemm, AreThoseOfTheWholeMatrix) {
  const Gemm all[] = {
      {1, 70, 1000, 1, true},  {1, 70, 1000, 3, false}, {9, 33, 385, 3, true},
      {37, 5, 512, 2, false},  {200, 64, 777, 3, true}, {16, 1, 1024, 4, true},
      {37, 100, 40, 3, true},   // two panels where they are 32 wide: packs first
      {1025, 3, 512, 2, true},  // so many rows do, too
  };
  for (const Gemm& p : all) {
    SCOPED_TRACE(::testing::Message() << p.rows << " x " << p.inputs << " x " << p.outputs);
    input_ = draw(p.rows * p.inputs + XNN_EXTRA_BYTES);
    filters_ = draw(p.outputs * p.inputs);
    bias_ = draw(p.outputs);
    size_t ours = 0, theirs = 0;
    bool is_enough = false;
    EXPECT_EQ(computed(p, xnn_reshape_dynamic_fully_connected_nc_f32, ours, is_enough),
              computed(p, xnn_reshape_dynamic_fully_connected_nc_f32_any, theirs, is_enough));
    EXPECT_EQ(ours < theirs, is_enough && p.rows < 1025);
  }
}

TEST_F(PanelGemm, FollowTheirSizes) {
  xnn_operator_t made = nullptr;
  ASSERT_EQ(xnn_create_dynamic_fully_connected_nc_f32(-kInfinity, kInfinity, 0, &made),
            xnn_status_success);
  const Operator op(made);
  const Pool pool(pthreadpool_create(2));
  for (const size_t outputs : {1000, 8, 1000}) {
    size_t workspace_size = 0, alignment = 0;
    ASSERT_EQ(xnn_reshape_dynamic_fully_connected_nc_f32(op.get(), 3, 40, outputs, 40, outputs,
                                                         &workspace_size, &alignment, pool.get()),
              xnn_status_success);
    const bool is_joined = has_enough_panels(op, outputs, 2);
    EXPECT_EQ(op->compute[1].type == xnn_parallelization_type_invalid, is_joined);
    EXPECT_EQ(op->compute[0].type == xnn_parallelization_type_1d_with_thread, is_joined);
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
