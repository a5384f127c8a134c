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
    if (found != codec_.identifier_) {
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
    const uint64_t position =
        reader == nullptr ? 0 : reader->field(field.slot, flatbuffers::GetTypeSize(field.type));
    if (flatbuffers::IsScalar(field.type)) {
      return scalar(field, position);
    }
    if (field.type == reflection::Union) {
      return union_value(owner, field, reader, position, depth);
    }
    if (position == 0) {
      return absent(owner, field, depth);
    }
    const uint64_t target = buffer_.follow(position);
    switch (field.type) {
      case reflection::String:
        return string(target);
      case reflection::Obj:
        return table_at(codec_.tables_[field.index], target, depth + 1);
      case reflection::Vector:
        return vector(field, target, depth);
      default:
        throw FormatError(owner.name + "." + field.label + ": unsupported kind of field");
    }
  }

  py::object absent(const SchemaCodec::Table& owner, const SchemaCodec::Field& field, int depth) {
    if (field.optional) {
      return py::none();
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
    const auto& tables = codec_.enums_[field.index].table_of_tag;
    const auto choice = tables.find(tag);
    if (choice == tables.end()) {
      throw FormatError(owner.name + "." + field.label + ": unknown kind " + std::to_string(tag));
    }
    if (choice->second < 0 || position == 0) {
      throw FormatError(owner.name + "." + field.label + " is missing");
    }
    return table_at(codec_.tables_[choice->second], buffer_.follow(position), depth + 1);
  }

  py::object scalar(const SchemaCodec::Field& field, uint64_t position) const {
    if (field.type == reflection::Double) {
      return py::float_(position == 0 ? field.default_real : buffer_.read<double>(position));
    }
    if (field.type == reflection::Float) {
      return py::float_(position == 0 ? field.default_real : buffer_.read<float>(position));
    }
    const int64_t number = position == 0 ? field.default_integer : integer(field.type, position);
    if (field.index >= 0) {
      const auto& members = codec_.enums_[field.index].member_of_value;
      const auto member = members.find(number);
      if (member == members.end()) {
        throw FormatError(field.label + ": " + std::to_string(number) + " is not a " +
                          codec_.enums_[field.index].name);
      }
      return member->second;
    }
    return number_object(field.type, number);
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
    const uint64_t width = flatbuffers::GetTypeSize(field.element);
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
      case reflection::Obj:
        return table_at(codec_.tables_[field.index], buffer_.follow(position), depth + 1);
      case reflection::String:
        return string(buffer_.follow(position));
      case reflection::Double:
        return py::float_(buffer_.read<double>(position));
      case reflection::Float:
        return py::float_(buffer_.read<float>(position));
      default:
        return number_object(field.element, integer(field.element, position));
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
