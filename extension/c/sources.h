// SPDX-License-Identifier: BSD-3-Clause
// What modules are made from: files or bytes, options, memory. Modules that share a program share
// one of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <executorch/extension/c/status.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/backend/backend_options_map.h>

namespace executorch::extension::c {

// A file or its bytes. Gives the bytes back at its end, once it is theirs.
class Source {
 public:
  static runtime::Result<std::unique_ptr<Source>> create(const ExecuTorchSource& given);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  bool is_path() const { return given_.path != nullptr; }
  const std::string& path() const { return path_; }
  const void* data() const { return given_.data; }
  size_t size() const { return given_.size; }
  void take_over() { is_taken_ = true; }

 private:
  explicit Source(const ExecuTorchSource& given)
      : given_(given), path_(given.path == nullptr ? "" : given.path) {}

  ExecuTorchSource given_;
  std::string path_;
  bool is_taken_ = false;
};

// Options by backend, copied.
class Options {
 public:
  static runtime::Result<Options> create(const ExecuTorchOption* options, size_t num_options);

  // Refers to this.
  runtime::Result<runtime::LoadBackendOptionsMap> map();
  std::map<std::string, std::vector<runtime::BackendOption>>& by_backend() { return by_backend_; }

 private:
  std::map<std::string, std::vector<runtime::BackendOption>> by_backend_;
};

ExecuTorchStatus backend_name(size_t index, const char** out_name) noexcept;
ExecuTorchStatus set_backend_options(const ExecuTorchOption* options, size_t num_options) noexcept;
ExecuTorchStatus get_backend_option(ExecuTorchOption* option) noexcept;

// All of one module_load().
struct Sources {
  static runtime::Result<std::shared_ptr<Sources>> create(const ExecuTorchModuleOptions& given);

  std::unique_ptr<Source> program;
  std::vector<std::unique_ptr<Source>> data_files;
  Options backend_options;
  Module::LoadMode load_mode = Module::LoadMode::File;
  bool is_structure_trusted = false;
  bool records_events = false;
  bool shares_planned_memory = false;
  size_t value_buffer_size = 0;
};

}  // namespace executorch::extension::c
