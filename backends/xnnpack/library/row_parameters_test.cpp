// SPDX-License-Identifier: BSD-3-Clause
// No kernel reads parameters of more rows than are repeated.
#include "xnnpack.h"
#include "xnnpack/config.h"

#include <gtest/gtest.h>

namespace {

using Configuration = const xnn_gemm_config* (*)();

constexpr Configuration kMatmuls[] = {
    xnn_init_f16_gemm_config,          xnn_init_f32_gemm_config,
    xnn_init_f32_gemm_nr2_config,      xnn_init_f32_qc8w_gemm_config,
    xnn_init_f32_qc4w_gemm_config,     xnn_init_pf32_gemm_config,
    xnn_init_qd8_f16_qb4w_gemm_config, xnn_init_qd8_f16_qc4w_gemm_config,
    xnn_init_qd8_f16_qc8w_gemm_config, xnn_init_qd8_f32_qb4w_gemm_config,
    xnn_init_qd8_f32_qc4w_gemm_config, xnn_init_qd8_f32_qc8w_gemm_config,
    xnn_init_qp8_f32_qc4w_gemm_config, xnn_init_qp8_f32_qb4w_gemm_config,
    xnn_init_qs8_qc8w_gemm_config,     xnn_init_qu8_gemm_config,
};

TEST(Limits, ParametersAreRepeatedForEveryKernel) {
  ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  size_t found = 0;
  for (Configuration configuration : kMatmuls) {
    const xnn_gemm_config* const matmul = configuration();
    if (matmul != nullptr) {  // null where the processor has no kernel
      ++found;
      EXPECT_LE(matmul->mr, XNN_EXTRA_QUANTIZATION_PARAMS);
    }
  }
  EXPECT_GT(found, 0u);
}

}  // namespace
