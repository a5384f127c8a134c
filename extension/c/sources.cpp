// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/sources.h>

#include <executorch/extension/c/structs.h>
#include <executorch/runtime/backend/interface.h>

#include <array>
#include <cstring>

namespace executorch::extension::c {

using runtime::BackendOption;
using runtime::Error;
using runtime::Result;

namespace {

Result<BackendOption> read_option(const ExecuTorchOption& given) {
  ET_CHECK_OR_RETURN_ERROR(given.backend != nullptr && given.key != nullptr, InvalidArgument,
                           "expected backend and key of an option, found NULL");
  const size_t length = std::strlen(given.key);
  ET_CHECK_OR_RETURN_ERROR(length > 0 && length < runtime::kMaxOptionKeyLength, InvalidArgument,
                           "expected an option's key of 1 to %zu bytes, found %zu",
                           runtime::kMaxOptionKeyLength - 1, length);
  BackendOption option{};
  std::memcpy(option.key, given.key, length);
  switch (given.kind) {
    case EXECUTORCH_BOOLEAN:
      option.value = given.integer != 0;
      return option;
    case EXECUTORCH_INT:
      option.value = static_cast<int>(given.integer);
      return option;
    case EXECUTORCH_STRING: {
      const size_t size = given.text == nullptr ? 0 : std::strlen(given.text);
      ET_CHECK_OR_RETURN_ERROR(size < runtime::kMaxOptionValueLength, InvalidArgument,
                               "option %s of %s: expected at most %zu bytes, found %zu", given.key,
                               given.backend, runtime::kMaxOptionValueLength - 1, size);
      std::array<char, runtime::kMaxOptionValueLength> text{};
      std::copy_n(given.text, size, text.data());
      option.value = text;
      return option;
    }
    default:
      ET_LOG(Error, "option %s of %s: expected a boolean, an int or a string, found kind %d",
             given.key, given.backend, given.kind);
      return Error::InvalidArgument;
  }
}

// The text that get_backend_option() last gave to this thread.
thread_local std::array<char, runtime::kMaxOptionValueLength> text_of_option{};

Error write_option(const BackendOption& found, ExecuTorchOption* out) {
  const bool fits = found.value.index() == (out->kind == EXECUTORCH_BOOLEAN ? 0u
                                            : out->kind == EXECUTORCH_INT   ? 1u
                                                                            : 2u);
  ET_CHECK_OR_RETURN_ERROR(fits, InvalidArgument, "option %s of %s is of another kind than %d",
                           out->key, out->backend, out->kind);
  if (const bool* boolean = std::get_if<bool>(&found.value)) {
    out->integer = *boolean ? 1 : 0;
  } else if (const int* integer = std::get_if<int>(&found.value)) {
    out->integer = *integer;
  } else {
    text_of_option = std::get<2>(found.value);
    out->text = text_of_option.data();
  }
  return Error::Ok;
}

}  // namespace

Result<std::unique_ptr<Source>> Source::create(const ExecuTorchSource& given) {
  ET_CHECK_OR_RETURN_ERROR(given.path != nullptr || given.data != nullptr, InvalidArgument,
                           "expected a path or data of a file, found NULL");
  return std::unique_ptr<Source>(new Source(given));
}

Source::~Source() {
  if (is_taken_ && !is_path() && given_.release != nullptr) {
    given_.release(given_.context, given_.data);
  }
}

Result<Options> Options::create(const ExecuTorchOption* options, size_t num_options) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_array(options, num_options, "options of backends"));
  Options all;
  for (size_t i = 0; i < num_options; ++i) {
    const BackendOption option = ET_UNWRAP(read_option(options[i]));
    all.by_backend_[options[i].backend].push_back(option);
  }
  return all;
}

Result<runtime::LoadBackendOptionsMap> Options::map() {
  runtime::LoadBackendOptionsMap map;
  for (auto& [backend, options] : by_backend_) {
    ET_CHECK_OK_OR_RETURN_ERROR(map.set_options(backend.c_str(), {options.data(), options.size()}));
  }
  return map;
}

ExecuTorchStatus backend_name(size_t index, const char** out_name) noexcept {
  return guard("backend_name", [&]() -> Error {
    ET_C_NOT_NULL(out_name);
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_below(runtime::get_num_registered_backends(), index, "backend"));
    *out_name = ET_UNWRAP(runtime::get_backend_name(index));
    return Error::Ok;
  });
}

ExecuTorchStatus set_backend_options(const ExecuTorchOption* options, size_t num_options) noexcept {
  return guard("set_backend_options", [&]() -> Error {
    Options all = ET_UNWRAP(Options::create(options, num_options));
    for (auto& [backend, its_options] : all.by_backend()) {
      ET_CHECK_OK_OR_RETURN_ERROR(
          runtime::set_option(backend.c_str(), {its_options.data(), its_options.size()}),
          "backend %s does not take these options", backend.c_str());
    }
    return Error::Ok;
  });
}

ExecuTorchStatus get_backend_option(ExecuTorchOption* option) noexcept {
  return guard("get_backend_option", [&]() -> Error {
    ET_C_NOT_NULL(option);
    ExecuTorchOption asked = *option;
    asked.text = nullptr;
    BackendOption found = ET_UNWRAP(read_option(asked));
    ET_CHECK_OK_OR_RETURN_ERROR(runtime::get_option(asked.backend, {&found, 1}),
                                "backend %s does not say its option %s", asked.backend, asked.key);
    return write_option(found, option);
  });
}

Result<std::shared_ptr<Sources>> Sources::create(const ExecuTorchModuleOptions& given) {
  ET_CHECK_OR_RETURN_ERROR(
      given.load_mode >= EXECUTORCH_LOAD_FILE && given.load_mode <= EXECUTORCH_LOAD_MMAP_READ_AHEAD,
      InvalidArgument, "expected a load mode from 0 to %d, found %d",
      EXECUTORCH_LOAD_MMAP_READ_AHEAD, given.load_mode);
  ET_CHECK_OK_OR_RETURN_ERROR(check_array(given.data_files, given.num_data_files, "data files"));
  auto sources = std::make_shared<Sources>();
  sources->program = ET_UNWRAP(Source::create(given.program));
  for (size_t i = 0; i < given.num_data_files; ++i) {
    sources->data_files.push_back(ET_UNWRAP(Source::create(given.data_files[i])));
  }
  sources->backend_options =
      ET_UNWRAP(Options::create(given.backend_options, given.num_backend_options));
  sources->load_mode = static_cast<Module::LoadMode>(given.load_mode);
  sources->is_structure_trusted = given.is_structure_trusted != 0;
  sources->records_events = given.records_events != 0 || given.value_buffer_size != 0;
  sources->shares_planned_memory = given.shares_planned_memory != 0;
  sources->value_buffer_size = given.value_buffer_size;
  return sources;
}

}  // namespace executorch::extension::c
