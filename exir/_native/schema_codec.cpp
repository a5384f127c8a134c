// SPDX-License-Identifier: BSD-3-Clause
// The tables of a schema as flat descriptors; see schema_pack.cpp and schema_unpack.cpp for the two
// walks over them.
#include <executorch/exir/_native/schema_codec.h>

#include <executorch/exir/_native/schema_reflection.h>
#include <executorch/exir/_native/schema_tables.h>

#include <flatbuffers/reflection.h>

#include <algorithm>

namespace py = pybind11;

namespace executorch::exir {
namespace {

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
  const bool is_scalar = flatbuffers::IsScalar(type.base_type());
  SchemaCodec::Field result;
  result.name = py::str(annotation.name);
  result.label = annotation.name;
  result.type = type.base_type();
  result.element = type.element();
  result.slot = field.offset();
  result.index = type.index();
  result.default_integer = field.default_integer();
  result.default_real = field.default_real();
  result.fixed_length = type.fixed_length();
  result.optional = annotation.optional && !field.required();
  result.optional_scalar = is_scalar && field.optional();
  result.required = field.required();
  result.bytes = annotation.bytes;
  if (field.attributes() != nullptr) {
    if (const auto* forced = find(field.attributes(), &reflection::KeyValue::key, "force_align");
        forced != nullptr) {
      result.alignment = static_cast<uint32_t>(std::stoul(forced->value()->str()));
    }
  }
  if (result.type == reflection::Union ||
      (result.type == reflection::Vector && result.element == reflection::Union)) {
    const auto* tag = find(table.fields(), &reflection::Field::name, annotation.name + "_type");
    result.tag_slot = tag->offset();
  }
  return result;
}

/// Wide fields first, so that tables need little padding; of one width the last first, since a
/// flatbuffer grows downwards. It is flatc's order.
std::vector<SchemaCodec::Table::Stored> store_order_of(const SchemaCodec::Table& table) {
  using Stored = SchemaCodec::Table::Stored;
  std::vector<Stored> order;
  for (size_t i = 0; i < table.fields.size(); ++i) {
    order.push_back({i, false});
    if (table.fields[i].tag_slot != 0) {
      order.push_back({i, true});
    }
  }
  const auto width_and_slot = [&](const Stored& stored) {
    const SchemaCodec::Field& field = table.fields[stored.field];
    const bool is_tag = stored.is_tag && field.type == reflection::Union;
    return std::make_pair(is_tag ? size_t{1} : flatbuffers::GetTypeSize(field.type),
                          stored.is_tag ? field.tag_slot : field.slot);
  };
  std::sort(order.begin(), order.end(), [&](const Stored& a, const Stored& b) {
    return width_and_slot(a) > width_and_slot(b);
  });
  return order;
}

SchemaCodec::Table make_table(const reflection::Object& object, const std::string& name,
                              const py::dict& classes) {
  SchemaCodec::Table table;
  table.name = name;
  if (!classes.contains(table.name)) {
    return table;
  }
  table.cls = classes[table.name.c_str()];
  table.is_struct = object.is_struct();
  table.num_bytes = static_cast<uint32_t>(object.bytesize());
  table.alignment = static_cast<uint32_t>(std::max(1, object.minalign()));
  for (const Annotation& annotation : annotations_of(table.cls)) {
    const auto* field = find(object.fields(), &reflection::Field::name, annotation.name);
    if (field == nullptr) {
      throw py::value_error("class " + table.name + ": the schema has no field " + annotation.name);
    }
    table.fields.push_back(make_field(object, *field, annotation));
  }
  table.store_order = store_order_of(table);
  return table;
}

SchemaCodec::Enum make_enum(const reflection::Enum& source, const py::dict& classes) {
  SchemaCodec::Enum result;
  result.name = short_name(source.name());
  if (is_flags(source) && classes.contains(result.name)) {
    result.flags = classes[result.name.c_str()];
  }
  for (const reflection::EnumVal* value : *source.values()) {
    result.mask |= value->value();
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
  const reflection::Schema& schema = schema_of(bfbs);
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
