// SPDX-License-Identifier: BSD-3-Clause
// A loaded program file: read through a DataLoader, verified once, immutable from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/executor/pte_data_map.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch_flatbuffer {
struct BackendDelegate;
struct Program;
}  // namespace executorch_flatbuffer

namespace executorch::runtime::testing {
class ProgramTestFriend;
}  // namespace executorch::runtime::testing

namespace executorch::ET_RUNTIME_NAMESPACE {

// Threads: all methods may be called from any number of threads at the same time, if the loader
// allows it. Lifetime: the loader must outlive the program; the program must outlive its Methods
// and must not move while they live.
class Program final {
 public:
  // How much of the program data is checked at load.
  enum class Verification : uint8_t {
    // Only what load() itself reads; for files whose producer and storage are trusted. A corrupted
    // file may crash.
    Minimal,
    // Everything that is ever followed. Takes time linear in the program data (not the weights).
    InternalConsistency,
  };

  // Reads and checks the program data and, if there are constants, loads their segment.
  //   InvalidProgram   not a program, of an incompatible version, or corrupted
  //   InvalidArgument  the loader's memory is not aligned to max_align_t
  //   else             what the loader returns
  ET_NODISCARD static Result<Program> load(
      DataLoader* loader, Verification verification = Verification::InternalConsistency);

  // The older name of load().
  ET_DEPRECATED ET_NODISCARD static Result<Program> Load(
      DataLoader* loader, Verification verification = Verification::InternalConsistency) {
    return load(loader, verification);
  }

  Program(Program&&) noexcept = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program& operator=(Program&&) noexcept = delete;
  ~Program() = default;

  size_t num_methods() const;

  // Valid as long as the program. InvalidArgument if the index is out of range.
  Result<const char*> get_method_name(size_t method_index) const;

  // What can be known about a method without loading it. InvalidArgument if there is no such
  // method.
  Result<MethodMeta> method_meta(const char* method_name) const;

  // Prepares a method for execution; see Method for its threads and lifetime.
  //   memory_manager   must outlive the Method
  //   event_tracer     may be null; must outlive the Method
  //   named_data_map   data outside this file, may be null; must outlive the Method
  //   backend_options  options for the initialization of delegates, may be null
  //   kernel_registry  kernels that are preferred to the registered ones; the functions must
  //   outlive the Method
  // Errors: InvalidArgument (no such method), OperatorMissing (all missing operators are logged),
  // NotFound (no such backend), MemoryAllocationFailed, and what loaders, data maps and delegates
  // return. Nothing is leaked on failure.
  Result<Method> load_method(const char* method_name, MemoryManager* memory_manager,
                             EventTracer* event_tracer = nullptr,
                             const NamedDataMap* named_data_map = nullptr,
                             const LoadBackendOptionsMap* backend_options = nullptr,
                             Span<const Kernel> kernel_registry = {}) const;

  // Named blobs in this file. NotFound if there are none. Valid as long as the program.
  Result<const NamedDataMap*> get_named_data_map() const;

  // The first nbytes of a constant. InvalidArgument if it does not exist or is shorter.
  Result<const void*> get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const;

  // Copies the initial content of mutable buffer `buffer_idx` into `out`. InvalidProgram if it does
  // not exist or is shorter than nbytes.
  ET_NODISCARD Error load_mutable_data_into(size_t buffer_idx, size_t nbytes, void* out) const;

  // What the exporter wrote about the program: a JSON object as text, or nothing. Valid as long as
  // the program.
  std::string_view user_metadata() const;

  // How the outputs of a method nest, as text.
  ET_DEPRECATED Result<const char*> get_output_flattening_encoding(
      const char* method_name = "forward") const;

  // What the first bytes of a file say about it.
  enum HeaderStatus {
    CompatibleVersion,    // a program this runtime can load
    IncompatibleVersion,  // a program of another version
    NotPresent,           // not a program
    ShortData,            // fewer than kMinHeadBytes were given
  };

  static constexpr size_t kMinHeadBytes = 64;

  static HeaderStatus check_header(const void* data, size_t size);

 private:
  friend class Method;
  friend class testing::ProgramTestFriend;

  Program(DataLoader* loader, FreeableBuffer&& program_data,
          const executorch_flatbuffer::Program* internal_program, size_t segment_base_offset)
      : loader_(loader),
        program_data_(std::move(program_data)),
        internal_program_(internal_program),
        segment_base_offset_(segment_base_offset) {}

  Error load_constants();
  const executorch_flatbuffer::Program* get_internal_program() const { return internal_program_; }

  // Loads a whole segment. NotFound if it does not exist.
  Result<FreeableBuffer> load_segment(const DataLoader::SegmentInfo& info) const;
  // The name that tests of others reach through ProgramTestFriend, as they do the next one.
  Result<FreeableBuffer> LoadSegment(const DataLoader::SegmentInfo& info) const {
    return load_segment(info);
  }

  // Copies `size` bytes of a piece of initial data into `buffer`. NotFound if there is no such list
  // or piece, InvalidArgument if the piece is shorter.
  ET_NODISCARD Error load_mutable_subsegment_into(size_t mutable_data_segments_index,
                                                  size_t offset_index, size_t size,
                                                  void* buffer) const;

  // The blob of a delegate: inline data without ownership, or a loaded segment. NotFound if it does
  // not exist.
  Result<FreeableBuffer> load_delegate_data(
      const executorch_flatbuffer::BackendDelegate& delegate) const;

  // Whether the address lies in a constant of this program, which nothing may write to.
  bool is_constant_data(const void* address) const;

  DataLoader* loader_;
  FreeableBuffer program_data_;
  const executorch_flatbuffer::Program* internal_program_;
  size_t segment_base_offset_;
  FreeableBuffer constant_segment_;
  std::optional<internal::PteDataMap> pte_data_map_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::Program;
}  // namespace torch::executor
