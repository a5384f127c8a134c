// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/module/bundled_module.h>

#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/devtools/bundled_program/schema/bundled_program_schema_generated.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/platform/log.h>

namespace executorch {
namespace extension {
namespace ET_BUNDLED_MODULE_NAMESPACE {

using runtime::Error;
using runtime::EValue;
using runtime::Result;

namespace {

constexpr size_t kAlignment = 64;  // more than any part of the file needs
constexpr size_t kIdentifierEnd = 8;

// Of bytes that have been checked, or that the caller answers for.
std::unique_ptr<runtime::DataLoader> program_loader(const void* file) {
  if (!bundled_program::is_bundled_program(const_cast<void*>(file), kIdentifierEnd)) {
    return std::make_unique<BufferDataLoader>(file, 0);
  }
  const auto* program = bundled_program_flatbuffer::GetBundledProgram(file)->program();
  return std::make_unique<BufferDataLoader>(program->data(), program->size());
}

}  // namespace

BundledModule::BundledModule(const void* bundled_program_ptr,
                             std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
                             std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
                             std::unique_ptr<runtime::EventTracer> event_tracer,
                             std::unique_ptr<runtime::DataLoader> data_map_loader)
    : Module(program_loader(bundled_program_ptr), std::move(memory_allocator),
             std::move(temp_allocator), std::move(event_tracer), std::move(data_map_loader)),
      bundled_program_ptr_(bundled_program_ptr) {}

// Methods go before the file that they point into.
BundledModule::~BundledModule() {
  methods_.clear();
}

void BundledModule::Free::operator()(void* memory) const {
  std::free(memory);
}

Result<std::unique_ptr<BundledModule>> BundledModule::from_file(
    const std::string& file_path, std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
    std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
    std::unique_ptr<runtime::EventTracer> event_tracer,
    std::unique_ptr<runtime::DataLoader> data_map_loader) {
  std::ifstream stream(file_path, std::ios::binary | std::ios::ate);
  ET_CHECK_OR_RETURN_ERROR(stream.is_open(), AccessFailed, "Cannot read %s: %s", file_path.c_str(),
                           std::strerror(errno));
  const auto size = static_cast<size_t>(stream.tellg());
  std::unique_ptr<void, Free> file(
      std::aligned_alloc(kAlignment, (size / kAlignment + 1) * kAlignment));
  ET_CHECK_OR_RETURN_ERROR(file != nullptr, MemoryAllocationFailed,
                           "No memory for the %zu bytes of %s", size, file_path.c_str());
  stream.seekg(0);
  stream.read(static_cast<char*>(file.get()), static_cast<std::streamsize>(size));
  ET_CHECK_OR_RETURN_ERROR(stream.good(), AccessFailed, "Cannot read the %zu bytes of %s", size,
                           file_path.c_str());
  const void* program = nullptr;
  size_t program_size = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      bundled_program::get_program_data(file.get(), size, &program, &program_size),
      "%s is no bundled program that can be run", file_path.c_str());
  auto module = std::make_unique<BundledModule>(file.get(), std::move(memory_allocator),
                                                std::move(temp_allocator), std::move(event_tracer),
                                                std::move(data_map_loader));
  module->file_ = std::move(file);
  return module;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // test cases are loaded into a Method

Result<std::vector<EValue>> BundledModule::execute(const std::string& method_name,
                                                   const size_t testset_idx) {
  auto* const found = ET_UNWRAP(method(method_name));
  ET_CHECK_OK_OR_RETURN_ERROR(
      bundled_program::load_bundled_input(*found, bundled_program_ptr_, testset_idx));
  ET_CHECK_OK_OR_RETURN_ERROR(found->execute(), "Method %s failed", method_name.c_str());
  return get_outputs(method_name);
}

Error BundledModule::verify_method_outputs(const std::string& method_name, const size_t testset_idx,
                                           double rtol, double atol) {
  auto* const found = ET_UNWRAP(method(method_name));
  return bundled_program::verify_method_outputs(*found, bundled_program_ptr_, testset_idx, rtol,
                                                atol);
}

#pragma GCC diagnostic pop

}  // namespace ET_BUNDLED_MODULE_NAMESPACE
}  // namespace extension
}  // namespace executorch
