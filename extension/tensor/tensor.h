// SPDX-License-Identifier: BSD-3-Clause
// Everything for making and managing tensors.
#pragma once

#include <executorch/extension/tensor/tensor_accessor.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
