// SPDX-License-Identifier: BSD-3-Clause
// One pass over the file, 15 MB and more of it vocabulary.
#include <executorch/extension/text/tokenizers/parts/json_tree.h>
#include <executorch/extension/text/tokenizers/parts/tekken_json.h>
#include <pytorch/tokenizers/log.h>

namespace tokenizers::detail {

namespace {

using Json = nlohmann::json;

class Reader : public Json::json_sax_t {
 public:
  explicit Reader(TekkenJson& out) : out_(out), tree_(out.rest) {}

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::kToken && field_ == "rank") {
      token_.rank = value;
      has_rank_ = true;
      return true;
    }
    return scalar(value);
  }
  bool number_float(number_float_t value, const string_t&) override { return scalar(value); }
  bool string(string_t& value) override {
    if (state_ == State::kToken && field_ == "token_bytes") {
      token_.start = static_cast<uint32_t>(out_.texts.size());
      token_.size = static_cast<uint32_t>(value.size());
      out_.texts += value;
      has_bytes_ = true;
      return true;
    }
    return state_ == State::kToken || scalar(value);
  }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override {
    if (state_ == State::kToken) {
      field_ = value;
    } else {
      tree_.key(value);
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (state_ == State::kTree) {
      return tree_.open(Json::object()) || refuse("at most 64 levels");
    }
    if (state_ == State::kToken) {
      return refuse("no object in an entry of vocab");
    }
    state_ = State::kToken;
    has_rank_ = has_bytes_ = false;
    return true;
  }
  bool end_object() override {
    if (state_ == State::kTree) {
      tree_.close();
      return true;
    }
    state_ = State::kList;
    out_.tokens.push_back(token_);
    return (has_rank_ && has_bytes_) || refuse("rank and token_bytes in each entry of vocab");
  }
  bool start_array(std::size_t) override {
    if (state_ != State::kTree) {
      return refuse("no list in vocab");
    }
    if (tree_.depth() == 1 && tree_.last_key() == "vocab") {
      state_ = State::kList;
      return true;
    }
    return tree_.open(Json::array()) || refuse("at most 64 levels");
  }
  bool end_array() override {
    if (state_ == State::kTree) {
      tree_.close();
    }
    state_ = State::kTree;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const Json::exception& why) override {
    TK_LOG(Error, "Error parsing json file: byte %zu: %s", at, why.what());
    return false;
  }

 private:
  enum class State { kTree, kList, kToken };

  bool refuse(const char* expected) {
    TK_LOG(Error, "tekken.json: expected %s, near entry %zu", expected, out_.tokens.size());
    return false;
  }

  bool scalar(Json value) {
    if (state_ == State::kTree) {
      tree_.place(std::move(value));
    }
    return state_ != State::kList || refuse("objects in vocab");
  }

  TekkenJson& out_;
  JsonTree tree_;
  State state_ = State::kTree;
  TekkenJson::Token token_{0, 0, 0};
  std::string field_;
  bool has_rank_ = false, has_bytes_ = false;
};

}  // namespace

Error parse_tekken_json(std::string_view bytes, TekkenJson& out) {
  out.texts.reserve(bytes.size() / 8);
  Reader reader(out);
  const bool is_read = Json::sax_parse(bytes.data(), bytes.data() + bytes.size(), &reader);
  return is_read ? Error::Ok : Error::ParseFailure;
}

}  // namespace tokenizers::detail
