// SPDX-License-Identifier: BSD-3-Clause
// BundledModule: a Module of a bundled program, which runs and verifies its test cases.
//
//   auto module = BundledModule::from_file("model.bpte");
//   (*module)->execute("forward", 0);
//   (*module)->verify_method_outputs("forward", 0);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <executorch/extension/module/module.h>

#define ET_BUNDLED_MODULE_NAMESPACE ET_MODE_NAMESPACE(bundled_module)

namespace executorch {
namespace extension {
ET_DECLARE_MODE_NAMESPACE(bundled_module)

namespace ET_BUNDLED_MODULE_NAMESPACE {

class BundledModule : public Module {
 public:
  // bundled_program_ptr: the bytes of a file that bundled_program::get_program_data() accepted;
  // not owned. Other bytes that are no bundled program make a Module that cannot be loaded. The
  // rest: see Module.
  explicit BundledModule(const void* bundled_program_ptr,
                         std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                         std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                         std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                         std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr);

  // Reads and checks the whole file, and keeps it. AccessFailed when it cannot be read,
  // NotSupported for another kind of file, InvalidProgram for a corrupted one.
  ET_NODISCARD static runtime::Result<std::unique_ptr<BundledModule>> from_file(
      const std::string& file_path,
      std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
      std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
      std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
      std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr);

  BundledModule(const BundledModule&) = delete;
  BundledModule& operator=(const BundledModule&) = delete;
  BundledModule(BundledModule&&) = delete;
  BundledModule& operator=(BundledModule&&) = delete;
  ~BundledModule();

  using Module::execute;

  // Runs a method with the inputs of a test case; errors as of
  // bundled_program::load_bundled_input() and Method::execute().
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method_name,
                                                                     const size_t testset_idx);

  // Holds what the method gave last against a test case: see
  // bundled_program::verify_method_outputs().
  ET_NODISCARD runtime::Error verify_method_outputs(const std::string& method_name,
                                                    const size_t testset_idx, double rtol = 1e-5,
                                                    double atol = 1e-8);

 private:
  struct Free {
    void operator()(void* memory) const;
  };

  std::unique_ptr<void, Free> file_;  // of from_file()
  const void* bundled_program_ptr_;
};

}  // namespace ET_BUNDLED_MODULE_NAMESPACE
}  // namespace extension
}  // namespace executorch
