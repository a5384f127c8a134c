// SPDX-License-Identifier: BSD-3-Clause
// Sums and means in larger tasks beside XNNPACK's of two rows.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

extern "C" decltype(xnn_reshape_reduce_nd) xnn_reshape_reduce_nd_any;

namespace executorch::backends::xnnpack::testing {
namespace {

class RowSums : public ConvolutionTest {
 protected:
  /// `num_tasks`: along the rows.
  std::vector<float> computed_means(const std::vector<size_t>& shape,
                                    const std::vector<int64_t>& axes, size_t num_results,
                                    decltype(xnn_reshape_reduce_nd)* reshape, size_t& num_tasks) {
    xnn_operator_t made = nullptr;
    const xnn_quantization_params none{};
    EXPECT_EQ(xnn_create_reduce_nd(xnn_reduce_mean, xnn_datatype_fp32, &none, &none, 0, &made),
              xnn_status_success);
    const Operator op(made);
    const Pool pool(pthreadpool_create(3));
    EXPECT_EQ(reshape(op.get(), axes.size(), axes.data(), shape.size(), shape.data(), nullptr,
                      nullptr, pool.get()),
              xnn_status_success);
    const compute_parameters& step = op->compute[0];
    num_tasks = (step.range[2] + step.tile[1] - 1) / step.tile[1];
    std::vector<float> output(num_results);
    EXPECT_EQ(xnn_setup_reduce_nd(op.get(), nullptr, input_.data(), output.data()),
              xnn_status_success);
    EXPECT_EQ(xnn_run_operator(op.get(), pool.get()), xnn_status_success);
    return output;
  }
};

TEST_F(RowSums, HasFewTasksAndTheSameMeans) {
  struct Case {
    std::vector<size_t> shape;
    std::vector<int64_t> axes;
    size_t results, tasks, their_tasks;
  };
  for (const Case& c : {
           Case{{1, 5356, 31}, {2}, 5356, 12, 2678},                     // 4 tasks a thread
           Case{{245, 130}, {1}, 245, 4, 123},                           // 63 rows have 32 KiB
           Case{{3, 1}, {1}, 3, 1, 2}, Case{{7, 20000}, {-1}, 7, 4, 4},  // rows of more than that
           Case{{2, 3, 40, 6}, {1, 3}, 80, 1, 20},
           Case{{245, 130, 1, 1}, {1, 2}, 245, 4, 1},  // theirs by columns
           Case{{245, 130, 1, 1}, {-3}, 245, 4, 1}, Case{{4, 30, 16}, {1}, 64, 1, 1},  // no rows
       }) {
    size_t size = 1;
    for (const size_t each : c.shape) {
      size *= each;
    }
    input_ = draw(size);
    size_t ours = 0, theirs = 0;
    EXPECT_THAT(
        computed_means(c.shape, c.axes, c.results, xnn_reshape_reduce_nd, ours),
        SumsAre(computed_means(c.shape, c.axes, c.results, xnn_reshape_reduce_nd_any, theirs)));
    EXPECT_EQ(ours, c.tasks);
    EXPECT_EQ(theirs, c.their_tasks);
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
