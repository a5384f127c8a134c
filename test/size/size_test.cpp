// SPDX-License-Identifier: BSD-3-Clause
// The smallest program that loads a .pte, runs its first method and has the prim ops: what the core
// costs. Experimental and former calls are used, too.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <fcntl.h>
#include <unistd.h>

#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::runtime;

namespace {

constexpr size_t kPoolBytes = 1 << 20;
constexpr size_t kMaxArenas = 4;

alignas(64) uint8_t file_bytes[kPoolBytes];
alignas(64) uint8_t method_pool[kPoolBytes];
alignas(64) uint8_t temp_pool[kPoolBytes];
alignas(64) uint8_t arena_pool[kPoolBytes];

class StaticLoader final : public DataLoader {
 public:
  explicit StaticLoader(size_t size) : size_(size) {}

  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
    if (offset > size_ || size > size_ - offset) {
      return Error::InvalidArgument;
    }
    return FreeableBuffer(file_bytes + offset, size, nullptr);
  }
  Result<size_t> size() const override { return size_; }

 private:
  size_t size_;
};

int run(size_t size) {
  StaticLoader loader(size);
  Result<Program> program = Program::load(&loader);
  if (!program.ok()) {
    return 2;
  }
  const Result<const char*> name = program->get_method_name(0);
  if (!name.ok()) {
    return 3;
  }
  MemoryAllocator arenas(kPoolBytes, arena_pool);
  Span<uint8_t> spans[kMaxArenas];
  const Result<MethodMeta> meta = program->method_meta(*name);
  if (!meta.ok() || meta->num_memory_planned_buffers() > kMaxArenas) {
    return 4;
  }
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const auto bytes = static_cast<size_t>(*meta->memory_planned_buffer_size(i));
    auto* arena = static_cast<uint8_t*>(arenas.allocate(bytes, 64));
    if (arena == nullptr) {
      return 5;
    }
    spans[i] = {arena, bytes};
  }
  MemoryAllocator method_allocator(kPoolBytes, method_pool);
  MemoryAllocator temp_allocator(kPoolBytes, temp_pool);
  HierarchicalAllocator planned({spans, meta->num_memory_planned_buffers()});
  MemoryManager manager(&method_allocator, &planned, &temp_allocator);
  Result<Method> method = program->load_method(*name, &manager);
  if (!method.ok()) {
    return 6;
  }
  // Inputs are what the arenas hold.
  for (size_t i = 0; i < method->inputs_size(); ++i) {
    const EValue input = method->get_input(i);
    if (method->set_input(input, i) != Error::Ok) {
      return 7;
    }
  }
  return method->execute() == Error::Ok && method->outputs_size() > 0 ? 0 : 8;
}

}  // namespace

int main(int argc, char** argv) {
  runtime_init();
  const int file = argc < 2 ? -1 : open(argv[1], O_RDONLY);
  const ssize_t size = file < 0 ? -1 : read(file, file_bytes, sizeof(file_bytes));
  return size < 0 ? 1 : run(static_cast<size_t>(size));
}
