// SPDX-License-Identifier: BSD-3-Clause
// What tests of kernels and loaders are written with: it passes what is right and fails what is
// wrong.
#include <executorch/extension/testing_util/temp_file.h>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::testing::TempFile;
using executorch::runtime::testing::TensorFactory;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(TempFileTest, HoldsItsContentsAndGoesAway) {
  RecordProperty("req", "EXT-029");
  std::string path;
  {
    const TempFile file(std::string("a\0b", 3));
    path = file.path();
    EXPECT_EQ(contents(path), std::string("a\0b", 3));
    const TempFile sparse(4, "end", 9);
    EXPECT_NE(sparse.path(), path);
    EXPECT_EQ(contents(sparse.path()), std::string("\0\0\0\0end\0\0", 9));
  }
  EXPECT_FALSE(std::ifstream(path).good());
}

// A kernel of a user: out = x * x, and one that forgets the last element.
Tensor& square_out(torch::executor::KernelRuntimeContext&, const Tensor& x, Tensor& out) {
  for (ssize_t i = 0; i < x.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = x.const_data_ptr<float>()[i] * x.const_data_ptr<float>()[i];
  }
  return out;
}

Tensor& wrong_square_out(torch::executor::KernelRuntimeContext& ctx, const Tensor& x, Tensor& out) {
  square_out(ctx, x, out).mutable_data_ptr<float>()[x.numel() - 1] = 0;
  return out;
}

TEST(CustomKernelTest, RightOnesPassAndWrongOnesFail) {
  RecordProperty("req", "KS-011");
  TensorFactory<ScalarType::Float> tf;
  torch::executor::KernelRuntimeContext context;
  const Tensor x = tf.make({2, 2}, {1, -2, 0.5, 3});
  Tensor out = tf.zeros({2, 2});
  EXPECT_TENSOR_EQ(square_out(context, x, out), tf.make({2, 2}, {1, 4, 0.25, 9}));
  EXPECT_TENSOR_CLOSE(out, tf.make({2, 2}, {1, 4, 0.25, 9.000001f}));
  static Tensor* wrong = nullptr;  // the macro's statement sees no local variables
  Tensor wrong_out = tf.zeros({2, 2});
  wrong = &wrong_square_out(context, x, wrong_out);
  EXPECT_NONFATAL_FAILURE(
      {
        TensorFactory<ScalarType::Float> factory;
        EXPECT_TENSOR_CLOSE(*wrong, factory.make({2, 2}, {1, 4, 0.25, 9}));
      },
      "");
}

TEST(CustomKernelTest, ComparingSeesDtypeShapeAndNan) {
  RecordProperty("req", "KS-011");
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Double> td;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TENSOR_NE(tf.make({2}, {1, 2}), td.make({2}, {1, 2}));
  EXPECT_TENSOR_NE(tf.make({2}, {1, 2}), tf.make({2, 1}, {1, 2}));
  EXPECT_TENSOR_NOT_CLOSE(tf.make({2}, {1, nan}), tf.make({2}, {1, 2}));
  EXPECT_TENSOR_CLOSE(tf.make({2}, {1, nan}), tf.make({2}, {1, nan}));
  EXPECT_TENSOR_NOT_CLOSE(tf.make({2}, {1, 2}), tf.make({2}, {1, 2.001f}));
}

}  // namespace
