// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/elf_imports.h>

#include <elf.h>

#include <cinttypes>
#include <cstring>

namespace executorch::backends::aoti {
namespace {

using runtime::Error;
using runtime::Result;
using runtime::Span;

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
constexpr uint16_t kMachine = EM_NONE;
#endif

using Bytes = Span<const uint8_t>;

/// `count` structures at an offset; InvalidProgram when they do not lie within the bytes.
template <typename T>
Result<std::vector<T>> table_at(Bytes bytes, uint64_t offset, uint64_t count) {
  const bool is_within = offset <= bytes.size() && count <= (bytes.size() - offset) / sizeof(T);
  ET_CHECK_OR_RETURN_ERROR(is_within, InvalidProgram,
                           "shared library of %zu bytes: a table at byte %" PRIu64 " is not whole",
                           bytes.size(), offset);
  std::vector<T> found(count);
  if (count > 0) {
    std::memcpy(found.data(), bytes.data() + offset, count * sizeof(T));
  }
  return found;
}

Result<Elf64_Ehdr> header_of(Bytes bytes) {
  constexpr uint8_t kStart[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
  ET_CHECK_OR_RETURN_ERROR(
      bytes.size() >= sizeof(Elf64_Ehdr) && std::memcmp(bytes.data(), kStart, sizeof(kStart)) == 0,
      InvalidProgram, "expected a 64-bit ELF shared library, found %zu other bytes", bytes.size());
  const auto header = ET_UNWRAP(table_at<Elf64_Ehdr>(bytes, 0, 1))
  [0];
  ET_CHECK_OR_RETURN_ERROR(header.e_type == ET_DYN && header.e_machine == kMachine, InvalidProgram,
                           "expected a shared library for this processor (machine %d), found one "
                           "of type %d for machine %d: export on a computer of this kind",
                           kMachine, header.e_type, header.e_machine);
  ET_CHECK_OR_RETURN_ERROR(header.e_shentsize == sizeof(Elf64_Shdr), InvalidProgram,
                           "shared library: expected sections of %zu bytes, found %d",
                           sizeof(Elf64_Shdr), header.e_shentsize);
  return header;
}

/// A name within a table of names.
Result<std::string> name_at(Bytes bytes, const Elf64_Shdr& names, uint32_t offset) {
  const bool is_table =
      names.sh_offset <= bytes.size() && names.sh_size <= bytes.size() - names.sh_offset;
  const uint8_t* start = is_table ? bytes.data() + names.sh_offset + offset : nullptr;
  const void* end = is_table && offset < names.sh_size
                        ? std::memchr(start, 0, static_cast<size_t>(names.sh_size - offset))
                        : nullptr;
  ET_CHECK_OR_RETURN_ERROR(end != nullptr, InvalidProgram,
                           "shared library: a symbol's name at %" PRIu32 " is not whole", offset);
  return std::string(reinterpret_cast<const char*>(start));
}

}  // namespace

Result<std::vector<std::string>> imports_of(Bytes library) {
  const Elf64_Ehdr header = ET_UNWRAP(header_of(library));
  const auto sections = ET_UNWRAP(table_at<Elf64_Shdr>(library, header.e_shoff, header.e_shnum));
  std::vector<std::string> found;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM) {
      continue;
    }
    ET_CHECK_OR_RETURN_ERROR(section.sh_link < sections.size(), InvalidProgram,
                             "shared library: symbols without a table of names");
    const auto symbols = ET_UNWRAP(
        table_at<Elf64_Sym>(library, section.sh_offset, section.sh_size / sizeof(Elf64_Sym)));
    for (const Elf64_Sym& symbol : symbols) {
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0) {
        found.push_back(ET_UNWRAP(name_at(library, sections[section.sh_link], symbol.st_name)));
      }
    }
  }
  return found;
}

}  // namespace executorch::backends::aoti
