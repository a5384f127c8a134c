// SPDX-License-Identifier: BSD-3-Clause
// Inputs of runners for Python: Image, Audio, RawAudio, MultimodalInput.
#include <executorch/extension/llm/runner/bindings/inputs.h>

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include <executorch/extension/llm/runner/multimodal_input.h>

namespace py = pybind11;

namespace executorch::extension::llm {
namespace {

template <typename T>
using Values = std::vector<T>;

std::string shape_of(const Image& image) {
  return "<Image height=" + std::to_string(image.height()) +
         " width=" + std::to_string(image.width()) +
         " channels=" + std::to_string(image.channels()) +
         " dtype=" + (image.is_float() ? "float32" : "uint8") + ">";
}

void check_count(size_t count, int64_t expected, const char* what) {
  if (static_cast<int64_t>(count) != expected) {
    throw py::value_error(std::string(what) + ": expected " + std::to_string(expected) +
                          " values for these sizes, got " + std::to_string(count));
  }
}

template <typename T>
Image make_image(Values<T> data, int32_t width, int32_t height, int32_t channels) {
  check_count(data.size(), int64_t{width} * height * channels, "Image");
  return Image(std::move(data), width, height, channels);
}

template <typename T>
Audio make_audio(Values<T> data, int32_t batch_size, int32_t n_bins, int32_t n_frames) {
  check_count(data.size(), int64_t{batch_size} * n_bins * n_frames, "Audio");
  return Audio(std::move(data), batch_size, n_bins, n_frames);
}

std::string describe(const MultimodalInput& input) {
  std::string text = std::string("<MultimodalInput type=") + input.type_name();
  if (const std::string* content = input.try_get_text()) {
    constexpr size_t kShown = 50;
    text +=
        " content=\"" + content->substr(0, kShown) + (content->size() > kShown ? "..." : "") + "\"";
  }
  return text + ">";
}

template <typename T>
py::object copy_or_none(const T* value) {
  return value == nullptr ? py::none() : py::cast(*value);
}

}  // namespace

void define_python_inputs(py::module_& module) {
  // Whole numbers are bytes, others floats: the first constructor that takes the list.
  py::class_<Image>(module, "Image")
      .def(py::init(&make_image<uint8_t>), py::arg("data").noconvert(), py::arg("width"),
           py::arg("height"), py::arg("channels"))
      .def(py::init(&make_image<float>), py::arg("data"), py::arg("width"), py::arg("height"),
           py::arg("channels"))
      .def("is_uint8", &Image::is_uint8)
      .def("is_float", &Image::is_float)
      .def_property_readonly("width", &Image::width)
      .def_property_readonly("height", &Image::height)
      .def_property_readonly("channels", &Image::channels)
      .def_property_readonly(
          "uint8_data", [](const Image& image) { return Values<uint8_t>(image.get_uint8_data()); })
      .def_property_readonly(
          "float_data", [](const Image& image) { return Values<float>(image.get_float_data()); })
      .def("__repr__", &shape_of);
  py::class_<Audio>(module, "Audio")
      .def(py::init<>())
      .def(py::init(&make_audio<uint8_t>), py::arg("data").noconvert(), py::arg("batch_size"),
           py::arg("n_bins"), py::arg("n_frames"))
      .def(py::init(&make_audio<float>), py::arg("data"), py::arg("batch_size"), py::arg("n_bins"),
           py::arg("n_frames"))
      .def("is_uint8", &Audio::is_uint8)
      .def("is_float", &Audio::is_float)
      .def_property_readonly("batch_size", &Audio::get_batch_size)
      .def_property_readonly("n_bins", &Audio::get_n_bins)
      .def_property_readonly("n_frames", &Audio::get_n_frames)
      .def_property_readonly(
          "uint8_data", [](const Audio& audio) { return Values<uint8_t>(audio.get_uint8_data()); })
      .def_property_readonly(
          "float_data", [](const Audio& audio) { return Values<float>(audio.get_float_data()); });
  py::class_<RawAudio>(module, "RawAudio")
      .def(py::init<>())
      .def(py::init(
               [](Values<uint8_t> data, int32_t batch_size, int32_t n_channels, int32_t n_samples) {
                 return RawAudio{std::move(data), batch_size, n_channels, n_samples};
               }),
           py::arg("data"), py::arg("batch_size"), py::arg("n_channels"), py::arg("n_samples"))
      .def_readwrite("data", &RawAudio::data)
      .def_readwrite("batch_size", &RawAudio::batch_size)
      .def_readwrite("n_channels", &RawAudio::n_channels)
      .def_readwrite("n_samples", &RawAudio::n_samples);
  py::class_<MultimodalInput>(module, "MultimodalInput")
      .def(py::init<const std::string&>(), py::arg("text"))
      .def(py::init<const std::vector<uint64_t>&>(), py::arg("tokens"))
      .def(py::init<const Image&>(), py::arg("image"))
      .def(py::init<const Audio&>(), py::arg("audio"))
      .def(py::init<const RawAudio&>(), py::arg("raw_audio"))
      .def("is_text", &MultimodalInput::is_text)
      .def("is_tokens", &MultimodalInput::is_tokens)
      .def("is_image", &MultimodalInput::is_image)
      .def("is_audio", &MultimodalInput::is_audio)
      .def("is_raw_audio", &MultimodalInput::is_raw_audio)
      .def("get_text", [](const MultimodalInput& in) { return copy_or_none(in.try_get_text()); })
      .def("get_tokens",
           [](const MultimodalInput& in) { return copy_or_none(in.try_get_tokens()); })
      .def("get_image", [](const MultimodalInput& in) { return copy_or_none(in.try_get_image()); })
      .def("get_audio", [](const MultimodalInput& in) { return copy_or_none(in.try_get_audio()); })
      .def("get_raw_audio",
           [](const MultimodalInput& in) { return copy_or_none(in.try_get_raw_audio()); })
      .def("__repr__", &describe);
  module.def(
      "make_text_input", [](const std::string& text) { return make_text_input(text); },
      py::arg("text"));
  module.def(
      "make_token_input",
      [](const std::vector<uint64_t>& tokens) { return make_token_input(tokens); },
      py::arg("tokens"));
}

}  // namespace executorch::extension::llm
