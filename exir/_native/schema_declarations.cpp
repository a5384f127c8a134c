// SPDX-License-Identifier: BSD-3-Clause
// What a binary schema declares, for those that make classes of it.
#include <executorch/exir/_native/schema_codec.h>
#include <executorch/exir/_native/schema_reflection.h>

#include <algorithm>
#include <set>

namespace py = pybind11;

namespace executorch::exir {
namespace {

Declaration declare(const reflection::Schema& schema, const reflection::Enum& source) {
  const char* const kind = source.is_union() ? "union" : is_flags(source) ? "flags" : "enum";
  Declaration made{kind, short_name(source.name()), {}};
  for (const reflection::EnumVal* value : *source.values()) {
    std::string detail = std::to_string(value->value());
    if (source.is_union()) {
      const int index = value->union_type()->index();
      detail =
          index < 0 ? "" : short_name(schema.objects()->Get(static_cast<uint32_t>(index))->name());
    }
    made.members.emplace_back(short_name(value->name()), detail);
  }
  return made;
}

/// The tags of unions are no fields of their own.
Declaration declare(const reflection::Object& source) {
  std::vector<const reflection::Field*> fields;
  for (const reflection::Field* field : *source.fields()) {
    const bool is_tag = field->type()->base_type() == reflection::UType ||
                        field->type()->element() == reflection::UType;
    if (!field->deprecated() && !is_tag) {
      fields.push_back(field);
    }
  }
  std::sort(fields.begin(), fields.end(),
            [](const auto* a, const auto* b) { return a->id() < b->id(); });
  Declaration made{source.is_struct() ? "struct" : "table", short_name(source.name()), {}};
  for (const reflection::Field* field : fields) {
    const reflection::Type& type = *field->type();
    const bool is_bytes = type.base_type() == reflection::Vector &&
                          type.element() == reflection::UByte && type.index() < 0;
    made.members.emplace_back(field->name()->str(), is_bytes ? "bytes" : "value");
  }
  return made;
}

}  // namespace

std::vector<Declaration> declarations_of(const py::bytes& bfbs) {
  const reflection::Schema& schema = schema_of(bfbs);
  std::vector<Declaration> found;
  std::set<std::string> names;
  const auto add = [&](Declaration made) {
    if (!names.insert(made.name).second) {
      throw py::value_error("the schema declares " + made.name + " twice, in two namespaces");
    }
    found.push_back(std::move(made));
  };
  for (const reflection::Enum* source : *schema.enums()) {
    add(declare(schema, *source));
  }
  for (const reflection::Object* source : *schema.objects()) {
    add(declare(*source));
  }
  return found;
}

}  // namespace executorch::exir
