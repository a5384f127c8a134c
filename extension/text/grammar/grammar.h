// SPDX-License-Identifier: BSD-3-Clause
// Grammar: which texts an answer may be. Rules over bytes, made from GBNF or a JSON schema.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

using ByteSet = std::bitset<256>;

// A symbol is one byte of a set, or a rule in its place.
struct Symbol {
  enum class Kind : uint8_t { Bytes, Rule, End };
  Kind kind;
  int32_t index;  // of the set or the rule; End: none
};

// The rules' alternatives lie one behind the other in `symbols`, each closed by an End.
struct Grammar {
  std::vector<ByteSet> sets;
  std::vector<Symbol> symbols;
  std::vector<std::vector<int32_t>> rules;  // of each rule, where its alternatives begin
  int32_t root = 0;
};

// type: gbnf, or json_schema, whose text json_schema_to_gbnf() writes anew. InvalidArgument, with
// the place logged, for a text that is none, a rule that is missing or that begins with itself;
// NotSupported for other types and what a schema asks and the engine has not.
runtime::Result<Grammar> parse_grammar(const std::string& text, const std::string& type);

// The notation of llama.cpp: `name ::= "text" [a-z] . other (a | b)* x? y+ z{1,3} # comment`. A
// rule ends with its line, but within parentheses and behind "|". The first one that counts is
// "root". Escapes: \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH.
runtime::Result<Grammar> parse_gbnf(const std::string& text);

}  // namespace executorch::extension::llm
