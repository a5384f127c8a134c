// SPDX-License-Identifier: BSD-3-Clause
// Reads of a binary schema (.bfbs) that its codec and its declarations share.
#pragma once

#include <pybind11/pybind11.h>

#include <flatbuffers/reflection.h>

#include <string>

namespace executorch::exir {

inline std::string short_name(const flatbuffers::String* name) {
  const std::string full = name->str();
  return full.substr(full.rfind('.') + 1);
}

/// The item of a schema list with that name or key, null when there is none. Not LookupByKey: under
/// sanitizers its string comparison sets off a false warning in GCC 12.
template <typename Item>
const Item* find(const flatbuffers::Vector<flatbuffers::Offset<Item>>* items,
                 const flatbuffers::String* (Item::*name_of)() const, const std::string& name) {
  for (const Item* item : *items) {
    if ((item->*name_of)()->str() == name) {
      return item;
    }
  }
  return nullptr;
}

inline bool is_flags(const reflection::Enum& source) {
  return source.attributes() != nullptr &&
         find(source.attributes(), &reflection::KeyValue::key, "bit_flags") != nullptr;
}

/// Of verified bytes.
inline const reflection::Schema& schema_of(const pybind11::bytes& bfbs) {
  const std::string_view bytes = bfbs;
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (!reflection::VerifySchemaBuffer(verifier)) {
    throw pybind11::value_error("not a binary flatbuffers schema (.bfbs)");
  }
  return *reflection::GetSchema(bytes.data());
}

}  // namespace executorch::exir
