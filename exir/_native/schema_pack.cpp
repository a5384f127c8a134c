// SPDX-License-Identifier: BSD-3-Clause
// SchemaCodec::pack: one walk over Python objects, children before parents, straight into a
// flatbuffer builder.
#include <executorch/exir/_native/schema_tables.h>

#include <flatbuffers/flatbuffer_builder.h>
#include <flatbuffers/reflection.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace py = pybind11;

namespace executorch::exir {
namespace {

constexpr size_t kMaxFields = 32;
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
    builder_.Finish(pack_table(table, root, 0), codec_.identifier_.c_str());
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
    std::array<uint8_t, kMaxFields> tags{};
    std::array<py::object, kMaxFields> values;
    for (size_t i = 0; i < table.fields.size(); ++i) {
      const SchemaCodec::Field& field = table.fields[i];
      values[i] =
          py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), field.name.ptr()));
      if (!values[i]) {
        PyErr_Clear();
        fail("has no attribute " + field.label, object);
      }
      if (!values[i].is_none() && !flatbuffers::IsScalar(field.type) &&
          field.type != reflection::UType) {
        const Step step(path_, "." + field.label);
        children[i] = pack_child(table, field, values[i], depth, &tags[i]);
      }
    }
    const flatbuffers::uoffset_t start = builder_.StartTable();
    for (size_t i : table.store_order) {
      const SchemaCodec::Field& field = table.fields[i];
      if (values[i].is_none()) {
        continue;
      }
      if (flatbuffers::IsScalar(field.type)) {
        const Step step(path_, "." + field.label);
        store_scalar(field, values[i]);
      } else {
        builder_.AddOffset(field.slot, children[i]);
        if (field.type == reflection::Union) {
          builder_.AddElement<uint8_t>(field.tag_slot, tags[i], 0);
        }
      }
    }
    return builder_.EndTable(start);
  }

  Offset pack_child(const SchemaCodec::Table& table, const SchemaCodec::Field& field,
                    py::handle value, int depth, uint8_t* tag) {
    switch (field.type) {
      case reflection::String:
        return pack_string(value);
      case reflection::Obj:
        return pack_table(codec_.tables_[field.index], value, depth + 1);
      case reflection::Union:
        return pack_union(codec_.enums_[field.index], value, depth, tag);
      case reflection::Vector:
        return pack_vector(table, field, value, depth);
      default:
        throw py::type_error(path_ + ": unsupported kind of field");
    }
  }

  Offset pack_union(const SchemaCodec::Enum& choices, py::handle value, int depth, uint8_t* tag) {
    const auto table = codec_.table_of_class_.find(Py_TYPE(value.ptr()));
    if (table == codec_.table_of_class_.end() || choices.tag_of_table.count(table->second) == 0) {
      fail("expected a member of " + choices.name, value);
    }
    *tag = choices.tag_of_table.at(table->second);
    return pack_table(codec_.tables_[table->second], value, depth + 1);
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
    if (PyUnicode_Check(value.ptr())) {
      fail("expected a list", value);
    }
    const py::object items = py::reinterpret_steal<py::object>(PySequence_Fast(value.ptr(), ""));
    if (!items) {
      PyErr_Clear();
      fail("expected a list", value);
    }
    const size_t count = static_cast<size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
    PyObject** const elements = PySequence_Fast_ITEMS(items.ptr());
    if (flatbuffers::IsScalar(field.element)) {
      return pack_scalars(field, elements, count);
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
    const auto offset = builder_.CreateUninitializedVector(count, width, width, &out);
    for (size_t i = 0; i < count; ++i) {
      if (flatbuffers::IsFloat(field.element)) {
        const double value = real(elements[i]);
        const float narrow = static_cast<float>(value);
        const bool is_narrow = field.element == reflection::Float;
        std::memcpy(out + i * width, is_narrow ? static_cast<const void*>(&narrow) : &value, width);
      } else {
        const int64_t value = integer(field.element, elements[i]);
        std::memcpy(out + i * width, &value, width);  // little-endian host
      }
    }
    return Offset(offset);
  }

  void store_scalar(const SchemaCodec::Field& field, py::handle value) {
    if (field.type == reflection::Double) {
      // Not AddElement with a default: it takes -0.0 for 0.0.
      const double number = real(value.ptr());
      if (number != field.default_real || std::signbit(number)) {
        builder_.AddElement<double>(field.slot, number);
      }
      return;
    }
    if (field.type == reflection::Float) {
      const float number = static_cast<float>(real(value.ptr()));
      if (number != static_cast<float>(field.default_real) || std::signbit(number)) {
        builder_.AddElement<float>(field.slot, number);
      }
      return;
    }
    const int64_t number = integer(field.type, value.ptr());
    switch (flatbuffers::GetTypeSize(field.type)) {
      case 1:
        return builder_.AddElement<uint8_t>(field.slot, static_cast<uint8_t>(number),
                                            static_cast<uint8_t>(field.default_integer));
      case 2:
        return builder_.AddElement<uint16_t>(field.slot, static_cast<uint16_t>(number),
                                             static_cast<uint16_t>(field.default_integer));
      case 4:
        return builder_.AddElement<uint32_t>(field.slot, static_cast<uint32_t>(number),
                                             static_cast<uint32_t>(field.default_integer));
      default:
        return builder_.AddElement<int64_t>(field.slot, number, field.default_integer);
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
