// SPDX-License-Identifier: BSD-3-Clause
#include "xnnpack.h"
#include "xnnpack/config.h"
#include "xnnpack/operator.h"

#include <gtest/gtest.h>

namespace {

using Configuration = const xnn_gemm_config* (*)();

constexpr Configuration kProducts[] = {
    xnn_init_f16_gemm_config,          xnn_init_f32_gemm_config,
    xnn_init_f32_gemm_nr2_config,      xnn_init_f32_qc8w_gemm_config,
    xnn_init_f32_qc4w_gemm_config,     xnn_init_pf32_gemm_config,
    xnn_init_qd8_f16_qb4w_gemm_config, xnn_init_qd8_f16_qc4w_gemm_config,
    xnn_init_qd8_f16_qc8w_gemm_config, xnn_init_qd8_f32_qb4w_gemm_config,
    xnn_init_qd8_f32_qc4w_gemm_config, xnn_init_qd8_f32_qc8w_gemm_config,
    xnn_init_qp8_f32_qc4w_gemm_config, xnn_init_qp8_f32_qb4w_gemm_config,
    xnn_init_qs8_qc8w_gemm_config,     xnn_init_qu8_gemm_config,
};

TEST(Limits, OperatorsHaveRoomForEveryKernelOfProducts) {
  ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  size_t found = 0;
  for (Configuration configuration : kProducts) {
    const xnn_gemm_config* const products = configuration();
    if (products != nullptr) {  // null where the processor has no kernel
      ++found;
      EXPECT_LE(products->mr, XNN_MAX_MR);
      EXPECT_LE(products->mr, XNN_EXTRA_QUANTIZATION_PARAMS);
    }
  }
  EXPECT_GT(found, 0u);
  EXPECT_EQ(std::size(xnn_ukernel_gemm{}.gemm_cases), 16u);
}

}  // namespace
