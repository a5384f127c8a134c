// SPDX-License-Identifier: BSD-3-Clause
// SchemaCodec::unpack: one checked walk over untrusted bytes that makes the Python objects as it
// goes.
#include <executorch/exir/_native/flatbuffer_reader.h>
#include <executorch/exir/_native/schema_tables.h>

#include <flatbuffers/reflection.h>

namespace py = pybind11;

namespace executorch::exir {
namespace {

constexpr int kMaxDepth = 64;
constexpr uint64_t kMinFileBytes = 8;

}  // namespace

class Unpacker {
 public:
  Unpacker(const SchemaCodec& codec, const uint8_t* data, uint64_t size)
      : codec_(codec), buffer_(data, size), budget_(size) {}

  py::object run() {
    if (buffer_.size() < kMinFileBytes) {
      throw FormatError("expected at least 8 bytes, found " + std::to_string(buffer_.size()));
    }
    const std::string found(reinterpret_cast<const char*>(buffer_.at(4, 4)), 4);
    if (!codec_.identifier_.empty() && found != codec_.identifier_) {
      throw FormatError("expected file identifier " + codec_.identifier_ + ", found " +
                        py::cast<std::string>(py::repr(py::bytes(found))));
    }
    const TableReader root(buffer_, buffer_.follow(0));
    return table(codec_.tables_[codec_.root_], &root, 0);
  }

 private:
  py::object table_at(const SchemaCodec::Table& type, uint64_t position, int depth) {
    const TableReader reader(buffer_, position);
    return table(type, &reader, depth);
  }

  /// reader null: an absent table, all of its fields absent.
  py::object table(const SchemaCodec::Table& type, const TableReader* reader, int depth) {
    if (depth > kMaxDepth) {
      throw FormatError("tables nested deeper than " + std::to_string(kMaxDepth));
    }
    if (!type.cls) {
      throw FormatError("table " + type.name + " has no Python class");
    }
    // A table costs its own 4 bytes and every item below one more, so that shared parts of a small
    // file cannot make much out of little.
    spend(4);
    std::vector<py::object> values;
    std::vector<PyObject*> arguments;
    values.reserve(type.fields.size());
    arguments.reserve(type.fields.size());
    for (const SchemaCodec::Field& field : type.fields) {
      values.push_back(value(type, field, reader, depth));
      arguments.push_back(values.back().ptr());
    }
    PyObject* const result =
        PyObject_Vectorcall(type.cls.ptr(), arguments.data(), arguments.size(), nullptr);
    if (result == nullptr) {
      throw py::error_already_set();
    }
    return py::reinterpret_steal<py::object>(result);
  }

  py::object value(const SchemaCodec::Table& owner, const SchemaCodec::Field& field,
                   const TableReader* reader, int depth) {
    const uint64_t position = reader == nullptr ? 0 : reader->field(field.slot, width_of(field));
    if (flatbuffers::IsScalar(field.type)) {
      return position == 0 && field.optional_scalar ? py::object(py::none())
                                                    : scalar(field, position);
    }
    if (field.type == reflection::Union) {
      return union_value(owner, field, reader, position, depth);
    }
    if (position == 0) {
      return absent(owner, field, depth);
    }
    if (is_struct(field)) {
      spend(width_of(field));
      return struct_at(codec_.tables_[field.index], position);
    }
    const uint64_t target = buffer_.follow(position);
    switch (field.type) {
      case reflection::String:
        return string(target);
      case reflection::Obj:
        return table_at(codec_.tables_[field.index], target, depth + 1);
      case reflection::Vector:
        return field.element == reflection::Union ? unions(owner, field, reader, target, depth)
                                                  : vector(field, target, depth);
      default:
        throw FormatError(owner.name + "." + field.label + ": unsupported kind of field");
    }
  }

  py::object absent(const SchemaCodec::Table& owner, const SchemaCodec::Field& field, int depth) {
    if (field.optional) {
      return py::none();
    }
    if (field.required) {
      throw FormatError(owner.name + "." + field.label + " is missing");
    }
    if (field.type == reflection::Vector) {
      return field.bytes ? py::object(py::bytes()) : py::object(py::list());
    }
    if (field.type == reflection::Obj) {
      return table(codec_.tables_[field.index], nullptr, depth + 1);
    }
    throw FormatError(owner.name + "." + field.label + " is missing");
  }

  py::object union_value(const SchemaCodec::Table& owner, const SchemaCodec::Field& field,
                         const TableReader* reader, uint64_t position, int depth) {
    const uint64_t tag_position = reader == nullptr ? 0 : reader->field(field.tag_slot, 1);
    const uint8_t tag = tag_position == 0 ? 0 : buffer_.read<uint8_t>(tag_position);
    if (tag == 0 || position == 0) {
      if (field.optional && tag == 0 && position == 0) {
        return py::none();
      }
      throw FormatError(owner.name + "." + field.label + " is missing");
    }
    return member(owner, field, tag, position, depth);
  }

  /// The member of a union that the offset at `position` leads to.
  py::object member(const SchemaCodec::Table& owner, const SchemaCodec::Field& field, uint8_t tag,
                    uint64_t position, int depth) {
    const auto& tables = codec_.enums_[field.index].table_of_tag;
    const auto choice = tables.find(tag);
    if (choice == tables.end() || choice->second < 0) {
      throw FormatError(owner.name + "." + field.label + ": unknown kind " + std::to_string(tag));
    }
    const SchemaCodec::Table& type = codec_.tables_[choice->second];
    const uint64_t target = buffer_.follow(position);
    if (!type.is_struct) {
      return table_at(type, target, depth + 1);
    }
    buffer_.at(target, type.num_bytes);
    spend(type.num_bytes);
    return struct_at(type, target);
  }

  py::object unions(const SchemaCodec::Table& owner, const SchemaCodec::Field& field,
                    const TableReader* reader, uint64_t position, int depth) {
    const uint64_t count = buffer_.read<uint32_t>(position);
    const uint64_t tags_field = reader->field(field.tag_slot, sizeof(uint32_t));
    const uint64_t tags = tags_field == 0 ? 0 : buffer_.follow(tags_field);
    if (tags == 0 || buffer_.read<uint32_t>(tags) != count) {
      throw FormatError(owner.name + "." + field.label +
                        ": its kinds are not as many as its items");
    }
    buffer_.at(position + 4, count * sizeof(uint32_t));
    buffer_.at(tags + 4, count);
    spend(count * (sizeof(uint32_t) + 1));
    py::list items(count);
    for (uint64_t i = 0; i < count; ++i) {
      const uint8_t tag = buffer_.read<uint8_t>(tags + 4 + i);
      items[i] = member(owner, field, tag, position + 4 + i * sizeof(uint32_t), depth);
    }
    return items;
  }

  bool is_struct(const SchemaCodec::Field& field) const {
    return field.type == reflection::Obj && codec_.tables_[field.index].is_struct;
  }

  /// Bytes that a field takes in its table.
  uint64_t width_of(const SchemaCodec::Field& field) const {
    return is_struct(field) ? codec_.tables_[field.index].num_bytes
                            : flatbuffers::GetTypeSize(field.type);
  }

  /// Of bytes whose range is checked and paid for.
  py::object struct_at(const SchemaCodec::Table& type, uint64_t position) {
    if (!type.cls) {
      throw FormatError("struct " + type.name + " has no Python class");
    }
    py::tuple arguments(type.fields.size());
    for (size_t i = 0; i < type.fields.size(); ++i) {
      const SchemaCodec::Field& field = type.fields[i];
      const uint64_t place = position + field.slot;
      if (field.type == reflection::Array) {
        py::list items(field.fixed_length);
        for (size_t k = 0; k < items.size(); ++k) {
          items[k] = inline_value(field, field.element, place, k);
        }
        arguments[i] = items;
      } else {
        arguments[i] = inline_value(field, field.type, place, 0);
      }
    }
    return type.cls(*arguments);
  }

  /// Item `index` of those that begin at `position`, in a struct.
  py::object inline_value(const SchemaCodec::Field& field, reflection::BaseType type,
                          uint64_t position, uint64_t index) {
    if (type == reflection::Obj) {
      const SchemaCodec::Table& inner = codec_.tables_[field.index];
      return struct_at(inner, position + index * inner.num_bytes);
    }
    return number_at(field, type, position + index * flatbuffers::GetTypeSize(type));
  }

  py::object scalar(const SchemaCodec::Field& field, uint64_t position) const {
    if (position != 0) {
      return number_at(field, field.type, position);
    }
    return flatbuffers::IsFloat(field.type) ? py::object(py::float_(field.default_real))
                                            : number(field, field.type, field.default_integer);
  }

  /// A number, or the member of the field's enum.
  py::object number_at(const SchemaCodec::Field& field, reflection::BaseType type,
                       uint64_t position) const {
    if (type == reflection::Double) {
      return py::float_(buffer_.read<double>(position));
    }
    if (type == reflection::Float) {
      return py::float_(buffer_.read<float>(position));
    }
    return number(field, type, integer(type, position));
  }

  py::object number(const SchemaCodec::Field& field, reflection::BaseType type,
                    int64_t value) const {
    if (field.index < 0) {
      return number_object(type, value);
    }
    const SchemaCodec::Enum& kind = codec_.enums_[field.index];
    if (kind.flags && (value & ~kind.mask) == 0) {
      return kind.flags(value);
    }
    const auto found = kind.member_of_value.find(value);
    if (found == kind.member_of_value.end()) {
      throw FormatError(field.label + ": " + std::to_string(value) + " is not a " + kind.name);
    }
    return found->second;
  }

  static py::object number_object(reflection::BaseType type, int64_t number) {
    if (type == reflection::Bool) {
      return py::bool_(number != 0);
    }
    if (type == reflection::ULong) {
      return py::int_(static_cast<uint64_t>(number));
    }
    return py::int_(number);
  }

  int64_t integer(reflection::BaseType type, uint64_t position) const {
    switch (type) {
      case reflection::Byte:
        return buffer_.read<int8_t>(position);
      case reflection::UByte:
      case reflection::UType:
      case reflection::Bool:
        return buffer_.read<uint8_t>(position);
      case reflection::Short:
        return buffer_.read<int16_t>(position);
      case reflection::UShort:
        return buffer_.read<uint16_t>(position);
      case reflection::Int:
        return buffer_.read<int32_t>(position);
      case reflection::UInt:
        return buffer_.read<uint32_t>(position);
      default:
        return buffer_.read<int64_t>(position);
    }
  }

  /// Strings that many tables share are made, and paid for, once.
  py::object string(uint64_t position) {
    py::object& known = strings_[position];
    if (!known) {
      known = new_string(position);
    }
    return known;
  }

  py::object new_string(uint64_t position) {
    const uint32_t size = buffer_.read<uint32_t>(position);
    const uint8_t* const text = buffer_.at(position + 4, uint64_t{size} + 1);
    spend(size);
    if (text[size] != 0) {
      throw FormatError("string at byte " + std::to_string(position) +
                        " does not end in a NUL byte");
    }
    PyObject* const result =
        PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(text), size, nullptr);
    if (result == nullptr) {
      PyErr_Clear();
      throw FormatError("string at byte " + std::to_string(position) + " is not UTF-8");
    }
    return py::reinterpret_steal<py::object>(result);
  }

  py::object vector(const SchemaCodec::Field& field, uint64_t position, int depth) {
    const uint64_t count = buffer_.read<uint32_t>(position);
    const bool has_structs =
        field.element == reflection::Obj && codec_.tables_[field.index].is_struct;
    const uint64_t width = has_structs ? codec_.tables_[field.index].num_bytes
                                       : flatbuffers::GetTypeSize(field.element);
    const uint64_t first = position + 4;
    const uint8_t* const data = buffer_.at(first, count * width);
    spend(count * width);
    if (field.bytes) {
      return py::bytes(reinterpret_cast<const char*>(data), count);
    }
    py::list items(count);
    for (uint64_t i = 0; i < count; ++i) {
      PyList_SET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i),
                      element(field, first + i * width, depth).release().ptr());
    }
    return items;
  }

  py::object element(const SchemaCodec::Field& field, uint64_t position, int depth) {
    switch (field.element) {
      case reflection::Obj: {
        const SchemaCodec::Table& type = codec_.tables_[field.index];
        return type.is_struct ? struct_at(type, position)
                              : table_at(type, buffer_.follow(position), depth + 1);
      }
      case reflection::String:
        return string(buffer_.follow(position));
      default:
        return number_at(field, field.element, position);
    }
  }

  void spend(uint64_t num_bytes) {
    if (num_bytes > budget_) {
      throw FormatError("the file refers to more items than it has bytes");
    }
    budget_ -= num_bytes;
  }

  const SchemaCodec& codec_;
  FlatbufferReader buffer_;
  uint64_t budget_;
  std::unordered_map<uint64_t, py::object> strings_;  // by position
};

py::object SchemaCodec::unpack(const py::buffer& data) const {
  const py::buffer_info view = data.request();
  return Unpacker(*this, static_cast<const uint8_t*>(view.ptr),
                  static_cast<uint64_t>(view.size * view.itemsize))
      .run();
}

}  // namespace executorch::exir
