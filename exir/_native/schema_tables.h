// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that SchemaCodec makes of a schema once and its two walks read.
#pragma once

#include <executorch/exir/_native/schema_codec.h>

#include <flatbuffers/reflection_generated.h>

namespace executorch::exir {

struct SchemaCodec::Field {
  pybind11::str name;  // attribute, interned by the interpreter
  std::string label;
  reflection::BaseType type = reflection::None;
  reflection::BaseType element = reflection::None;  // of vectors and arrays
  uint16_t slot = 0;          // vtable offset; of structs the byte where the field lies
  uint16_t tag_slot = 0;      // of unions and vectors of unions
  uint16_t fixed_length = 0;  // of arrays
  int index = -1;             // table or enum of the type
  int64_t default_integer = 0;
  double default_real = 0.0;
  uint32_t alignment = 0;        // force_align, 0 = none
  bool optional = false;         // may be None: a table, string or vector
  bool optional_scalar = false;  // `= null`: None when it is absent
  bool required = false;
  bool bytes = false;  // a byte vector given as bytes, not as a list of ints
};

struct SchemaCodec::Table {
  std::string name;
  pybind11::object cls;       // null when Python has no such class
  std::vector<Field> fields;  // in the order of the constructor
  struct Stored {
    size_t field;
    bool is_tag;
  };
  std::vector<Stored> store_order;
  bool is_struct = false;
  uint32_t num_bytes = 0;  // of structs
  uint32_t alignment = 1;  // of structs
};

struct SchemaCodec::Enum {
  std::string name;
  pybind11::object flags;  // the class of an enum of bit flags, else null
  int64_t mask = 0;        // of bit flags
  std::unordered_map<int64_t, pybind11::object> member_of_value;  // of enums
  std::unordered_map<int64_t, int> table_of_tag;                  // of unions; NONE -> -1
  std::unordered_map<int, uint8_t> tag_of_table;
};

}  // namespace executorch::exir
