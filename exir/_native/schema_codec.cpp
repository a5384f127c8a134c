// SPDX-License-Identifier: BSD-3-Clause
// The tables of a schema as flat descriptors; see schema_pack.cpp and schema_unpack.cpp for the two
// walks over them.
#include <executorch/exir/_native/schema_codec.h>

#include <executorch/exir/_native/schema_tables.h>

#include <flatbuffers/reflection.h>

#include <algorithm>

namespace py = pybind11;

namespace executorch::exir {
namespace {

std::string short_name(const flatbuffers::String* name) {
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

/// What the annotations of a dataclass say that a schema cannot: the order of the constructor,
/// Optional, bytes.
struct Annotation {
  std::string name;
  bool optional;
  bool bytes;
};

std::vector<Annotation> annotations_of(py::handle cls) {
  std::vector<Annotation> result;
  const py::object fields = py::module_::import("dataclasses").attr("fields");
  for (py::handle field : fields(cls)) {
    const std::string type = py::str(field.attr("type"));
    result.push_back(
        {field.attr("name").cast<std::string>(),
         type.find("Optional") != std::string::npos || type.find("None") != std::string::npos,
         type.find("bytes") != std::string::npos});
  }
  return result;
}

SchemaCodec::Field make_field(const reflection::Object& table, const reflection::Field& field,
                              const Annotation& annotation) {
  const reflection::Type& type = *field.type();
  SchemaCodec::Field result;
  result.name = py::str(annotation.name);
  result.label = annotation.name;
  result.type = type.base_type();
  result.element = type.element();
  result.slot = field.offset();
  result.index = type.index();
  result.default_integer = field.default_integer();
  result.default_real = field.default_real();
  result.optional = annotation.optional;
  result.bytes = annotation.bytes;
  if (field.attributes() != nullptr) {
    if (const auto* forced = find(field.attributes(), &reflection::KeyValue::key, "force_align");
        forced != nullptr) {
      result.alignment = static_cast<uint32_t>(std::stoul(forced->value()->str()));
    }
  }
  if (result.type == reflection::Union) {
    const auto* tag = find(table.fields(), &reflection::Field::name, annotation.name + "_type");
    result.tag_slot = tag->offset();
  }
  return result;
}

SchemaCodec::Table make_table(const reflection::Object& object, const std::string& name,
                              const py::dict& classes) {
  SchemaCodec::Table table;
  table.name = name;
  if (!classes.contains(table.name)) {
    return table;
  }
  table.cls = classes[table.name.c_str()];
  for (const Annotation& annotation : annotations_of(table.cls)) {
    const auto* field = find(object.fields(), &reflection::Field::name, annotation.name);
    if (field == nullptr) {
      throw py::value_error("class " + table.name + ": the schema has no field " + annotation.name);
    }
    table.fields.push_back(make_field(object, *field, annotation));
  }
  // Wide fields first, so that tables need little padding.
  for (size_t i = 0; i < table.fields.size(); ++i) {
    table.store_order.push_back(i);
  }
  std::stable_sort(table.store_order.begin(), table.store_order.end(), [&](size_t a, size_t b) {
    return flatbuffers::GetTypeSize(table.fields[a].type) >
           flatbuffers::GetTypeSize(table.fields[b].type);
  });
  return table;
}

SchemaCodec::Enum make_enum(const reflection::Enum& source, const py::dict& classes) {
  SchemaCodec::Enum result;
  result.name = short_name(source.name());
  for (const reflection::EnumVal* value : *source.values()) {
    if (source.is_union()) {
      result.table_of_tag[value->value()] = value->value() == 0 ? -1 : value->union_type()->index();
    } else if (classes.contains(result.name)) {
      result.member_of_value[value->value()] =
          py::object(classes[result.name.c_str()])(value->value());
    }
  }
  return result;
}

}  // namespace

SchemaCodec::SchemaCodec(const py::bytes& bfbs, const py::dict& classes) {
  const std::string_view bytes = bfbs;
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (!reflection::VerifySchemaBuffer(verifier)) {
    throw py::value_error("not a binary flatbuffers schema (.bfbs)");
  }
  const reflection::Schema& schema = *reflection::GetSchema(bytes.data());
  const auto add_table = [&](const reflection::Object& object, const std::string& name) {
    tables_.push_back(make_table(object, name, classes));
    const int index = static_cast<int>(tables_.size()) - 1;
    if (tables_.back().cls) {
      table_of_class_[reinterpret_cast<PyTypeObject*>(tables_.back().cls.ptr())] = index;
    }
    return index;
  };
  for (const reflection::Object* object : *schema.objects()) {
    const int index = add_table(*object, short_name(object->name()));
    if (object == schema.root_table()) {
      root_ = static_cast<size_t>(index);
    }
  }
  for (const reflection::Enum* source : *schema.enums()) {
    enums_.push_back(make_enum(*source, classes));
    Enum& made = enums_.back();
    for (auto& [tag, table] : made.table_of_tag) {
      // A member with a name of its own ("Add: Binary") is a class of its own, laid out as the
      // table.
      const std::string name = short_name(source->values()->LookupByKey(tag)->name());
      if (table >= 0 && name != tables_[static_cast<size_t>(table)].name) {
        table = add_table(*schema.objects()->Get(static_cast<uint32_t>(table)), name);
      }
      made.tag_of_table[table] = static_cast<uint8_t>(tag);
    }
  }
  identifier_ = schema.file_ident()->str();
}

SchemaCodec::~SchemaCodec() = default;

}  // namespace executorch::exir
