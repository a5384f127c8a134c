// SPDX-License-Identifier: BSD-3-Clause
// One pass over the file: a vocabulary of 100,000 pieces as a JSON tree would take four times as
// long.
#include <executorch/extension/text/tokenizers/parts/json_tree.h>
#include <executorch/extension/text/tokenizers/parts/tokenizer_json.h>
#include <pytorch/tokenizers/log.h>
#include <pytorch/tokenizers/result.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <sys/stat.h>

namespace tokenizers::detail {

namespace {

using Json = nlohmann::json;

/// A number as serde_json makes it of its digits: all of them as an integer, then one division or
/// product, which is not always the nearest double. Scores have to be the same to the last bit, as
/// ties between cuts are common.
double as_reference_reads(std::string_view text) {
  const bool is_negative = text.front() == '-';
  uint64_t digits = 0;
  int exponent = 0;
  bool is_fraction = false, is_full = false;
  size_t i = is_negative ? 1 : 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      is_fraction = true;
      continue;
    }
    const uint64_t digit = static_cast<uint64_t>(text[i] - '0');
    is_full = is_full || digits > (UINT64_MAX - digit) / 10;
    if (is_full) {
      exponent += is_fraction ? 0 : 1;
    } else {
      digits = 10 * digits + digit;
      exponent -= is_fraction ? 1 : 0;
    }
  }
  if (i < text.size()) {
    exponent += static_cast<int>(std::strtol(text.data() + i + 1, nullptr, 10));
  }
  const double power = std::pow(10.0, std::min(std::abs(exponent), 308));
  const double value =
      exponent >= 0 ? static_cast<double>(digits) * power : static_cast<double>(digits) / power;
  return is_negative ? -value : value;
}

/// A file's characters without the spaces that lines begin with, a third of one that is laid out
/// for people; a string has no line feed in it, so they are between tokens. Columns in messages do
/// not count them.
class Unindented {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Unindented(const char* at, const char* end) : at_(at), end_(end) {}
  reference operator*() const { return *at_; }
  Unindented& operator++() {
    if (*at_++ == '\n') {
      while (at_ != end_ && *at_ == ' ') {
        ++at_;
      }
    }
    return *this;
  }
  bool operator==(const Unindented& other) const { return at_ == other.at_; }
  bool operator!=(const Unindented& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char* end_;
};

struct Flag {
  std::string_view name;
  bool AddedToken::* is_set;
};
constexpr Flag kFlags[] = {{"special", &AddedToken::is_special},
                           {"normalized", &AddedToken::is_normalized},
                           {"single_word", &AddedToken::is_single_word},
                           {"lstrip", &AddedToken::strips_left},
                           {"rstrip", &AddedToken::strips_right}};
// Bits of the fields that an added token has: its flags, then these.
constexpr unsigned kContent = 1 << std::size(kFlags), kId = kContent << 1;
constexpr unsigned kAllFields = 2 * kId - 1;

class Reader : public Json::json_sax_t {
 public:
  explicit Reader(TokenizerJson& out) : out_(out), tree_(out.rest) {}

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override {
    for (size_t i = 0; in_added_token() && i < std::size(kFlags); ++i) {
      if (kFlags[i].name == tree_.last_key()) {
        out_.added.back().*kFlags[i].is_set = value;
        fields_ |= 1u << i;
      }
    }
    return scalar(value);
  }
  bool number_integer(number_integer_t value) override {
    return state_ == State::kScores ? score(static_cast<double>(value)) : scalar(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::kIds) {
      out_.vocabulary.push_back({piece_, value, 0});
      return true;
    }
    if (in_added_token() && tree_.last_key() == "id") {
      out_.added.back().id = value;
      fields_ |= kId;
    }
    return state_ == State::kScores ? score(static_cast<double>(value)) : scalar(value);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return state_ == State::kScores ? score(as_reference_reads(text)) : scalar(value);
  }
  bool string(string_t& value) override {
    switch (state_) {
      case State::kTree:
        return scalar(std::move(value));
      case State::kAdded:
        if (in_added_token() && tree_.last_key() == "content") {
          out_.added.back().content = value;
          fields_ |= kContent;
        }
        return scalar(nullptr);
      case State::kIds:
        return refuse("a number for a piece of model.vocab");
      case State::kScores:
        if (inner_ != 1 || parts_ != 0) {
          return refuse("[piece, score] in model.vocab");
        }
        ++parts_;
        piece_ = keep(value);
        return true;
      case State::kMerges:
        return merge(value);
    }
    return false;
  }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override {
    if (state_ == State::kIds) {
      piece_ = keep(value);
    } else {
      tree_.key(value);
      if (tree_.depth() == 1) {
        section_ = value;
      }
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (state_ == State::kAdded) {
      if (inner_++ == 0) {
        out_.added.emplace_back();
        fields_ = 0;
      }
      return true;
    }
    if (state_ != State::kTree) {
      return refuse("no object inside model.vocab or model.merges");
    }
    if (in_model() && tree_.last_key() == "vocab") {
      state_ = State::kIds;
      out_.has_vocabulary = true;
      out_.vocabulary.clear();
      return true;
    }
    return tree_.open(Json::object()) || refuse("at most 64 levels");
  }
  bool end_object() override {
    if (state_ == State::kIds) {
      state_ = State::kTree;
      return true;
    }
    if (state_ == State::kAdded) {
      if (--inner_ == 0 && fields_ != kAllFields && !out_.bad_added) {
        out_.bad_added = out_.added.size() - 1;
      }
      return true;
    }
    tree_.close();
    return true;
  }
  bool start_array(std::size_t) override {
    if (state_ == State::kAdded) {
      return inner_++ != 0 || refuse("an object for each of added_tokens");
    }
    if (state_ == State::kTree && tree_.depth() == 1 && tree_.last_key() == "added_tokens") {
      tree_.place(Json::array());
      state_ = State::kAdded;
      inner_ = 0;
      out_.added.clear();
      out_.bad_added.reset();
      return true;
    }
    if (state_ == State::kTree && in_model() &&
        (tree_.last_key() == "vocab" || tree_.last_key() == "merges")) {
      const bool is_merges = tree_.last_key() == "merges";
      state_ = is_merges ? State::kMerges : State::kScores;
      inner_ = parts_ = 0;
      (is_merges ? out_.has_merges : out_.has_vocabulary) = true;
      out_.has_scores = out_.has_scores || !is_merges;
      return true;
    }
    if (state_ == State::kTree) {
      return tree_.open(Json::array()) || refuse("at most 64 levels");
    }
    if (state_ == State::kIds || inner_ != 0) {
      return refuse("pairs inside model.vocab or model.merges");
    }
    inner_ = 1;
    parts_ = 0;
    return true;
  }
  bool end_array() override {
    if (state_ == State::kTree) {
      tree_.close();
      return true;
    }
    if (inner_ == 0) {
      state_ = State::kTree;
      return true;
    }
    if (state_ == State::kAdded) {
      --inner_;
      return true;
    }
    inner_ = 0;
    return parts_ == 2 || refuse("two parts in each pair of model.vocab or model.merges");
  }
  bool parse_error(std::size_t at, const std::string&, const Json::exception& why) override {
    TK_LOG(Error, "Error parsing json file: byte %zu: %s", at, why.what());
    return false;
  }

 private:
  enum class State { kTree, kIds, kScores, kMerges, kAdded };

  bool refuse(const char* expected) {
    TK_LOG(
        Error,
        "tokenizer.json: expected %s, near entry %zu of the vocabulary, %zu of the merges, %zu of "
        "the added tokens",
        expected, out_.vocabulary.size(), out_.merges.size(), out_.added.size());
    return false;
  }

  bool in_added_token() const { return state_ == State::kAdded && inner_ == 1; }
  bool in_model() const { return tree_.depth() == 2 && section_ == "model"; }

  TokenizerJson::Text keep(const std::string& text) {
    const auto start = static_cast<uint32_t>(out_.texts.size());
    out_.texts += text;
    return {start, static_cast<uint32_t>(text.size())};
  }

  bool score(double value) {
    if (inner_ != 1 || parts_ != 1) {
      return refuse("[piece, score] in model.vocab");
    }
    ++parts_;
    out_.vocabulary.push_back({piece_, out_.vocabulary.size(), value});
    return true;
  }

  bool merge(const std::string& value) {
    if (inner_ == 1) {
      if (parts_ == 2) {
        return refuse("two parts in each pair of model.merges");
      }
      const TokenizerJson::Text part = keep(value);
      if (parts_++ == 0) {
        piece_ = part;
      } else {
        out_.merges.push_back({piece_, part});
      }
      return true;
    }
    const size_t space = value.find(' ');
    if (space == std::string::npos || value.find(' ', space + 1) != std::string::npos) {
      return refuse("\"left right\" in model.merges");
    }
    const TokenizerJson::Text both = keep(value);
    const auto cut = static_cast<uint32_t>(space);
    out_.merges.push_back({{both.start, cut}, {both.start + cut + 1, both.size - cut - 1}});
    return true;
  }

  bool scalar(Json value) {
    if (state_ == State::kAdded) {
      return inner_ != 0 || refuse("an object for each of added_tokens");
    }
    if (state_ != State::kTree) {
      return refuse("only pieces and numbers in model.vocab and model.merges");
    }
    tree_.place(std::move(value));
    return true;
  }

  TokenizerJson& out_;
  JsonTree tree_;
  std::string section_;
  State state_ = State::kTree;
  TokenizerJson::Text piece_{0, 0};
  int inner_ = 0, parts_ = 0;
  unsigned fields_ = 0;
};

/// The mode's bits of what stands at the path; 0 when nothing does.
unsigned mode_of(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & S_IFMT : 0;
}

}  // namespace

bool is_folder(const std::string& path) {
  return mode_of(path) == S_IFDIR;
}

bool is_file(const std::string& path) {
  return mode_of(path) == S_IFREG;
}

Error parse_tokenizer_json(std::string_view bytes, TokenizerJson& out) {
  out.texts.reserve(bytes.size() / 2);
  Reader reader(out);
  const char* end = bytes.data() + bytes.size();
  const bool is_read =
      Json::sax_parse(Unindented{bytes.data(), end}, Unindented{end, end}, &reader);
  return is_read ? Error::Ok : Error::ParseFailure;
}

Error read_file(const std::string& path, std::string& out) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  // What cannot be read (a folder, too) has no size, or one that no file has.
  TK_CHECK_OR_RETURN_ERROR(size >= 0 && size < (std::streamoff{1} << 31), LoadFailure,
                           "cannot read %s: expected a file below 2 GiB", path.c_str());
  out.resize(static_cast<size_t>(size));
  file.seekg(0);
  file.read(out.data(), size);
  TK_CHECK_OR_RETURN_ERROR(file.gcount() == size, LoadFailure, "cannot read %s: %lld of %lld bytes",
                           path.c_str(), static_cast<long long>(file.gcount()),
                           static_cast<long long>(size));
  return Error::Ok;
}

}  // namespace tokenizers::detail
