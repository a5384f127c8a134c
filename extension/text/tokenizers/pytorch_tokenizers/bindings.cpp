// SPDX-License-Identifier: BSD-3-Clause
// The tokenizers in Python: pytorch_tokenizers.pytorch_tokenizers_cpp.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pytorch/tokenizers/hf_tokenizer.h>
#include <pytorch/tokenizers/llama2c_tokenizer.h>
#include <pytorch/tokenizers/load_tokenizer.h>
#include <pytorch/tokenizers/sentencepiece.h>
#include <pytorch/tokenizers/stream_decoder.h>
#include <pytorch/tokenizers/tekken.h>
#include <pytorch/tokenizers/tiktoken.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace py = pybind11;
using namespace tokenizers;

namespace {

/// UTF-8 of a str or bytes; a surrogate without its partner becomes U+FFFD.
std::string bytes_of(const py::object& text) {
  if (py::isinstance<py::bytes>(text)) {
    return text.cast<std::string>();
  }
  Py_ssize_t size = 0;
  if (const char* known = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return {known, static_cast<size_t>(size)};
  }
  if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    throw py::error_already_set();
  }
  PyErr_Clear();
  const py::object pairs = text.attr("encode")("utf-16", "surrogatepass");
  return bytes_of(pairs.attr("decode")("utf-16", "replace"));
}

/// bytes -> str; what is no UTF-8 becomes U+FFFD.
py::str text_of(const std::string& bytes) {
  PyObject* text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (text == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::str>(text);
}

template <typename T>
py::class_<T, Tokenizer> tokenizer(py::module_& module, const char* name, const char* kind) {
  const std::string failure = std::string("Failed to load ") + kind + " tokenizer";
  return py::class_<T, Tokenizer>(module, name)
      .def(
          "load",
          [failure](T& self, const std::string& path) {
            Error error;
            {
              py::gil_scoped_release release;
              error = self.load(path);
            }
            if (error != Error::Ok) {
              throw std::runtime_error(failure);
            }
          },
          py::arg("tokenizer_path"));
}

template <typename T>
std::vector<uint64_t> encoded(const T& self, const py::object& input, int8_t bos, int8_t eos) {
  const std::string text = bytes_of(input);
  py::gil_scoped_release release;
  return TK_UNWRAP_THROW(self.encode(text, bos, eos));
}

}  // namespace

PYBIND11_MODULE(pytorch_tokenizers_cpp, module) {
  module.doc() = "Tokenizers of language models: texts to ids and back.";

  py::enum_<Error>(module, "Error")
      .value("Ok", Error::Ok)
      .value("Internal", Error::Internal)
      .value("Uninitialized", Error::Uninitialized)
      .value("OutOfRange", Error::OutOfRange)
      .value("LoadFailure", Error::LoadFailure)
      .value("EncodeFailure", Error::EncodeFailure)
      .value("Base64DecodeFailure", Error::Base64DecodeFailure)
      .value("ParseFailure", Error::ParseFailure)
      .value("DecodeFailure", Error::DecodeFailure)
      .value("RegexFailure", Error::RegexFailure);

  py::class_<TokenIndex>(module, "TokenIndex")
      .def_readonly("str", &TokenIndex::str)
      .def_readonly("id", &TokenIndex::id);

  py::class_<Tokenizer>(module, "Tokenizer", "What every tokenizer offers.")
      .def("encode", &encoded<Tokenizer>, py::arg("input"), py::arg("bos") = 0, py::arg("eos") = 0,
           "Ids of a str (or UTF-8 as bytes); bos, eos: copies of those ids around them.")
      .def(
          "decode",
          [](const Tokenizer& self, uint64_t token, bool skip_special_tokens) {
            return text_of(TK_UNWRAP_THROW(self.decode(token, token, skip_special_tokens)));
          },
          py::arg("token"), py::arg("skip_special_tokens") = false,
          "Text of one id inside a sequence.")
      .def(
          "id_to_piece",
          [](const Tokenizer& self, uint64_t token) {
            return py::bytes(TK_UNWRAP_THROW(self.id_to_piece(token)));
          },
          py::arg("token"), "The piece as the vocabulary spells it, as bytes.")
      .def(
          "piece_to_id",
          [](const Tokenizer& self, const py::object& piece) {
            return TK_UNWRAP_THROW(self.piece_to_id(bytes_of(piece)));
          },
          py::arg("piece"))
      .def("vocab_size", &Tokenizer::vocab_size)
      .def("bos_tok", &Tokenizer::bos_tok)
      .def("eos_tok", &Tokenizer::eos_tok)
      .def("is_loaded", &Tokenizer::is_loaded);

  const auto decode_batch = [](const HFTokenizer& self, const std::vector<uint64_t>& tokens,
                               bool skip_special_tokens) {
    return text_of(TK_UNWRAP_THROW(self.decode(tokens, skip_special_tokens)));
  };
  tokenizer<HFTokenizer>(module, "HFTokenizer", "HF")
      .def(py::init<>())
      .def("decode_batch", decode_batch, py::arg("tokens"), py::arg("skip_special_tokens") = false,
           "Text of a sequence.");

  tokenizer<Tiktoken>(module, "Tiktoken", "Tiktoken")
      .def(py::init<>())
      .def(py::init<const std::vector<std::string>&, size_t, size_t>(), py::arg("special_tokens"),
           py::arg("bos_token_index"), py::arg("eos_token_index"))
      .def(py::init<std::string, const std::vector<std::string>&, size_t, size_t>(),
           py::arg("pattern"), py::arg("special_tokens"), py::arg("bos_token_index"),
           py::arg("eos_token_index"));

  tokenizer<SPTokenizer>(module, "SPTokenizer", "SentencePiece")
      .def(py::init<>())
      .def(
          "decode_batch",
          [](const SPTokenizer& self, const std::vector<uint64_t>& tokens) {
            return text_of(TK_UNWRAP_THROW(self.decode(tokens)));
          },
          py::arg("tokens"), "Text of a sequence.")
      .def(
          "score",
          [](const SPTokenizer& self, uint64_t token) {
            return TK_UNWRAP_THROW(self.score(token));
          },
          py::arg("token"), "What training gave the piece.");
  tokenizer<Llama2cTokenizer>(module, "Llama2cTokenizer", "Llama2c").def(py::init<>());
  tokenizer<Tekken>(module, "Tekken", "Tekken")
      .def(py::init<>())
      .def(
          "decode_batch",
          [](const Tekken& self, const std::vector<uint64_t>& tokens, bool skip_special_tokens) {
            std::string text;
            for (const uint64_t token : tokens) {
              text += TK_UNWRAP_THROW(self.decode(token, token, skip_special_tokens));
            }
            return text_of(text);
          },
          py::arg("tokens"), py::arg("skip_special_tokens") = false, "Text of a sequence.")
      .def("get_version", &Tekken::get_version);

  module.def(
      "load_tokenizer",
      [](const std::string& path) {
        auto found = load_tokenizer(path);
        if (found == nullptr) {
          throw std::runtime_error("Failed to load tokenizer from: " + path);
        }
        return found;
      },
      py::arg("path"), "A tokenizer of whichever format the file has.");

  py::class_<StreamDecoder>(module, "StreamDecoder",
                            "Text of a sequence as its ids arrive, in whole characters.")
      .def(py::init<const Tokenizer&, bool>(), py::arg("tokenizer"),
           py::arg("skip_special_tokens") = false, py::keep_alive<1, 2>())
      .def("push",
           [](StreamDecoder& self, uint64_t token) { return TK_UNWRAP_THROW(self.push(token)); })
      .def("finish", &StreamDecoder::finish);
}
