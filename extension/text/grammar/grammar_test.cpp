// SPDX-License-Identifier: BSD-3-Clause
// Grammars: which texts they take, byte by byte; what is refused; which tokens may come next.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/text/grammar/automaton.h>
#include <executorch/extension/text/grammar/grammar.h>
#include <executorch/extension/text/grammar/json_schema.h>
#include <executorch/extension/text/grammar/token_grammar.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using executorch::runtime::Error;

namespace {

class GrammarTest : public testing::Test {
 protected:
  void SetUp() override { executorch::runtime::runtime_init(); }

  static Automaton automaton(const std::string& text, const std::string& type = "gbnf") {
    auto grammar = parse_grammar(text, type);
    EXPECT_TRUE(grammar.ok()) << text;
    return Automaton(std::move(*grammar));
  }

  static bool takes(Automaton& automaton, const std::string& text) {
    Automaton::State state = automaton.start();
    for (const char byte : text) {
      state = automaton.next(state, static_cast<uint8_t>(byte));
    }
    return automaton.can_end(state);
  }

  static void expect(const std::string& grammar, const std::vector<std::string>& taken,
                     const std::vector<std::string>& refused, const std::string& type = "gbnf") {
    Automaton made = automaton(grammar, type);
    for (const std::string& text : taken) {
      EXPECT_TRUE(takes(made, text)) << grammar << " should take " << text;
    }
    for (const std::string& text : refused) {
      EXPECT_FALSE(takes(made, text)) << grammar << " should refuse " << text;
    }
  }

  static void expect_schema(const std::string& schema, const std::vector<std::string>& taken,
                            const std::vector<std::string>& refused) {
    expect(schema, taken, refused, "json_schema");
  }
};

// Its tokens by their ids; 0 ends an answer.
class ListTokenizer : public ::tokenizers::Tokenizer {
 public:
  explicit ListTokenizer(std::vector<std::string> texts) : texts_(std::move(texts)) {
    initialized_ = true;
    vocab_size_ = static_cast<int32_t>(texts_.size());
  }
  ::tokenizers::Error load(const std::string&) override { return ::tokenizers::Error::Ok; }
  ::tokenizers::Result<std::string> id_to_piece(uint64_t token) const override {
    return texts_.at(token);
  }
  ::tokenizers::Result<uint64_t> piece_to_id(const std::string&) const override {
    return ::tokenizers::Error::OutOfRange;
  }
  ::tokenizers::Result<std::vector<uint64_t>> encode(const std::string&, int8_t,
                                                     int8_t) const override {
    return ::tokenizers::Error::EncodeFailure;
  }
  ::tokenizers::Result<std::string> decode(uint64_t, uint64_t token, bool) const override {
    return texts_.at(token);
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

TEST_F(GrammarTest, TextsSetsAndRules) {
  expect(R"(root ::= "a" b | [x-z]+
b ::= "b" "c"?)",
         {"ab", "abc", "x", "zyx"}, {"", "a", "abcc", "xa", "b"});
  expect("root ::= \"a\"* # a comment\n", {"", "a", "aaaaa"}, {"b"});
  expect(R"(root ::= ("a" | "bb"){2,3} "!")", {"aa!", "abb!", "bbbba!"}, {"a!", "aaaa!", "aa"});
  expect(R"(root ::= "x"{2} "y"{1,})", {"xxy", "xxyyy"}, {"xy", "xxxy", "xx"});
  expect(R"(root ::= "\x41\u00e9\U0001F600\n\"\\")", {"A\xC3\xA9\xF0\x9F\x98\x80\n\"\\"}, {"A"});
  expect("root ::=\n  \"a\"\n", {"a"}, {"b"});
  expect("root ::= ( \"a\"\n | \"b\" )\nother ::= \"c\"", {"a", "b"}, {"c"});
}

TEST_F(GrammarTest, CharactersAreWholeUtf8) {
  expect("root ::= .", {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"},
         {"", "\xC3", "\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xC0\x80", "ab"});
  expect("root ::= [^a-z]", {"A", "\xC3\xA9", "\n"}, {"b", ""});
  expect("root ::= [\xC3\xA0-\xC3\xBF]", {"\xC3\xA0", "\xC3\xBF"}, {"\xC3\x9F", "a"});
  expect(R"(root ::= [\]\-x])", {"]", "-", "x"}, {"\\", "y"});
}

// Against a list of all characters: every third one of the planes in use, and the edges.
TEST_F(GrammarTest, RangesOfCharactersHaveTheirEdges) {
  const uint32_t edges[] = {0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
  const auto escape = [](uint32_t c) {
    char text[16];
    std::snprintf(text, sizeof(text), "\\U%08X", c);
    return std::string(text);
  };
  const auto as_utf8 = [](uint32_t c) {
    std::string text;
    if (c < 0x80) {
      return std::string(1, static_cast<char>(c));
    }
    int tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    const int lead[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(lead[tail] | (c >> (6 * tail)));
    while (tail-- > 0) {
      text += static_cast<char>(0x80 | ((c >> (6 * tail)) & 0x3F));
    }
    return text;
  };
  for (const uint32_t first : edges) {
    for (const uint32_t last : edges) {
      if (last < first) {
        continue;
      }
      Automaton made = automaton("root ::= [" + escape(first) + "-" + escape(last) + "]");
      for (uint32_t c = 0; c <= 0x10FFFF; c += 1031) {
        const bool is_character = c < 0xD800 || c > 0xDFFF;
        EXPECT_EQ(takes(made, as_utf8(c)), is_character && first <= c && c <= last) << c;
      }
      EXPECT_TRUE(takes(made, as_utf8(first)) && takes(made, as_utf8(last)));
    }
  }
}

TEST_F(GrammarTest, RulesMayNestAndBeEmpty) {
  expect(R"gbnf(root ::= "(" root ")" | "")gbnf", {"", "()", "((()))"}, {"(", "(()", ")("});
  expect(R"gbnf(root ::= ("" | "a")* "b")gbnf", {"b", "aab"}, {"", "a"});
  Automaton made = automaton(R"(root ::= "[" root* "]")");
  EXPECT_TRUE(takes(made, std::string(500, '[') + std::string(500, ']')));
  EXPECT_FALSE(takes(made, std::string(500, '[') + std::string(499, ']')));
}

TEST_F(GrammarTest, WhatIsNoGrammarIsRefused) {
  for (const char* text : {
           "",
           "other ::= \"a\"",
           "root ::= missing",
           "root \"a\"",
           "root ::= \"a",
           "root ::= [a",
           "root ::= (\"a\"",
           "root ::= \"a\")",
           "root ::= [z-a]",
           "root ::= \"\\q\"",
           "root ::= \"a\"{3,2}",
           "root ::= \"a\"{0}",
           "root ::= \"a\"{0,0}",
           "root ::= \"a\"{20000}",
           "root ::= \"a\"\nroot ::= \"b\"",
           "root ::= root \"a\" | \"b\"",
           "root ::= b root \"x\"\nb ::= \"\"",
           "root ::= []",
           "root ::= \"\xC3\"",
           "root ::= \"\\uD800\"",
           "root ::= a\na ::= b \"x\"\nb ::= a | \"y\"",
           "root ::= \"a\" b ::= \"c\"",
       }) {
    EXPECT_EQ(parse_grammar(text, "gbnf").error(), Error::InvalidArgument) << text;
  }
  EXPECT_EQ(parse_grammar("a", "lark").error(), Error::NotSupported);
  EXPECT_EQ(parse_grammar("a", "").error(), Error::NotSupported);
}

TEST_F(GrammarTest, SchemasOfSingleValues) {
  expect_schema(R"({"type": "integer"})", {"0", "-7", "1234567890123456"},
                {"01", "1.5", "", "12345678901234567"});
  expect_schema(R"({"type": "number"})", {"0", "-0.5", "1e3", "2.25E-07"},
                {".5", "1.", "1e100", "+1"});
  expect_schema(R"({"type": "boolean"})", {"true", "false"}, {"null", "True"});
  expect_schema(R"({"type": ["string", "null"]})", {"null", "\"\"", "\"a\\n\\u00e9\""},
                {"1", "\"a", "\"\n\"", "\"\\ud800\""});
  expect_schema(R"({"type": "string", "minLength": 2, "maxLength": 3})",
                {"\"ab\"", "\"\xC3\xA9\xC3\xA9\xC3\xA9\""}, {"\"a\"", "\"abcd\""});
  expect_schema(R"({"enum": ["red", 7, null, {"a": "\"\n"}]})",
                {"\"red\"", "7", "null", R"({"a":"\"\n"})"}, {"red", "\"blue\""});
  expect_schema(R"({"const": [1, 2]})", {"[1,2]"}, {"[1]"});
  expect_schema(R"({"type": "string", "format": "date"})", {"\"2024-02-28\"", "\"1999-12-31\""},
                {"\"2024-02-30\"", "\"2024-04-31\"", "\"2024-13-01\"", "\"x\""});
  expect_schema("true", {"1", "{}", "[[null]]"}, {"", "x"});
}

TEST_F(GrammarTest, BoundsOfNumbersHoldExactly) {
  struct Case {
    const char* schema;
    int low;
    int high;
  };
  const Case cases[] = {
      {R"({"type": "integer", "minimum": 0, "maximum": 9})", 0, 9},
      {R"({"type": "integer", "minimum": 18, "maximum": 120})", 18, 120},
      {R"({"type": "integer", "minimum": -105, "maximum": 57})", -105, 57},
      {R"({"type": "integer", "exclusiveMinimum": 99, "exclusiveMaximum": 1000})", 100, 999},
      {R"({"type": "integer", "minimum": -30, "maximum": -3})", -30, -3},
      {R"({"type": "integer", "minimum": 199.5, "maximum": 300.5})", 200, 300},
      {R"({"type": "integer", "minimum": 7, "maximum": 7})", 7, 7},
  };
  for (const Case& one : cases) {
    Automaton made = automaton(one.schema, "json_schema");
    for (int i = -1500; i <= 1500; ++i) {
      EXPECT_EQ(takes(made, std::to_string(i)), one.low <= i && i <= one.high)
          << one.schema << " " << i;
    }
  }
  expect_schema(R"({"type": "number", "minimum": 0, "maximum": 1})", {"0", "1", "0.25"},
                {"1.5", "-1", "2"});
  expect_schema(R"({"type": "number", "minimum": -2, "maximum": 1})", {"-1.5", "-2", "0.5", "-0.5"},
                {"-2.5", "1.5"});
  expect_schema(R"({"type": "integer", "minimum": 1})", {"1", "9999999999999999"}, {"0", "-1"});
}

TEST_F(GrammarTest, SchemasOfObjects) {
  const std::string schema = R"({
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "null"}},
    "required": ["b"]})";
  expect_schema(schema,
                {R"({"b":true})", R"({"a":1,"b":false})", R"({"a": 1, "b": false, "c": null})",
                 R"({ "b": true,"c":null })"},
                {"{}", R"({"a":1})", R"({"c":null,"b":true})", R"({"b":true,"d":1})",
                 R"({"b":true,})", R"({"b":true)"});
  expect_schema(
      R"({"type": "object", "properties": {"x": {"type": "null"}, "y": {"type": "null"}}})",
      {"{}", R"({"x":null})", R"({"y":null})", R"({"x":null,"y":null})"},
      {R"({"y":null,"x":null})", R"({,"y":null})"});
  expect_schema(R"({"type": "object", "additionalProperties": {"type": "integer"}})",
                {"{}", R"({"k":1,"l":2})"}, {R"({"k":"v"})"});
  expect_schema(R"({"type": "object", "additionalProperties": false})", {"{}"}, {R"({"a":1})"});
  expect_schema(R"({"type": "object", "required": ["q"]})", {R"({"q":[1]})"}, {"{}"});
}

TEST_F(GrammarTest, SchemasOfArrays) {
  expect_schema(R"({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3})",
                {"[1]", "[1, 2,3]"}, {"[]", "[1,2,3,4]", "[1,]", "[\"a\"]"});
  expect_schema(R"({"items": {"type": "null"}})", {"[]", "[null]", "[null,null]"}, {"[1]"});
  expect_schema(R"({"type": "array", "maxItems": 0})", {"[]"}, {"[1]"});
  expect_schema(
      R"({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false,
          "minItems": 1})",
      {"[1]", "[1,\"a\"]"}, {"[]", "[\"a\"]", "[1,\"a\",2]"});
  expect_schema(
      R"({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "null"},
          "minItems": 2, "maxItems": 3})",
      {"[1,null]", "[1,null,null]"}, {"[1]", "[1,1]", "[1,null,null,null]"});
}

TEST_F(GrammarTest, SchemasThatReferAndChoose) {
  expect_schema(R"({"$defs": {"tree": {"type": "object",
                      "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
                      "required": ["children"]}}, "$ref": "#/$defs/tree"})",
                {R"({"children":[]})", R"({"children":[{"children":[]},{"children":[]}]})"},
                {"{}", R"({"children":[1]})"});
  expect_schema(R"({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]})",
                {"1", "[1,[2,[]]]"}, {"[\"a\"]"});
  expect_schema(R"({"definitions": {"a/b": {"const": 1}}, "$ref": "#/definitions/a~1b"})", {"1"},
                {"2"});
}

TEST_F(GrammarTest, WhatSchemasAskAndIsNotServedIsNamed) {
  for (const char* schema :
       {R"({"type": "string", "pattern": "a+"})", R"({"not": {}})", R"({"multipleOf": 3})",
        R"({"type": "array", "uniqueItems": true})", R"({"allOf": [{}, {}]})",
        R"({"$ref": "http://elsewhere"})", R"({"anyOf": [{}], "properties": {}})",
        R"({"type": "integer", "minimum": 1.2, "maximum": 1.8})"}) {
    EXPECT_EQ(parse_grammar(schema, "json_schema").error(), Error::NotSupported) << schema;
  }
  for (const char* schema :
       {"", "{", "3", "false", R"({"type": "text"})", R"({"enum": []})", R"({"$ref": "#/nowhere"})",
        R"({"type": "string", "minLength": -1})",
        R"({"type": "string", "minLength": 3, "maxLength": 2})", R"({"properties": 3})"}) {
    EXPECT_EQ(parse_grammar(schema, "json_schema").error(), Error::InvalidArgument) << schema;
  }
  const std::string deep = [] {
    std::string text = "{\"const\": 1}";
    for (int i = 0; i < 200; ++i) {
      text = "{\"items\": " + text + "}";
    }
    return text;
  }();
  EXPECT_EQ(parse_grammar(deep, "json_schema").error(), Error::InvalidArgument);
}

TEST_F(GrammarTest, TokensThatGoOnAreAllowed) {
  const ListTokenizer tokenizer({"<end>", "a", "ab", "abc", "b", "bc", "", "ab"});
  const auto tree = std::make_shared<const TokenTree>(tokenizer);
  auto made = TokenGrammar::make(std::move(*parse_gbnf(R"(root ::= "abc" "b"*)")), tree, {0});
  ASSERT_TRUE(made.ok());
  TokenGrammar& grammar = **made;
  const auto allowed = [&] {
    std::vector<float> logits(tokenizer.vocab_size(), 1.0f);
    grammar.filter(logits.data(), static_cast<int32_t>(logits.size()));
    std::vector<int> found;
    for (size_t i = 0; i < logits.size(); ++i) {
      if (!std::isinf(logits[i])) {
        found.push_back(static_cast<int>(i));
      }
    }
    return found;
  };
  EXPECT_EQ(allowed(), (std::vector<int>{1, 2, 3, 7}));
  grammar.accept(1);
  EXPECT_EQ(allowed(), (std::vector<int>{4, 5}));
  grammar.accept(5);
  EXPECT_EQ(allowed(), (std::vector<int>{0, 4}));
  EXPECT_TRUE(grammar.can_end());
  grammar.accept(0);
  EXPECT_EQ(allowed(), (std::vector<int>{0}));
  EXPECT_EQ(grammar.error(), Error::Ok);
  grammar.restart();
  grammar.accept(2);
  EXPECT_EQ(allowed(), (std::vector<int>{0})) << "no token is c alone";
  EXPECT_EQ(grammar.error(), Error::InvalidState);
  EXPECT_EQ(TokenGrammar::make(std::move(*parse_gbnf("root ::= \"a\"")), tree, {}).error(),
            Error::InvalidArgument);
  EXPECT_EQ(
      TokenGrammar::make(std::move(*parse_grammar(R"({"$ref": "#"})", "json_schema")), tree, {0})
          .error(),
      Error::InvalidArgument)
      << "it takes no text";
}
