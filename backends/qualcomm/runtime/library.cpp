// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/runtime/library.h>
#include <executorch/runtime/backend/dynamic_library.h>
#include <executorch/runtime/core/span.h>

#include <cinttypes>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace executorch::backends::qualcomm {

using runtime::DynamicLibrary;
using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr char kHowToGet[] =
    "it comes with Qualcomm's AI Engine Direct SDK: its folder must be in LD_LIBRARY_PATH, on "
    "Android the library and its "
    "stub and skeleton (ADSP_LIBRARY_PATH) beside the program";

/// A stand-in has other layouts than the vendor's library: neither is called by a build for the
/// other.
Error check_stand_in(const DynamicLibrary& library) {
  uint32_t (*marker)() = nullptr;
  const bool is_stand_in = library.functions().find_optional("executorch_qnn_stand_in", marker);
  ET_CHECK_OR_RETURN_ERROR(
      is_stand_in == kIsStandIn, NotSupported,
      "QnnBackend: %s is %s, this build is for %s: build it with QNN_SDK_ROOT set to the SDK",
      library.name().c_str(), is_stand_in ? "a stand-in for tests" : "the SDK's",
      kIsStandIn ? "stand-ins (it had no headers of the SDK)" : "the SDK's");
  return Error::Ok;
}

std::string text_of(const Qnn_Version_t& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

/// What a library's `function` gives out; `expected`: what a library without it is not.
template <typename Interface>
Result<Span<const Interface*>> interfaces_of(const DynamicLibrary& library, const char* function,
                                             const char* expected) {
  Qnn_ErrorHandle_t (*get_providers)(const Interface***, uint32_t*) = nullptr;
  auto functions = library.functions();
  functions.find(function, get_providers);
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotFound, expected));
  const Interface** providers = nullptr;
  uint32_t count = 0;
  const Qnn_ErrorHandle_t status = get_providers(&providers, &count);
  ET_CHECK_OR_RETURN_ERROR(status == QNN_SUCCESS, NotFound,
                           "QnnBackend: %s gives no interface: error %" PRIu64,
                           library.name().c_str(), static_cast<uint64_t>(status));
  return Span<const Interface*>{providers, count};
}

/// Of the library's interfaces the one that the headers are of.
Result<const QnnInterface_t*> choose(const std::string& name,
                                     Span<const QnnInterface_t*> providers) {
  std::string versions;
  for (const QnnInterface_t* provider : providers) {
    const Qnn_Version_t& found = provider->apiVersion.coreApiVersion;
    if (found.major == QNN_API_VERSION_MAJOR && found.minor >= QNN_API_VERSION_MINOR) {
      return provider;
    }
    versions += (versions.empty() ? "" : ", ") + text_of(found);
  }
  ET_LOG(Error, "QnnBackend: %s has QNN's interface %s, expected %d.%d or a later minor version",
         name.c_str(), versions.empty() ? "in no version" : versions.c_str(),
         static_cast<int>(QNN_API_VERSION_MAJOR), static_cast<int>(QNN_API_VERSION_MINOR));
  return Error::NotSupported;
}

Result<Library> load_library(const std::vector<std::string>& names) {
  const auto loaded = ET_UNWRAP(DynamicLibrary::open(names, "QNN's library", kHowToGet));
  ET_CHECK_OK_OR_RETURN_ERROR(check_stand_in(loaded));
  const auto providers = ET_UNWRAP((interfaces_of<QnnInterface_t>(
      loaded, "QnnInterface_getProviders", "expected a backend library of QNN")));
  Library library;
  library.name = loaded.file_of("QnnInterface_getProviders");
  const QnnInterface_t& chosen = *ET_UNWRAP(choose(loaded.name(), providers));
  library.functions = chosen.QNN_INTERFACE_VER_NAME;
  const char* build_id = nullptr;
  if (library.functions.backendGetBuildId(&build_id) == QNN_SUCCESS && build_id != nullptr) {
    library.build_id = build_id;
  }
  return library;
}

Result<SystemLibrary> load_system_library(const std::vector<std::string>& names) {
  const auto loaded = ET_UNWRAP(DynamicLibrary::open(names, "QNN's system library", kHowToGet));
  ET_CHECK_OK_OR_RETURN_ERROR(check_stand_in(loaded));
  const auto providers = ET_UNWRAP((interfaces_of<QnnSystemInterface_t>(
      loaded, "QnnSystemInterface_getProviders", "expected the system library of QNN")));
  ET_CHECK_OR_RETURN_ERROR(!providers.empty(), NotFound, "QnnBackend: %s gives no interface",
                           loaded.name().c_str());
  return SystemLibrary{loaded.name(), providers[0]->QNN_SYSTEM_INTERFACE_VER_NAME};
}

/// Those that were loaded, by what they were asked for with.
template <typename Kind>
Result<const Kind*> kept(const std::vector<std::string>& names,
                         Result<Kind> (*load)(const std::vector<std::string>&)) {
  static std::mutex mutex;
  static std::map<std::vector<std::string>, std::unique_ptr<Kind>> all;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Kind>& place = all[names];
  if (place == nullptr) {
    place = std::make_unique<Kind>(ET_UNWRAP(load(names)));
  }
  return static_cast<const Kind*>(place.get());
}

}  // namespace

Result<const Library*> find_library(const std::string& name, const std::string& path) {
  return kept<Library>({path.empty() ? name : path}, load_library);
}

Result<const SystemLibrary*> find_system_library(const Library& library) {
  const std::string name = "libQnnSystem.so";
  const size_t end = library.name.rfind('/');
  std::vector<std::string> names;
  if (end != std::string::npos) {
    names.push_back(library.name.substr(0, end + 1) + name);
  }
  names.push_back(name);
  return kept<SystemLibrary>(names, load_system_library);
}

}  // namespace executorch::backends::qualcomm
