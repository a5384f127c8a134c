// SPDX-License-Identifier: BSD-3-Clause
// Bundled programs (.bpte): a program with test cases, to be run and verified on a device.
//
//   const void* program_data; size_t program_size;
//   get_program_data(file, file_size, &program_data, &program_size);  // also takes a .pte
//   ... load the method "forward" of the program ...
//   load_bundled_input(*method, file, 0);
//   method->execute();
//   verify_method_outputs(*method, file, 0);
//
// A file is checked by get_program_data(); the functions that are given no size rely on that.
// Inputs that the memory plan leaves to the caller point into the file.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/platform/compiler.h>

#define BUNDLED_PROGRAM_NAMESPACE ET_MODE_NAMESPACE(bundled_program)

namespace executorch {
ET_DECLARE_MODE_NAMESPACE(bundled_program)

namespace BUNDLED_PROGRAM_NAMESPACE {

using ::executorch::ET_RUNTIME_NAMESPACE::Method;

/// The bytes of a file.
using SerializedBundledProgram = const void;

/// How far the outputs of a method are from the expected ones, over all elements.
struct ErrorStats {
  ::executorch::runtime::Error status;  // Ok: the numbers hold
  double mean_abs_error;
  double max_abs_error;
  double mean_relative_error;  // relative to the larger of both values, and 1e-8
  double max_relative_error;
};

/// Gives the inputs of case `testset_idx` to the method. NotSupported for what is no bundled
/// program or an input that the method does not take, InvalidArgument for a method without cases or
/// an index beyond them.
ET_NODISCARD ::executorch::runtime::Error load_bundled_input(
    Method& method, SerializedBundledProgram* bundled_program_ptr, size_t testset_idx);

/// Holds the method's outputs against the expected ones: floating point by |a - b| <= atol + rtol *
/// |b|, b being the output, NaN equal to NaN; other types (BFloat16, too) bit by bit. NotFound when
/// one differs, NotSupported without expected outputs; else as load_bundled_input().
ET_NODISCARD ::executorch::runtime::Error verify_method_outputs(
    Method& method, SerializedBundledProgram* bundled_program_ptr, size_t testset_idx,
    double rtol = 1e-5, double atol = 1e-8);

/// For outputs of type Float; `status` InvalidArgument when there is nothing to compare with, or
/// sizes differ, NotSupported for other types.
ET_NODISCARD ErrorStats compute_method_output_error_stats(
    Method& method, SerializedBundledProgram* bundled_program_ptr, size_t testset_idx);

/// The program of a bundled program, in place. NotSupported for other files (of which a program is
/// one: use it as it is), InvalidProgram for a corrupted one.
ET_NODISCARD ::executorch::runtime::Error get_program_data(void* file_data, size_t file_data_len,
                                                           const void** out_program_data,
                                                           size_t* out_program_data_len);

/// Whether the bytes say that they are one. Nothing is checked.
bool is_bundled_program(void* file_data, size_t file_data_len);

/// `file_data` has at least 8 bytes.
ET_DEPRECATED inline bool is_bundled_program(void* file_data) {
  return is_bundled_program(file_data, 8);
}

}  // namespace BUNDLED_PROGRAM_NAMESPACE
}  // namespace executorch

namespace torch {
namespace executor {
namespace bundled_program {

// The historic spellings.
using serialized_bundled_program =
    ::executorch::BUNDLED_PROGRAM_NAMESPACE::SerializedBundledProgram;

ET_NODISCARD inline ::executorch::runtime::Error LoadBundledInput(
    ::executorch::ET_RUNTIME_NAMESPACE::Method& method,
    serialized_bundled_program* bundled_program_ptr, size_t testset_idx) {
  return ::executorch::BUNDLED_PROGRAM_NAMESPACE::load_bundled_input(method, bundled_program_ptr,
                                                                     testset_idx);
}

ET_NODISCARD inline ::executorch::runtime::Error VerifyResultWithBundledExpectedOutput(
    ::executorch::ET_RUNTIME_NAMESPACE::Method& method,
    serialized_bundled_program* bundled_program_ptr, size_t testset_idx, double rtol = 1e-5,
    double atol = 1e-8) {
  return ::executorch::BUNDLED_PROGRAM_NAMESPACE::verify_method_outputs(method, bundled_program_ptr,
                                                                        testset_idx, rtol, atol);
}

ET_NODISCARD inline ::executorch::runtime::Error GetProgramData(void* file_data,
                                                                size_t file_data_len,
                                                                const void** out_program_data,
                                                                size_t* out_program_data_len) {
  return ::executorch::BUNDLED_PROGRAM_NAMESPACE::get_program_data(
      file_data, file_data_len, out_program_data, out_program_data_len);
}

inline bool IsBundledProgram(void* file_data) {
  return ::executorch::BUNDLED_PROGRAM_NAMESPACE::is_bundled_program(file_data, 8);
}

}  // namespace bundled_program
}  // namespace executor
}  // namespace torch
