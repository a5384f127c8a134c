// SPDX-License-Identifier: BSD-3-Clause
// Compile specs as a struct: the runtime's side of exir/backend/lowering/payload/options.py.
//
//   struct MyOptions {
//     bool check_finite = false;
//     int64_t limit = 0;
//     std::string_view target = "cpu";
//     Inner inner;
//   };
//   constexpr CompileOption<MyOptions> kMyOptions[] = {
//       {"check_finite", read_option<&MyOptions::check_finite>},
//       {"limit", read_option<&MyOptions::limit>},
//       {"target", read_option<&MyOptions::target>},
//       {"inner.level", read_option<&MyOptions::inner, &Inner::level>},
//       {"tuning", kForTheCompiler},
//   };
//   const auto options = ET_UNWRAP(read_compile_options("MyBackend", specs, kMyOptions));
//
// Encodings: bool is one byte 00 or 01, integers are little-endian of their size, text is UTF-8
// without a final zero, Span<const uint8_t> is any bytes, as of a flatbuffer, which the backend
// verifies. Functions here are inline, so that a program without backends has nothing of them; they
// use no heap, keep no state, and any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <executorch/runtime/backend/interface.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// A key of a backend, and what reads its value into the backend's struct: read_option<&S::member>,
/// or a function of its own, as for an enum.
template <typename Options>
struct CompileOption {
  const char* key;
  /// Null (kForTheCompiler): an option that the ahead-of-time half alone reads.
  Error (*read)(const char* backend, const CompileSpec& spec, Options& out);
  /// A program without it is refused.
  bool is_required = false;
};

inline constexpr std::nullptr_t kForTheCompiler = nullptr;

namespace internal {

/// Of `num_bytes` bytes; InvalidProgram, with the key in the log, for another number.
inline Result<uint64_t> spec_number(const char* backend, const CompileSpec& spec,
                                    size_t num_bytes) {
  ET_CHECK_OR_RETURN_ERROR(spec.value.nbytes == num_bytes && spec.value.buffer != nullptr,
                           InvalidProgram, "%s: compile spec %s: expected %zu bytes, found %zu",
                           backend, spec.key, num_bytes, spec.value.nbytes);
  uint64_t number = 0;
  for (size_t i = num_bytes; i > 0; --i) {
    number = number << 8 | static_cast<const uint8_t*>(spec.value.buffer)[i - 1];
  }
  return number;
}

inline Error read_spec(const char* backend, const CompileSpec& spec, bool& out) {
  const uint64_t number = ET_UNWRAP(spec_number(backend, spec, 1));
  ET_CHECK_OR_RETURN_ERROR(number <= 1, InvalidProgram,
                           "%s: compile spec %s: expected 0 or 1, found %zu", backend, spec.key,
                           static_cast<size_t>(number));
  out = number == 1;
  return Error::Ok;
}

/// Integers of any size.
template <typename T>
Error read_spec(const char* backend, const CompileSpec& spec, T& out) {
  const uint64_t number = ET_UNWRAP(spec_number(backend, spec, sizeof(T)));
  out = static_cast<T>(number);
  return Error::Ok;
}

inline Error read_spec(const char*, const CompileSpec& spec, Span<const uint8_t>& out) {
  const auto* bytes = static_cast<const uint8_t*>(spec.value.buffer);
  out = {bytes, bytes == nullptr ? 0 : spec.value.nbytes};
  return Error::Ok;
}

inline Error read_spec(const char* backend, const CompileSpec& spec, std::string_view& out) {
  Span<const uint8_t> bytes;
  ET_CHECK_OK_OR_RETURN_ERROR(read_spec(backend, spec, bytes));
  out = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return Error::Ok;
}

template <typename Member>
struct OwnerOf;
template <typename Options, typename T>
struct OwnerOf<T Options::*> {
  using type = Options;
};

/// "a, b, c" for a message, cut where it does not fit.
class KeyList {
 public:
  void add(const char* key) {
    append(size_ == 0 ? "" : ", ");
    append(key);
  }
  const char* text() const { return size_ == 0 ? "none" : text_; }

 private:
  void append(const char* word) {
    for (; *word != '\0' && size_ + 1 < sizeof(text_); ++word) {
      text_[size_++] = *word;
    }
  }
  char text_[256] = {};
  size_t size_ = 0;
};

}  // namespace internal

/// Reads a bool, uint8_t, int32_t, int64_t, std::string_view or Span<const uint8_t> of a struct;
/// with several members, of a struct in it: read_option<&S::inner, &Inner::member>.
template <auto Member, auto... Inner>
Error read_option(const char* backend, const CompileSpec& spec,
                  typename internal::OwnerOf<decltype(Member)>::type& out) {
  if constexpr (sizeof...(Inner) == 0) {
    return internal::read_spec(backend, spec, out.*Member);
  } else {
    return read_option<Inner...>(backend, spec, out.*Member);
  }
}

/// The options that `specs` ask of `backend` (its name, for messages); the struct's own values
/// where they do not. Text and bytes are views into the specs, which are valid during init(): copy
/// what is used later. Errors, with the key in the log: DelegateInvalidCompatibility for a key that
/// is not of `known`, such as one of a newer exporter; InvalidProgram for a value of another
/// length, a bool that is neither 0 nor 1, a key that stands twice, and a required one that is
/// missing.
template <typename Options, size_t N>
Result<Options> read_compile_options(const char* backend, ArrayRef<CompileSpec> specs,
                                     const CompileOption<Options> (&known)[N]) {
  Options out;
  bool is_given[N] = {};
  for (const CompileSpec& spec : specs) {
    size_t place = 0;
    while (place < N && (spec.key == nullptr || std::strcmp(known[place].key, spec.key) != 0)) {
      ++place;
    }
    if (place == N) {
      internal::KeyList keys;
      for (const CompileOption<Options>& each : known) {
        keys.add(each.key);
      }
      ET_LOG(Error, "%s: compile specs: expected one of %s, found \"%s\"", backend, keys.text(),
             spec.key == nullptr ? "" : spec.key);
      return Error::DelegateInvalidCompatibility;
    }
    ET_CHECK_OR_RETURN_ERROR(!is_given[place], InvalidProgram,
                             "%s: compile spec %s: expected once, found again", backend, spec.key);
    is_given[place] = true;
    if (known[place].read != nullptr) {
      ET_CHECK_OK_OR_RETURN_ERROR(known[place].read(backend, spec, out));
    }
  }
  for (size_t place = 0; place < N; ++place) {
    ET_CHECK_OR_RETURN_ERROR(is_given[place] || !known[place].is_required, InvalidProgram,
                             "%s: compile specs: expected %s, which has no default", backend,
                             known[place].key);
  }
  return out;
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
