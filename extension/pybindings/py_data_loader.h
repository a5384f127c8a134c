// SPDX-License-Identifier: BSD-3-Clause
// A DataLoader that Python code holds and gives to a program once.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/runtime/core/data_loader.h>

namespace executorch::extension::pybindings {

// Shared by the modules data_loader, which makes them, and _portable_lib, which uses them.
class PyDataLoader {
 public:
  PyDataLoader(std::unique_ptr<executorch::runtime::DataLoader> loader, pybind11::object owner)
      : loader_(std::move(loader)), owner_(std::move(owner)) {}

  // Throws the second time.
  std::unique_ptr<executorch::runtime::DataLoader> take() {
    if (loader_ == nullptr) {
      throw RuntimeFailure("This data loader was already given to a program");
    }
    return std::move(loader_);
  }

  // What keeps the loader's memory; None if it has its own.
  pybind11::object owner() const { return owner_; }

 private:
  std::unique_ptr<executorch::runtime::DataLoader> loader_;
  pybind11::object owner_;
};

// Maps the file, so that weights that a delegate packs are never copied. Throws RuntimeFailure if
// it cannot be opened.
inline std::unique_ptr<executorch::runtime::DataLoader> open_data_loader(const std::string& path) {
  const LogCapture capture;
  return std::make_unique<MmapDataLoader>(
      capture.take(MmapDataLoader::from(path.c_str(), MmapDataLoader::MlockConfig::NoMlock),
                   "Cannot load " + path));
}

}  // namespace executorch::extension::pybindings
