// SPDX-License-Identifier: BSD-3-Clause
// Packs Python dataclasses into flatbuffers and reads them back, for any schema given in binary
// form (.bfbs).
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace executorch::exir {

/// One enum, flags, union, table or struct, as flatc read it. `members`: (name, value) of enums,
/// (name, type) of unions, (name, "bytes" or "value") of tables and structs, in the order of the
/// source.
struct Declaration {
  std::string kind;
  std::string name;
  std::vector<std::pair<std::string, std::string>> members;
};

/// Of a binary schema. Throws pybind11::value_error for other bytes, and for two declarations of
/// one name in different namespaces.
std::vector<Declaration> declarations_of(const pybind11::bytes& bfbs);

/// The codec of one schema. Classes are matched to tables by name, attributes to fields by name; an
/// attribute whose annotation says Optional is None when the field is absent. A union's member that
/// renames a table is matched to the class of the member's name. Files are those that flatc writes
/// of the same values in JSON. Not read: vectors with 64-bit offsets, unions of strings, and
/// defaults of ulong above the range of long, which a binary schema does not hold.
/// Immutable once made; calls hold the interpreter lock.
class SchemaCodec {
 public:
  /// `bfbs`: the schema. `classes`: table or enum name -> Python class; tables need only be there
  /// when they are met.
  SchemaCodec(const pybind11::bytes& bfbs, const pybind11::dict& classes);
  ~SchemaCodec();

  /// The flatbuffer of `root`, an instance of the root table's class. `alignments`: "Table.field"
  /// -> alignment of a byte vector, at least what the schema forces. Throws pybind11::type_error or
  /// value_error naming the attribute.
  pybind11::bytes pack(pybind11::handle root,
                       const std::map<std::string, uint32_t>& alignments) const;

  /// Reads untrusted bytes. Throws FormatError. Work is bounded by the size of `data`, whatever it
  /// holds.
  pybind11::object unpack(const pybind11::buffer& data) const;

  struct Field;
  struct Table;
  struct Enum;

 private:
  friend class Packer;
  friend class Unpacker;

  std::vector<Table> tables_;
  std::vector<Enum> enums_;
  std::unordered_map<PyTypeObject*, int> table_of_class_;
  size_t root_ = 0;
  std::string identifier_;
};

}  // namespace executorch::exir
