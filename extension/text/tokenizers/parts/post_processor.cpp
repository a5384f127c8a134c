// SPDX-License-Identifier: BSD-3-Clause
// The kinds of post-processor as templates of ids.
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/post_processor.h>

#include <utility>

namespace tokenizers::detail {

namespace {

using Json = nlohmann::json;
using Templates = std::vector<std::vector<uint64_t>>;

Templates of_template(const Json& part) {
  std::vector<uint64_t> ids;
  const Json& special = part_of(part, "special_tokens");
  for (const Json& piece : field<Json>(part, "single")) {
    if (piece.contains("Sequence")) {
      ids.push_back(PostProcessor::kText);
      continue;
    }
    const auto name = field<std::string>(field<Json>(piece, "SpecialToken"), "id");
    const auto more = field<std::vector<uint64_t>>(field<Json>(special, name.c_str()), "ids");
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return {ids};
}

/// [text, id] under `cls` before and under `sep` after.
Templates of_bert(const Json& part) {
  const auto id = [&](const char* name) {
    return field<std::pair<std::string, uint64_t>>(part, name).second;
  };
  return {{id("cls"), PostProcessor::kText, id("sep")}};
}

Templates of_byte_level(const Json&) {
  return {};
}

Templates of_sequence(const Json& part);

constexpr Kind<Templates> kKinds[] = {
    {"BertProcessing", of_bert},         {"ByteLevel", of_byte_level},
    {"RobertaProcessing", of_bert},      {"Sequence", of_sequence},
    {"TemplateProcessing", of_template},
};

Templates of_sequence(const Json& part) {
  Templates all;
  for (const Json& step : field<Json>(part, "processors")) {
    for (auto& ids : make_part(kKinds, step, "post_processor")) {
      all.push_back(std::move(ids));
    }
  }
  return all;
}

}  // namespace

PostProcessor::PostProcessor(const Json& part)
    : templates_(part.is_null() ? Templates() : make_part(kKinds, part, "post_processor")) {}

std::vector<uint64_t> PostProcessor::apply(std::vector<uint64_t> ids) const {
  for (const auto& each : templates_) {
    std::vector<uint64_t> out;
    out.reserve(ids.size() + each.size());
    for (const uint64_t id : each) {
      if (id == kText) {
        out.insert(out.end(), ids.begin(), ids.end());
      } else {
        out.push_back(id);
      }
    }
    ids = std::move(out);
  }
  return ids;
}

}  // namespace tokenizers::detail
