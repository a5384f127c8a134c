// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/text/grammar/json_schema.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include <executorch/extension/text/grammar/grammar.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension::llm {

using Json = nlohmann::ordered_json;
using runtime::Error;
using runtime::Result;

namespace {

constexpr int kDeepest = 100;
constexpr int64_t kLargest = 9'999'999'999'999'999;  // of 16 digits

struct Named {
  const char* name;
  const char* rule;
};

// Space is short, so that an answer cannot be spaces without end.
constexpr Named kRules[] = {
    {"space", R"gbnf(" "? | "\n" " "{0,20})gbnf"},
    {"char",
     R"gbnf([^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" ([0-9a-cefA-CEF] hex{3} | [dD] [0-7] hex{2})))gbnf"},
    {"hex", "[0-9a-fA-F]"},
    {"digits", R"gbnf("0" | [1-9] [0-9]{0,15})gbnf"},
    {"fraction", R"gbnf("." [0-9]{1,16})gbnf"},
    {"string", R"gbnf("\"" char* "\"")gbnf"},
    {"integer", R"gbnf("-"? digits)gbnf"},
    {"number", R"gbnf("-"? digits fraction? ([eE] [+-]? [0-9]{1,2})?)gbnf"},
    {"boolean", R"gbnf("true" | "false")gbnf"},
    {"null", R"gbnf("null")gbnf"},
    {"value", "object | array | string | number | boolean | null"},
    {"object",
     R"gbnf("{" space (string ":" space value ("," space string ":" space value)* space)? "}")gbnf"},
    {"array", R"gbnf("[" space (value ("," space value)* space)? "]")gbnf"},
    {"day-of-31", R"gbnf("0" [1-9] | [12] [0-9] | "3" [01])gbnf"},
    {"day-of-30", R"gbnf("0" [1-9] | [12] [0-9] | "30")gbnf"},
    {"day-of-28", R"gbnf("0" [1-9] | "1" [0-9] | "2" [0-8])gbnf"},
    {"date-text",
     R"gbnf([12] [0-9]{3} "-" (("0" [13578] | "1" [02]) "-" day-of-31 | ("0" [469] | "11") "-" day-of-30 | "02-" day-of-28))gbnf"},
    {"hour-text", R"gbnf(([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])gbnf"},
    {"time-text", R"gbnf(hour-text ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | [+-] hour-text))gbnf"},
    {"date", R"gbnf("\"" date-text "\"")gbnf"},
    {"time", R"gbnf("\"" time-text "\"")gbnf"},
    {"date-time", R"gbnf("\"" date-text "T" time-text "\"")gbnf"},
    {"uuid", R"gbnf("\"" hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12} "\"")gbnf"},
};

// Say nothing about which values are taken.
const std::set<std::string> kRemarks = {
    "$schema",     "$id",      "$comment",    "$anchor",         "$defs",
    "definitions", "title",    "description", "default",         "examples",
    "deprecated",  "readOnly", "writeOnly",   "contentEncoding", "contentMediaType"};
// Of each type; the keywords of the others do not concern its values.
const std::map<std::string, std::set<std::string>> kKeywords = {
    {"object", {"properties", "required", "additionalProperties", "propertyOrdering"}},
    {"array", {"items", "prefixItems", "minItems", "maxItems"}},
    {"string", {"minLength", "maxLength", "format"}},
    {"number", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}},
    {"integer", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}},
    {"boolean", {}},
    {"null", {}},
};

std::string literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '"':
      case '\\':
        quoted += '\\';
        [[fallthrough]];
      default:
        quoted += c;
    }
  }
  return quoted + "\"";
}

std::string json_literal(const Json& value) {
  return literal(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string repeated(const std::string& item, uint64_t least, int64_t most) {
  const std::string end = most < 0 ? "" : std::to_string(most);
  if (most == 0) {
    return "";
  }
  return item + "{" + std::to_string(least) + "," + end + "}";
}

// Numbers without a sign, of as many digits each, from `low` to `high`.
std::string of_length(const std::string& low, const std::string& high) {
  if (low.empty()) {
    return "";
  }
  const auto tail = [](const std::string& text) { return text.substr(1); };
  const std::string rest = std::to_string(low.size() - 1);
  const auto any = [&](char first, char last) {
    return std::string("[") + first + "-" + last + "]" +
           (low.size() == 1 ? "" : " [0-9]{" + rest + "}");
  };
  if (low[0] == high[0]) {
    return std::string("\"") + low[0] + "\" " + of_length(tail(low), tail(high));
  }
  const std::string zeros(low.size() - 1, '0');
  const std::string nines(low.size() - 1, '9');
  std::string found = "(";
  char first = low[0];
  char last = high[0];
  if (tail(low) != zeros) {
    found += of_length(low, low[0] + nines) + " | ";
    ++first;
  }
  std::string end;
  if (tail(high) != nines) {
    end = of_length(high[0] + zeros, high);
    --last;
  }
  if (first <= last) {
    found += any(first, last) + (end.empty() ? "" : " | ");
  }
  return found + end + ")";
}

// From 0 <= low to high.
std::string magnitudes(int64_t low, int64_t high) {
  std::string found;
  for (std::string begin = std::to_string(low); begin.size() <= std::to_string(high).size();
       begin = "1" + std::string(begin.size(), '0')) {
    const std::string nines(begin.size(), '9');
    const std::string last = std::to_string(high);
    const std::string end = begin.size() == last.size() ? last : nines;
    found += (found.empty() ? "" : " | ") + of_length(begin, end);
  }
  return "(" + found + ")";
}

std::string numbers_between(int64_t low, int64_t high, bool with_fractions) {
  std::vector<std::string> found;
  if (low < 0) {
    const int64_t least = high < 0 ? -high : 0;
    found.push_back("\"-\" " + magnitudes(least, -low));
    if (with_fractions && least <= -low - 1) {
      found.push_back("\"-\" " + magnitudes(least, -low - 1) + " fraction");
    }
  }
  if (high >= 0) {
    const int64_t least = std::max<int64_t>(low, 0);
    found.push_back(magnitudes(least, high));
    if (with_fractions && least <= high - 1) {
      found.push_back(magnitudes(least, high - 1) + " fraction");
    }
  }
  std::string joined;
  for (const std::string& part : found) {
    joined += (joined.empty() ? "" : " | ") + part;
  }
  return "(" + joined + ")";
}

class Writer {
 public:
  explicit Writer(const Json& root) : root_(root) {}

  Result<std::string> write() {
    const std::string top = ET_UNWRAP(schema(root_, "#", 0));
    std::string text = "root ::= " + top + "\n";
    for (const Named& row : kRules) {
      text += std::string(row.name) + " ::= " + row.rule + "\n";
    }
    for (const auto& [name, rule] : rules_) {
      text += name + " ::= " + rule + "\n";
    }
    return text;
  }

 private:
  // What a value of the schema is, in parentheses where it needs them.
  Result<std::string> schema(const Json& given, const std::string& place, int depth) {
    ET_CHECK_OR_RETURN_ERROR(depth < kDeepest, InvalidArgument,
                             "JSON schema, %s: more than %d schemas in one another", place.c_str(),
                             kDeepest);
    if (given.is_boolean() && given.get<bool>()) {
      return std::string("value");
    }
    ET_CHECK_OR_RETURN_ERROR(given.is_object(), InvalidArgument,
                             "JSON schema, %s: expected an object, found %s", place.c_str(),
                             given.dump().substr(0, 60).c_str());
    for (const char* key : {"$ref", "const", "enum", "anyOf", "oneOf", "allOf"}) {
      if (given.contains(key)) {
        ET_CHECK_OK_OR_RETURN_ERROR(only(given, {key, "type"}, place));
        return whole(key, given[key], place, depth);
      }
    }
    return typed(given, place, depth);
  }

  // Refuses keywords that would be left out.
  static Error only(const Json& given, const std::set<std::string>& known,
                    const std::string& place) {
    for (const auto& [key, value] : given.items()) {
      ET_CHECK_OR_RETURN_ERROR(known.count(key) > 0 || kRemarks.count(key) > 0, NotSupported,
                               "JSON schema, %s: %s is not served here", place.c_str(),
                               key.c_str());
    }
    return Error::Ok;
  }

  // Keywords that say all about a value.
  Result<std::string> whole(const std::string& key, const Json& value, const std::string& place,
                            int depth) {
    const std::string here = place + "/" + key;
    if (key == "$ref") {
      return reference(value, here, depth);
    }
    if (key == "const") {
      return json_literal(value);
    }
    ET_CHECK_OR_RETURN_ERROR(value.is_array() && !value.empty(), InvalidArgument,
                             "JSON schema, %s: expected a list", here.c_str());
    ET_CHECK_OR_RETURN_ERROR(key != "allOf" || value.size() == 1, NotSupported,
                             "JSON schema, %s: only one schema is served there", here.c_str());
    std::string found;
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string part =
          key == "enum" ? json_literal(value[i])
                        : ET_UNWRAP(schema(value[i], here + "/" + std::to_string(i), depth + 1));
      found += (i == 0 ? "" : " | ") + part;
    }
    return "(" + found + ")";
  }

  Result<std::string> reference(const Json& value, const std::string& place, int depth) {
    const std::string path = value.is_string() ? value.get<std::string>() : "";
    ET_CHECK_OR_RETURN_ERROR(path.rfind("#", 0) == 0, NotSupported,
                             "JSON schema, %s: expected a place in this schema, as #/$defs/name",
                             place.c_str());
    const auto [name, is_new] =
        references_.try_emplace(path, "ref-" + std::to_string(references_.size()));
    if (is_new) {
      const std::string own = name->second;
      const auto pointer = path.substr(1);
      const bool is_pointer = pointer.empty() || pointer[0] == '/';
      const Json* found = is_pointer ? at(pointer) : nullptr;
      ET_CHECK_OR_RETURN_ERROR(found != nullptr, InvalidArgument, "JSON schema, %s: there is no %s",
                               place.c_str(), path.c_str());
      rules_[own] = ET_UNWRAP(schema(*found, path, depth + 1));
      return own;
    }
    return name->second;
  }

  const Json* at(const std::string& pointer) const {
    const Json* found = &root_;
    for (size_t begin = 1; begin <= pointer.size() && !pointer.empty();) {
      const size_t end = std::min(pointer.find('/', begin), pointer.size());
      std::string key = pointer.substr(begin, end - begin);
      for (const auto& [from, to] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}}) {
        for (size_t i = key.find(from); i != std::string::npos; i = key.find(from, i + 1)) {
          key.replace(i, 2, to);
        }
      }
      if (!found->is_object() || !found->contains(key)) {
        return nullptr;
      }
      found = &(*found)[key];
      begin = end + 1;
    }
    return found;
  }

  Result<std::string> typed(const Json& given, const std::string& place, int depth) {
    std::vector<std::string> types;
    const Json& type = given.contains("type") ? given["type"] : implied(given);
    for (const Json& one : type.is_array() ? type : Json::array({type})) {
      const std::string name = one.is_string() ? one.get<std::string>() : "";
      ET_CHECK_OR_RETURN_ERROR(name == "any" || kKeywords.count(name) > 0, InvalidArgument,
                               "JSON schema, %s/type: expected a type of JSON, found %s",
                               place.c_str(), one.dump().c_str());
      types.push_back(name);
    }
    std::set<std::string> known = {"type"};
    std::string found;
    for (const std::string& name : types) {
      if (name == "any") {
        found = "value";
        break;
      }
      known.insert(kKeywords.at(name).begin(), kKeywords.at(name).end());
      found += (found.empty() ? "" : " | ") + ET_UNWRAP(value_of(name, given, place, depth));
    }
    ET_CHECK_OK_OR_RETURN_ERROR(only(given, known, place));
    return types.size() == 1 ? found : "(" + found + ")";
  }

  // A schema without a type takes all of them; one that speaks of properties or items is written
  // for these.
  static const Json& implied(const Json& given) {
    static const Json object = "object";
    static const Json array = "array";
    static const Json string = "string";
    static const Json number = "number";
    static const Json any = "any";
    const auto speaks_of = [&](const char* type) {
      const auto& keywords = kKeywords.at(type);
      return std::any_of(keywords.begin(), keywords.end(),
                         [&](const std::string& key) { return given.contains(key); });
    };
    return speaks_of("object")   ? object
           : speaks_of("array")  ? array
           : speaks_of("string") ? string
           : speaks_of("number") ? number
                                 : any;
  }

  Result<std::string> value_of(const std::string& type, const Json& given, const std::string& place,
                               int depth) {
    if (type == "object") {
      return object(given, place, depth);
    }
    if (type == "array") {
      return array(given, place, depth);
    }
    if (type == "string") {
      return string(given, place);
    }
    if (type == "number" || type == "integer") {
      return number(given, place, type == "number");
    }
    return type;
  }

  // A length or a count; -1 where there is none.
  static Result<int64_t> count(const Json& given, const char* key, const std::string& place) {
    if (!given.contains(key)) {
      return int64_t{-1};
    }
    const Json& value = given[key];
    ET_CHECK_OR_RETURN_ERROR(
        value.is_number_integer() && value.get<int64_t>() >= 0 && value.get<int64_t>() <= 10000,
        InvalidArgument, "JSON schema, %s/%s: expected a whole number up to 10000, found %s",
        place.c_str(), key, value.dump().c_str());
    return value.get<int64_t>();
  }

  // -1: without end.
  struct Counts {
    uint64_t least;
    int64_t most;
  };
  static Result<Counts> counts(const Json& given, const char* least, const char* most,
                               const std::string& place) {
    const int64_t low = std::max<int64_t>(ET_UNWRAP(count(given, least, place)), 0);
    const int64_t high = ET_UNWRAP(count(given, most, place));
    ET_CHECK_OR_RETURN_ERROR(high == -1 || low <= high, InvalidArgument,
                             "JSON schema, %s: %s is more than %s", place.c_str(), least, most);
    return Counts{static_cast<uint64_t>(low), high};
  }

  Result<std::string> string(const Json& given, const std::string& place) {
    const std::string format = given.value("format", Json("")).is_string()
                                   ? given.value("format", Json("")).get<std::string>()
                                   : "";
    if (format == "date" || format == "time" || format == "date-time" || format == "uuid") {
      ET_CHECK_OK_OR_RETURN_ERROR(only(given, {"type", "format"}, place));
      return format;
    }
    const Counts length = ET_UNWRAP(counts(given, "minLength", "maxLength", place));
    return "\"\\\"\" " + repeated("char", length.least, length.most) + " \"\\\"\"";
  }

  Result<std::string> number(const Json& given, const std::string& place, bool with_fractions) {
    int64_t low = -kLargest;
    int64_t high = kLargest;
    bool is_bounded = false;
    for (const char* key : {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}) {
      if (!given.contains(key)) {
        continue;
      }
      const Json& value = given[key];
      ET_CHECK_OR_RETURN_ERROR(
          value.is_number() && std::abs(value.get<double>()) <= static_cast<double>(kLargest),
          InvalidArgument, "JSON schema, %s/%s: expected a number of up to 16 digits, found %s",
          place.c_str(), key, value.dump().c_str());
      is_bounded = true;
      const double bound = value.get<double>();
      const bool is_lower = std::string(key).find("inimum") != std::string::npos;
      const bool is_exclusive = key[0] == 'e';
      // Of a bound between two whole numbers, the next one inside counts.
      auto whole = static_cast<int64_t>(is_lower ? std::ceil(bound) : std::floor(bound));
      if (is_exclusive && static_cast<double>(whole) == bound) {
        whole += is_lower ? 1 : -1;
      }
      (is_lower ? low : high) = is_lower ? std::max(low, whole) : std::min(high, whole);
    }
    if (!is_bounded) {
      return std::string(with_fractions ? "number" : "integer");
    }
    ET_CHECK_OR_RETURN_ERROR(low <= high, NotSupported,
                             "JSON schema, %s: no whole number lies between the bounds",
                             place.c_str());
    return numbers_between(low, high, with_fractions);
  }

  Result<std::string> array(const Json& given, const std::string& place, int depth) {
    const Counts length = ET_UNWRAP(counts(given, "minItems", "maxItems", place));
    std::vector<std::string> first;
    if (given.contains("prefixItems")) {
      ET_CHECK_OR_RETURN_ERROR(given["prefixItems"].is_array(), InvalidArgument,
                               "JSON schema, %s/prefixItems: expected a list", place.c_str());
      for (const Json& item : given["prefixItems"]) {
        first.push_back(ET_UNWRAP(
            schema(item, place + "/prefixItems/" + std::to_string(first.size()), depth + 1)));
      }
    }
    const bool is_closed = given.contains("items") && given["items"] == false;
    const int64_t most =
        is_closed ? (length.most == -1
                         ? static_cast<int64_t>(first.size())
                         : std::min<int64_t>(length.most, static_cast<int64_t>(first.size())))
                  : length.most;
    std::string item = "value";
    if (given.contains("items") && !is_closed) {
      item = ET_UNWRAP(schema(given["items"], place + "/items", depth + 1));
    }
    ET_CHECK_OR_RETURN_ERROR(most == -1 || static_cast<int64_t>(length.least) <= most,
                             InvalidArgument, "JSON schema, %s: minItems is more than its items",
                             place.c_str());
    // From the last place to the first: each is there if the ones before it are.
    std::string rest;
    const auto least = static_cast<int64_t>(length.least);
    const auto num_first = static_cast<int64_t>(first.size());
    const std::string name = "items-" + std::to_string(num_names_++);
    rules_[name] = item;
    const std::string next = "(\",\" space " + name + ")";
    if (num_first == 0) {
      if (most == 0) {
        return std::string("\"[\" space \"]\"");
      }
      const std::string more = repeated(
          next, static_cast<uint64_t>(std::max<int64_t>(least - 1, 0)), most == -1 ? -1 : most - 1);
      const std::string all = name + " " + more + " space";
      return "\"[\" space " + (least == 0 ? "(" + all + ")?" : all) + " \"]\"";
    }
    if (most == -1 || most > num_first) {
      rest = repeated(next, static_cast<uint64_t>(std::max<int64_t>(least - num_first, 0)),
                      most == -1 ? -1 : most - num_first);
    }
    const int64_t num_places = most == -1 ? num_first : std::min(most, num_first);
    for (int64_t i = num_places; i-- > 0;) {
      const std::string one =
          (i == 0 ? "" : "\",\" space ") + first[static_cast<size_t>(i)] + " " + rest;
      rest = i < least ? one : "(" + one + ")?";
    }
    return "\"[\" space " + rest + " space \"]\"";
  }

  struct Property {
    std::string text;  // "name": value
    bool is_required;
  };

  Result<std::vector<Property>> properties(const Json& given, const std::string& place, int depth) {
    std::vector<Property> found;
    std::set<std::string> required;
    if (given.contains("required")) {
      for (const Json& name : given["required"]) {
        ET_CHECK_OR_RETURN_ERROR(name.is_string(), InvalidArgument,
                                 "JSON schema, %s/required: expected names", place.c_str());
        required.insert(name.get<std::string>());
      }
    }
    const auto add = [&](const std::string& name, const std::string& value, bool is_required) {
      found.push_back({json_literal(name) + " \":\" space " + value, is_required});
    };
    if (given.contains("properties")) {
      ET_CHECK_OR_RETURN_ERROR(given["properties"].is_object(), InvalidArgument,
                               "JSON schema, %s/properties: expected an object", place.c_str());
      for (const auto& [name, value] : given["properties"].items()) {
        const std::string rule = "property-" + std::to_string(num_names_++);
        rules_[rule] = ET_UNWRAP(schema(value, place + "/properties/" + name, depth + 1));
        add(name, rule, required.erase(name) > 0);
      }
    }
    for (const std::string& name : required) {
      add(name, "value", true);
    }
    return found;
  }

  Result<std::string> object(const Json& given, const std::string& place, int depth) {
    const std::vector<Property> found = ET_UNWRAP(properties(given, place, depth));
    if (found.empty()) {
      const Json others = given.value("additionalProperties", Json(true));
      if (others == false || given.contains("properties")) {
        return std::string("\"{\" space \"}\"");
      }
      const std::string rule = "others-" + std::to_string(num_names_++);
      rules_[rule] = ET_UNWRAP(schema(others, place + "/additionalProperties", depth + 1));
      const std::string pair = "string \":\" space " + rule;
      return "\"{\" space (" + pair + " (\",\" space " + pair + ")* space)? \"}\"";
    }
    // `after`: what may follow once a property is there; `before`: while there is none.
    std::string after;
    std::string before;
    bool may_be_none = true;
    for (size_t i = found.size(); i-- > 0;) {
      const std::string name = "rest-" + std::to_string(num_names_++);
      rules_[name] = after.empty() ? "\"\"" : after;
      const std::string first = found[i].text + " " + name;
      const std::string later = "\",\" space " + first;
      if (found[i].is_required) {
        before = first;
        after = later;
        may_be_none = false;
      } else {
        before = before.empty() ? first : first + " | " + before;
        after = "(" + later + " | " + name + ")";
      }
    }
    return "\"{\" space (" + before + ")" + (may_be_none ? "?" : "") + " space \"}\"";
  }

  const Json& root_;
  std::map<std::string, std::string> rules_;
  std::map<std::string, std::string> references_;
  int num_names_ = 0;
};

}  // namespace

Result<std::string> json_schema_to_gbnf(const std::string& schema) {
  const Json root = Json::parse(schema, nullptr, false);
  ET_CHECK_OR_RETURN_ERROR(!root.is_discarded(), InvalidArgument,
                           "Expected a JSON schema, found no JSON");
  return Writer(root).write();
}

Result<Grammar> parse_grammar(const std::string& text, const std::string& type) {
  if (type == "gbnf") {
    return parse_gbnf(text);
  }
  ET_CHECK_OR_RETURN_ERROR(type == "json_schema", NotSupported,
                           "grammar_type: expected gbnf or json_schema, got \"%s\"", type.c_str());
  return parse_gbnf(ET_UNWRAP(json_schema_to_gbnf(text)));
}

}  // namespace executorch::extension::llm
