// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/apple/coreml/runtime/json_member.h>
#include <executorch/backends/apple/coreml/runtime/payload.h>

#include <cinttypes>

namespace executorch::backends::coreml {

using runtime::Error;
using runtime::Result;

namespace {

constexpr std::string_view kSharedMagic = "CMJR";  // and JSON that names the model
constexpr char kMetadata[] = "metadata.json";
constexpr char kPackage[] = "model.mlpackage";
constexpr char kCompiled[] = "model.mlmodelc";

/// InvalidProgram where it is no text, or none is there and it must be.
Error read_text(const Json& object, const char* where, const char* key, bool is_required,
                std::string* out) {
  const Json* found = member(object, key);
  const bool is_text = found != nullptr && found->is_string();
  ET_CHECK_OR_RETURN_ERROR(is_text || (found == nullptr && !is_required), InvalidProgram,
                           "Core ML payload: %s: expected text as \"%s\", found %s", where, key,
                           found == nullptr ? "none" : found->type_name());
  *out = is_text ? found->get_ref<const std::string&>() : "";
  return Error::Ok;
}

Error read_names(const Json& object, const char* key, std::vector<std::string>* out) {
  const Json* found = member(object, key);
  ET_CHECK_OR_RETURN_ERROR(found != nullptr && found->is_array(), InvalidProgram,
                           "Core ML payload: %s: expected a list as \"%s\", found %s", kMetadata,
                           key, found == nullptr ? "none" : found->type_name());
  for (const Json& name : *found) {
    ET_CHECK_OR_RETURN_ERROR(name.is_string(), InvalidProgram,
                             "Core ML payload: %s: expected names as \"%s\", found %s", kMetadata,
                             key, name.type_name());
    out->push_back(name.get_ref<const std::string&>());
  }
  return Error::Ok;
}

/// `function`: what a payload that names a shared model says.
Error read_metadata(const Json& json, const char* method, Payload* out) {
  ET_CHECK_OR_RETURN_ERROR(json.is_object(), InvalidProgram,
                           "Core ML payload: %s: expected a JSON object, found %s", kMetadata,
                           json.type_name());
  ET_CHECK_OK_OR_RETURN_ERROR(read_text(json, kMetadata, "identifier", true, &out->identifier));
  const Json* names = &json;
  if (const Json* methods = member(json, "methods")) {
    if (out->function.empty() && method != nullptr) {
      out->function = method;
    }
    names = member(*methods, out->function.c_str());
    ET_CHECK_OR_RETURN_ERROR(names != nullptr, InvalidProgram,
                             "Core ML payload: %s: expected method \"%s\", found %s", kMetadata,
                             out->function.c_str(), text_of(*methods).c_str());
  }
  ET_CHECK_OK_OR_RETURN_ERROR(read_names(*names, "inputNames", &out->inputs));
  ET_CHECK_OK_OR_RETURN_ERROR(read_names(*names, "outputNames", &out->outputs));
  ET_CHECK_OR_RETURN_ERROR(!out->identifier.empty() && !out->outputs.empty(), InvalidProgram,
                           "Core ML payload: %s: expected an identifier and outputs, found none",
                           kMetadata);
  return Error::Ok;
}

/// Puts the bytes of a shared model into `out`.
Result<std::string_view> find_shared(std::string_view bytes,
                                     const runtime::NamedDataMap* named_data, Payload* out) {
  const Json json = Json::parse(bytes.begin() + kSharedMagic.size(), bytes.end(), nullptr, false);
  std::string key;
  ET_CHECK_OK_OR_RETURN_ERROR(read_text(json, "name of a shared model", "key", true, &key));
  ET_CHECK_OK_OR_RETURN_ERROR(
      read_text(json, "name of a shared model", "functionName", false, &out->function));
  ET_CHECK_OR_RETURN_ERROR(named_data != nullptr, InvalidProgram,
                           "Core ML payload: expected named data \"%s\", the program has none",
                           key.c_str());
  auto data = named_data->get_data(key);
  ET_CHECK_OR_RETURN_ERROR(data.ok(), InvalidProgram,
                           "Core ML payload: the program has no named data \"%s\" (error %" PRIu32
                           "): expected the model that methods share",
                           key.c_str(), static_cast<uint32_t>(data.error()));
  out->shared = std::move(*data);
  return std::string_view(static_cast<const char*>(out->shared.data()), out->shared.size());
}

}  // namespace

Result<Payload> open_payload(const void* data, size_t size, const runtime::NamedDataMap* named_data,
                             const char* method) {
  Payload payload;
  std::string_view bytes(static_cast<const char*>(data), data == nullptr ? 0 : size);
  if (bytes.substr(0, kSharedMagic.size()) == kSharedMagic) {
    bytes = ET_UNWRAP(find_shared(bytes, named_data, &payload));
  }
  std::string error;
  ET_CHECK_OR_RETURN_ERROR(read_directory_blob(bytes, &payload.nodes, &error), InvalidProgram,
                           "Core ML payload of %zu bytes: %s", bytes.size(), error.c_str());
  std::string_view metadata;
  ET_CHECK_OR_RETURN_ERROR(find_file(payload.nodes, kMetadata, &metadata), InvalidProgram,
                           "Core ML payload of %zu bytes: expected %s, found none", bytes.size(),
                           kMetadata);
  ET_CHECK_OK_OR_RETURN_ERROR(read_metadata(
      Json::parse(metadata.begin(), metadata.end(), nullptr, false), method, &payload));
  payload.is_compiled = find_node(payload.nodes, kCompiled, &payload.model);
  ET_CHECK_OR_RETURN_ERROR(
      (payload.is_compiled || find_node(payload.nodes, kPackage, &payload.model)) &&
          payload.nodes[payload.model].is_directory,
      InvalidProgram, "Core ML payload of %zu bytes: expected a directory %s or %s, found none",
      bytes.size(), kPackage, kCompiled);
  return payload;
}

}  // namespace executorch::backends::coreml
