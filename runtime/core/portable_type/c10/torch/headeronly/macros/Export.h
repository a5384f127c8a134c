// SPDX-License-Identifier: BSD-3-Clause
// Symbol visibility.
#pragma once

#ifndef C10_MACROS_EXPORT_H_
#define C10_MACROS_EXPORT_H_

#if defined(_WIN32)
#define C10_EXPORT
#define C10_IMPORT
#define C10_HIDDEN
#else
#define C10_EXPORT __attribute__((__visibility__("default")))
#define C10_IMPORT C10_EXPORT
#define C10_HIDDEN __attribute__((__visibility__("hidden")))
#endif

#define C10_API C10_EXPORT
#define C10_API_ENUM C10_API
#ifndef TORCH_API
#define TORCH_API C10_API
#endif
#define TORCH_CUDA_CPP_API C10_API
#define TORCH_CUDA_CU_API C10_API
#define TORCH_XPU_API C10_API

#endif  // C10_MACROS_EXPORT_H_
