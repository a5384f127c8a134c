/* SPDX-License-Identifier: BSD-3-Clause */
/* A choice of the user of a delegate: convolutions of floats without the transforms of winograd.h,
   which round otherwise than a sum of products does. Included from C. */
#pragma once

/// A flag of xnn_define_convolution_2d(), beside XNNPACK's own. None where the library is built
/// without those transforms.
#ifdef EXECUTORCH_XNNPACK_WINOGRAD
#define EXECUTORCH_XNN_FLAG_NO_WINOGRAD 0x02000000u
#else
#define EXECUTORCH_XNN_FLAG_NO_WINOGRAD 0u
#endif
