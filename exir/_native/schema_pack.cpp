// SPDX-License-Identifier: BSD-3-Clause
// SchemaCodec::pack: one walk over Python objects, children before parents, straight into a
// flatbuffer builder.
#include <executorch/exir/_native/schema_tables.h>

#include <flatbuffers/flatbuffer_builder.h>
#include <flatbuffers/reflection.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace py = pybind11;

namespace executorch::exir {
namespace {

constexpr size_t kMaxFields = 64;
constexpr size_t kMaxBytes =
    (size_t{1} << 31) - (1 << 20);  // flatbuffer offsets are 32 bits, signed in places
constexpr uint32_t kMaxAlignment = 1 << 20;
constexpr int kMaxDepth = 64;

using Offset = flatbuffers::Offset<void>;

}  // namespace

class Packer {
 public:
  Packer(const SchemaCodec& codec, const std::map<std::string, uint32_t>& alignments)
      : codec_(codec), alignments_(alignments), builder_(64 * 1024) {}

  py::bytes run(py::handle root) {
    const SchemaCodec::Table& table = codec_.tables_[codec_.root_];
    path_ = table.name;
    const std::string& identifier = codec_.identifier_;
    builder_.Finish(pack_table(table, root, 0), identifier.empty() ? nullptr : identifier.c_str());
    return py::bytes(reinterpret_cast<const char*>(builder_.GetBufferPointer()),
                     builder_.GetSize());
  }

 private:
  /// Extends the path shown in errors for the life of the object.
  class Step {
   public:
    Step(std::string& path, const std::string& text) : path_(path), size_(path.size()) {
      path_ += text;
    }
    ~Step() { path_.resize(size_); }

   private:
    std::string& path_;
    size_t size_;
  };

  Offset pack_table(const SchemaCodec::Table& table, py::handle object, int depth) {
    if (table.fields.size() > kMaxFields || depth > kMaxDepth) {
      throw py::value_error(path_ + ": too many fields or levels");
    }
    std::array<Offset, kMaxFields> children;
    std::array<Offset, kMaxFields> tags;  // of a union the tag itself
    std::array<py::object, kMaxFields> values;
    for (size_t i = 0; i < table.fields.size(); ++i) {
      const SchemaCodec::Field& field = table.fields[i];
      values[i] =
          py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), field.name.ptr()));
      if (!values[i]) {
        PyErr_Clear();
        fail("has no attribute " + field.label, object);
      }
      if (values[i].is_none()) {
        if (field.required) {
          fail("." + field.label + " is required", values[i]);
        }
      } else if (!flatbuffers::IsScalar(field.type) && !is_struct(field)) {
        const Step step(path_, "." + field.label);
        children[i] = pack_child(table, field, values[i], depth, &tags[i]);
      }
    }
    const flatbuffers::uoffset_t start = builder_.StartTable();
    for (const auto [i, is_tag] : table.store_order) {
      const SchemaCodec::Field& field = table.fields[i];
      if (values[i].is_none()) {
        continue;
      }
      const Step step(path_, "." + field.label);
      if (is_tag && field.type == reflection::Union) {
        builder_.AddElement<uint8_t>(field.tag_slot, static_cast<uint8_t>(tags[i].o), 0);
      } else if (is_tag) {
        builder_.AddOffset(field.tag_slot, tags[i]);
      } else if (flatbuffers::IsScalar(field.type)) {
        store_scalar(field, values[i]);
      } else if (is_struct(field)) {
        push_struct(codec_.tables_[field.index], values[i]);
        builder_.AddStructOffset(field.slot, builder_.GetSize());
      } else {
        builder_.AddOffset(field.slot, children[i]);
      }
    }
    return builder_.EndTable(start);
  }

  bool is_struct(const SchemaCodec::Field& field) const {
    return field.type == reflection::Obj && codec_.tables_[field.index].is_struct;
  }

  void push_struct(const SchemaCodec::Table& type, py::handle object) {
    std::vector<uint8_t> bytes(type.num_bytes);
    write_struct(type, object, bytes.data());
    builder_.Align(type.alignment);
    builder_.PushBytes(bytes.data(), bytes.size());
  }

  /// Into zeros. Structs nest only as deep as the schema does.
  void write_struct(const SchemaCodec::Table& type, py::handle object, uint8_t* out) {
    for (const SchemaCodec::Field& field : type.fields) {
      const Step step(path_, "." + field.label);
      const auto value =
          py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), field.name.ptr()));
      if (!value) {
        PyErr_Clear();
        fail("expected a " + type.name, object);
      }
      uint8_t* const place = out + field.slot;
      if (field.type == reflection::Obj) {
        write_struct(codec_.tables_[field.index], value, place);
      } else if (field.type == reflection::Array) {
        write_array(field, value, place);
      } else {
        write_scalar(field.type, value.ptr(), place);
      }
    }
  }

  void write_array(const SchemaCodec::Field& field, py::handle value, uint8_t* out) {
    const py::object items = list_of(value);
    const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
    if (count != field.fixed_length) {
      fail("expected " + std::to_string(field.fixed_length) + " items", value);
    }
    PyObject** const elements = PySequence_Fast_ITEMS(items.ptr());
    for (size_t i = 0; i < count; ++i) {
      if (field.element == reflection::Obj) {
        const SchemaCodec::Table& type = codec_.tables_[field.index];
        write_struct(type, elements[i], out + i * type.num_bytes);
      } else {
        write_scalar(field.element, elements[i], out + i * flatbuffers::GetTypeSize(field.element));
      }
    }
  }

  void write_scalar(reflection::BaseType type, PyObject* value, uint8_t* out) {
    const size_t width = flatbuffers::GetTypeSize(type);
    if (flatbuffers::IsFloat(type)) {
      const double number = real(value);
      const float narrow = static_cast<float>(number);
      const bool is_narrow = type == reflection::Float;
      std::memcpy(out, is_narrow ? static_cast<const void*>(&narrow) : &number, width);
    } else {
      const int64_t number = integer(type, value);
      std::memcpy(out, &number, width);  // little-endian host
    }
  }

  Offset pack_child(const SchemaCodec::Table& table, const SchemaCodec::Field& field,
                    py::handle value, int depth, Offset* tag) {
    switch (field.type) {
      case reflection::String:
        return pack_string(value);
      case reflection::Obj:
        return pack_table(codec_.tables_[field.index], value, depth + 1);
      case reflection::Union: {
        const SchemaCodec::Enum& choices = codec_.enums_[field.index];
        const uint8_t kind = tag_of(choices, value);
        *tag = Offset(kind);
        return pack_member(choices, kind, value, depth);
      }
      case reflection::Vector:
        if (field.element == reflection::Union) {
          return pack_unions(codec_.enums_[field.index], value, depth, tag);
        }
        return pack_vector(table, field, value, depth);
      default:
        throw py::type_error(path_ + ": unsupported kind of field");
    }
  }

  uint8_t tag_of(const SchemaCodec::Enum& choices, py::handle value) const {
    const auto table = codec_.table_of_class_.find(Py_TYPE(value.ptr()));
    if (table == codec_.table_of_class_.end() || choices.tag_of_table.count(table->second) == 0) {
      fail("expected a member of " + choices.name, value);
    }
    return choices.tag_of_table.at(table->second);
  }

  Offset pack_member(const SchemaCodec::Enum& choices, uint8_t tag, py::handle value, int depth) {
    const SchemaCodec::Table& type = codec_.tables_[choices.table_of_tag.at(tag)];
    if (type.is_struct) {
      push_struct(type, value);
      return Offset(builder_.GetSize());
    }
    return pack_table(type, value, depth + 1);
  }

  /// A vector of the tags, which `tags` gets, then one of the values.
  Offset pack_unions(const SchemaCodec::Enum& choices, py::handle value, int depth, Offset* tags) {
    const py::object items = list_of(value);
    const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
    PyObject** const elements = PySequence_Fast_ITEMS(items.ptr());
    std::vector<uint8_t> kinds(count);
    std::vector<Offset> offsets(count);
    check_room(count * (sizeof(uint32_t) + 1));
    for (size_t i = 0; i < count; ++i) {
      const Step step(path_, "[" + std::to_string(i) + "]");
      kinds[i] = tag_of(choices, elements[i]);
    }
    *tags = builder_.CreateVector(kinds).Union();
    for (size_t i = 0; i < count; ++i) {
      const Step step(path_, "[" + std::to_string(i) + "]");
      offsets[i] = pack_member(choices, kinds[i], elements[i], depth);
    }
    return builder_.CreateVector(offsets).Union();
  }

  Offset pack_string(py::handle value) {
    Py_ssize_t size = 0;
    const char* text =
        PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
    if (text == nullptr) {
      PyErr_Clear();
      fail("expected str", value);
    }
    check_room(static_cast<size_t>(size));
    return builder_.CreateString(text, static_cast<size_t>(size)).Union();
  }

  Offset pack_vector(const SchemaCodec::Table& table, const SchemaCodec::Field& field,
                     py::handle value, int depth) {
    if (field.bytes ||
        (field.element == reflection::UByte && PyObject_CheckBuffer(value.ptr()) != 0)) {
      return pack_bytes(table, field, value);
    }
    const py::object items = list_of(value);
    const size_t count = static_cast<size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
    PyObject** const elements = PySequence_Fast_ITEMS(items.ptr());
    if (flatbuffers::IsScalar(field.element)) {
      return pack_scalars(field, elements, count);
    }
    if (field.element == reflection::Obj && codec_.tables_[field.index].is_struct) {
      return pack_structs(field, elements, count);
    }
    std::vector<Offset> offsets(count);
    for (size_t i = 0; i < count; ++i) {
      const Step step(path_, "[" + std::to_string(i) + "]");
      offsets[i] = field.element == reflection::String
                       ? pack_string(elements[i])
                       : pack_table(codec_.tables_[field.index], elements[i], depth + 1);
    }
    check_room(count * sizeof(uint32_t));
    return builder_.CreateVector(offsets).Union();
  }

  py::object list_of(py::handle value) const {
    auto items = py::reinterpret_steal<py::object>(
        PyUnicode_Check(value.ptr()) ? nullptr : PySequence_Fast(value.ptr(), ""));
    if (!items) {
      PyErr_Clear();
      fail("expected a list", value);
    }
    return items;
  }

  Offset pack_structs(const SchemaCodec::Field& field, PyObject** elements, size_t count) {
    const SchemaCodec::Table& type = codec_.tables_[field.index];
    check_room(count * type.num_bytes);
    uint8_t* out = nullptr;
    const size_t size = count * type.num_bytes;
    builder_.PreAlign(size, std::max(type.alignment, field.alignment));
    const auto offset =
        builder_.CreateUninitializedVector(count, type.num_bytes, type.alignment, &out);
    std::memset(out, 0, size);
    for (size_t i = 0; i < count; ++i) {
      const Step step(path_, "[" + std::to_string(i) + "]");
      write_struct(type, elements[i], out + i * type.num_bytes);
    }
    return Offset(offset);
  }

  Offset pack_bytes(const SchemaCodec::Table& table, const SchemaCodec::Field& field,
                    py::handle value) {
    if (PyObject_CheckBuffer(value.ptr()) == 0) {
      fail("expected bytes", value);
    }
    const py::buffer_info view = py::reinterpret_borrow<py::buffer>(value).request();
    const size_t size = static_cast<size_t>(view.size * view.itemsize);
    uint32_t alignment = field.alignment;
    if (const auto asked = alignments_.find(table.name + "." + field.label);
        asked != alignments_.end()) {
      alignment = asked->second;
    }
    if (alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0) {
      throw py::value_error(path_ + ": alignment " + std::to_string(alignment) +
                            " is no power of two up to " + std::to_string(kMaxAlignment));
    }
    check_room(size + alignment);
    if (alignment > 1) {
      builder_.PreAlign(size, alignment);  // ForceVectorAlignment refuses more than 32
    }
    return builder_.CreateVector(static_cast<const uint8_t*>(view.ptr), size).Union();
  }

  Offset pack_scalars(const SchemaCodec::Field& field, PyObject** elements, size_t count) {
    const size_t width = flatbuffers::GetTypeSize(field.element);
    check_room(count * width);
    uint8_t* out = nullptr;
    if (field.alignment > 1) {
      builder_.PreAlign(count * width, field.alignment);
    }
    const auto offset = builder_.CreateUninitializedVector(count, width, width, &out);
    for (size_t i = 0; i < count; ++i) {
      write_scalar(field.element, elements[i], out + i * width);
    }
    return Offset(offset);
  }

  void store_scalar(const SchemaCodec::Field& field, py::handle value) {
    if (field.type == reflection::Double) {
      // Not AddElement with a default: it takes -0.0 for 0.0.
      const double number = real(value.ptr());
      if (field.optional_scalar || number != field.default_real || std::signbit(number)) {
        builder_.AddElement<double>(field.slot, number);
      }
      return;
    }
    if (field.type == reflection::Float) {
      const float number = static_cast<float>(real(value.ptr()));
      if (field.optional_scalar || number != static_cast<float>(field.default_real) ||
          std::signbit(number)) {
        builder_.AddElement<float>(field.slot, number);
      }
      return;
    }
    const int64_t number = integer(field.type, value.ptr());
    switch (flatbuffers::GetTypeSize(field.type)) {
      case 1:
        return store_integer(field, static_cast<uint8_t>(number));
      case 2:
        return store_integer(field, static_cast<uint16_t>(number));
      case 4:
        return store_integer(field, static_cast<uint32_t>(number));
      default:
        return store_integer(field, number);
    }
  }

  template <typename T>
  void store_integer(const SchemaCodec::Field& field, T number) {
    if (field.optional_scalar) {
      builder_.AddElement<T>(field.slot, number);
    } else {
      builder_.AddElement<T>(field.slot, number, static_cast<T>(field.default_integer));
    }
  }

  double real(PyObject* value) {
    const double result = PyFloat_AsDouble(value);
    if (result == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      fail("expected a number", value);
    }
    return result;
  }

  /// The bits of an integer of `type`; u64 values above the range of i64 come back as the same
  /// bits.
  int64_t integer(reflection::BaseType type, PyObject* value) {
    if (!PyLong_Check(value)) {
      fail("expected an integer", value);
    }
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (type == reflection::ULong) {
      if (overflow == 0 && number >= 0) {
        return number;
      }
      const uint64_t wide = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
      if (overflow <= 0 || PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        fail("expected an unsigned 64-bit integer", value);
      }
      return static_cast<int64_t>(wide);
    }
    const auto [low, high] = range_of(type);
    if (overflow != 0 || number < low || number > high) {
      fail("expected an integer in [" + std::to_string(low) + ", " + std::to_string(high) + "]",
           value);
    }
    return number;
  }

  static std::pair<int64_t, int64_t> range_of(reflection::BaseType type) {
    switch (type) {
      case reflection::Bool:
        return {0, 1};
      case reflection::Byte:
        return {-128, 127};
      case reflection::UByte:
      case reflection::UType:
        return {0, 255};
      case reflection::Short:
        return {-32768, 32767};
      case reflection::UShort:
        return {0, 65535};
      case reflection::Int:
        return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
      case reflection::UInt:
        return {0, std::numeric_limits<uint32_t>::max()};
      default:
        return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    }
  }

  void check_room(size_t num_bytes) const {
    if (num_bytes > kMaxBytes || builder_.GetSize() > kMaxBytes - num_bytes) {
      throw py::value_error(path_ +
                            ": the flatbuffer would exceed 2 GiB; keep large data in segments "
                            "(extract_delegate_segments)");
    }
  }

  [[noreturn]] void fail(const std::string& expected, py::handle found) const {
    const std::string text = py::repr(found);
    throw py::type_error(path_ + ": " + expected + ", found " + Py_TYPE(found.ptr())->tp_name +
                         " " + text.substr(0, 80));
  }

  const SchemaCodec& codec_;
  const std::map<std::string, uint32_t>& alignments_;
  flatbuffers::FlatBufferBuilder builder_;
  std::string path_;
};

py::bytes SchemaCodec::pack(py::handle root,
                            const std::map<std::string, uint32_t>& alignments) const {
  return Packer(*this, alignments).run(root);
}

}  // namespace executorch::exir
