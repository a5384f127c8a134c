// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/given_inputs.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/runner_util/npy.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using executorch::runtime::Tag;
using executorch::runtime::TensorInfo;

namespace {

Error read_file(const std::string& path, std::string* out) {
  const auto loader = FileDataLoader::from(path.c_str());
  ET_CHECK_OK_OR_RETURN_ERROR(
      loader.error(), "Cannot read the input file %s: check the path in --inputs", path.c_str());
  out->resize(ET_UNWRAP(loader->size()));
  return loader->load_into(0, out->size(), runtime::DataLoader::SegmentInfo(), out->data());
}

bool ends_in(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_contiguous(const TensorInfo& info) {
  for (size_t i = 0; i < info.dim_order().size(); ++i) {
    if (info.dim_order()[i] != i) {
      return false;
    }
  }
  return true;
}

Result<InputValue> read_npy(const TensorInfo& info, const std::string& path,
                            const std::string& file) {
  NpyHeader header = ET_UNWRAP(parse_npy(file, path));
  ET_CHECK_OR_RETURN_ERROR(header.type == info.scalar_type(), InvalidArgument,
                           "%s: expected elements of type %s, got %s", path.c_str(),
                           executorch::runtime::toString(info.scalar_type()),
                           executorch::runtime::toString(header.type));
  ET_CHECK_OR_RETURN_ERROR(header.sizes.size() == info.sizes().size(), InvalidArgument,
                           "%s: expected %zu dimensions, got %zu", path.c_str(),
                           info.sizes().size(), header.sizes.size());
  ET_CHECK_OR_RETURN_ERROR(
      is_contiguous(info), NotSupported,
      "%s: the program wants another order of dimensions (channels last, say), "
      "which .npy files do not tell. Give raw bytes in that order",
      path.c_str());
  return InputValue(InputBytes{file.data() + header.data_offset, file.size() - header.data_offset,
                               std::move(header.sizes)});
}

// The whole text as a number.
template <typename Number, typename Parse>
bool parse_all(const std::string& text, Parse parse, Number* out) {
  char* end = nullptr;
  errno = 0;
  *out = parse(text.c_str(), &end);
  // A double that is too small becomes 0 or loses digits: as good as it gets.
  return !text.empty() && *end == '\0' && (errno == 0 || std::is_floating_point_v<Number>);
}

Result<InputValue> read_number(Tag tag, const std::string& text) {
  int64_t integer = 0;
  double number = 0;
  const auto to_integer = [](const char* start, char** end) {
    return std::strtoll(start, end, 10);
  };
  switch (tag) {
    case Tag::Int:
      ET_CHECK_OR_RETURN_ERROR(parse_all(text, to_integer, &integer), InvalidArgument,
                               "Expected an integer, got \"%s\"", text.c_str());
      return InputValue(EValue(integer));
    case Tag::Double:
      ET_CHECK_OR_RETURN_ERROR(parse_all(text, std::strtod, &number), InvalidArgument,
                               "Expected a number, got \"%s\"", text.c_str());
      return InputValue(EValue(number));
    case Tag::Bool:
      ET_CHECK_OR_RETURN_ERROR(text == "true" || text == "false" || text == "1" || text == "0",
                               InvalidArgument, "Expected true or false, got \"%s\"", text.c_str());
      return InputValue(EValue(text == "true" || text == "1"));
    default:
      ET_CHECK_OR_RETURN_ERROR(text == "none", InvalidArgument,
                               "An input of kind %s has the value it was exported with: expected "
                               "none, got \"%s\"",
                               executorch::runtime::tag_to_string(tag), text.c_str());
      return InputValue();
  }
}

// The value of input `index`; a file's contents stay in *file.
Result<InputValue> read_input(const MethodMeta& meta, size_t index, const std::string& text,
                              std::string* file) {
  const Tag tag = ET_UNWRAP(meta.input_tag(index));
  if (tag != Tag::Tensor) {
    return read_number(tag, text);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(read_file(text, file));
  if (ends_in(text, ".npy")) {
    return read_npy(ET_UNWRAP(meta.input_tensor_meta(index)), text, *file);
  }
  return InputValue(InputBytes{file->data(), file->size(), std::nullopt});
}

}  // namespace

Error GivenInputs::read(const MethodMeta& meta, const std::vector<std::string>& texts) {
  size_t num_tensors = 0;
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    num_tensors += ET_UNWRAP(meta.input_tag(i))
    == Tag::Tensor ? 1 : 0;
  }
  const bool all = texts.size() == meta.num_inputs();
  ET_CHECK_OR_RETURN_ERROR(
      texts.empty() || all || texts.size() == num_tensors, InvalidArgument,
      "Method %s: expected %zu values in --inputs, one for each input, or %zu files, one for each "
      "tensor, got %zu",
      meta.name(), meta.num_inputs(), num_tensors, texts.size());
  files_.assign(texts.size(), "");
  values_.assign(meta.num_inputs(), InputValue());
  size_t next = 0;
  for (size_t i = 0; i < meta.num_inputs() && next < texts.size(); ++i) {
    if (!all && ET_UNWRAP(meta.input_tag(i)) != Tag::Tensor) {
      continue;
    }
    auto value = read_input(meta, i, texts[next], &files_[next]);
    ET_CHECK_OK_OR_RETURN_ERROR(value.error(), "Cannot set input %zu of method %s to %s", i,
                                meta.name(), texts[next].c_str());
    values_[i] = std::move(value.get());
    next += 1;
  }
  return Error::Ok;
}

}  // namespace executorch::extension
