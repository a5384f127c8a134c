// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/module/shared_arenas.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <executorch/extension/memory_allocator/large_pages.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using runtime::Error;
using runtime::Method;
using runtime::MethodMeta;
using runtime::Program;
using runtime::Result;
using runtime::Span;

namespace {

// Smaller plans are read from a core's own caches, where pages matter little.
constexpr size_t kMany = size_t{1} << 24;

}  // namespace

void FreeBytes::operator()(uint8_t* bytes) const {
  if (size >= kMany) {
    forget_large_pages(bytes, size);
  }
  std::free(bytes);
}

ZeroedBytes make_zeroed_bytes(size_t size) {
  auto* const bytes = static_cast<uint8_t*>(std::calloc(std::max<size_t>(size, 1), 1));
  if (bytes != nullptr && size >= kMany) {
    want_large_pages(bytes, size);
  }
  return ZeroedBytes(bytes, FreeBytes{size});
}

Error SharedArenas::allocate(const Program& program) {
  std::vector<size_t> sizes;
  for (size_t i = 0; i < program.num_methods(); ++i) {
    const char* name = ET_UNWRAP(program.get_method_name(i));
    const MethodMeta meta = ET_UNWRAP(program.method_meta(name));
    const size_t count = std::min(meta.num_memory_planned_buffers(), kMaxArenas);
    sizes.resize(std::max(sizes.size(), count));
    for (size_t id = 0; id < count; ++id) {
      const auto size = static_cast<size_t>(ET_UNWRAP(meta.memory_planned_buffer_size(id)));
      sizes[id] = std::max(sizes[id], size);
    }
  }
  std::vector<Arena> arenas;
  for (const size_t size : sizes) {
    arenas.push_back({make_zeroed_bytes(size), size});
    ET_CHECK_OR_RETURN_ERROR(arenas.back().bytes != nullptr, MemoryAllocationFailed,
                             "The methods plan a shared arena of %zu bytes, which cannot be had",
                             size);
  }
  arenas_ = std::move(arenas);
  return Error::Ok;
}

Span<uint8_t> SharedArenas::arena(size_t id, size_t size) const {
  return {arenas_[id].bytes.get(), size};
}

SharedArenas::Contents SharedArenas::contents() const {
  Contents result;
  for (const Arena& arena : arenas_) {
    result.emplace_back(arena.bytes.get(), arena.bytes.get() + arena.size);
  }
  return result;
}

void SharedArenas::restore(const Contents& before) {
  for (size_t i = 0; i < before.size(); ++i) {
    std::copy(before[i].begin(), before[i].end(), arenas_[i].bytes.get());
  }
}

bool SharedArenas::holds(Span<uint8_t> range) const {
  return std::any_of(arenas_.begin(), arenas_.end(), [&](const Arena& arena) {
    return range.begin() >= arena.bytes.get() && range.end() <= arena.bytes.get() + arena.size;
  });
}

void SharedArenas::settle(Method& method, const Contents& before) {
  std::vector<Span<uint8_t>> fresh;
  const MethodMeta meta = method.method_meta();
  for (size_t i = 0; i < meta.num_attributes(); ++i) {
    const auto info = meta.attribute_tensor_meta(i);
    if (!info.ok()) {
      continue;
    }
    const auto tensor = method.get_attribute(info->name());
    if (!tensor.ok() || tensor->nbytes() == 0) {
      continue;
    }
    const Span<uint8_t> range(static_cast<uint8_t*>(tensor->mutable_data_ptr()), tensor->nbytes());
    const bool is_known = std::any_of(states_.begin(), states_.end(), [&](Span<uint8_t> state) {
      return range.begin() < state.end() && state.begin() < range.end();
    });
    if (holds(range) && !is_known) {
      fresh.push_back(range);
    }
  }
  std::vector<std::vector<uint8_t>> start_values;
  for (const Span<uint8_t>& range : fresh) {
    start_values.emplace_back(range.begin(), range.end());
  }
  restore(before);
  for (size_t i = 0; i < fresh.size(); ++i) {
    std::copy(start_values[i].begin(), start_values[i].end(), fresh[i].begin());
  }
  states_.insert(states_.end(), fresh.begin(), fresh.end());
}

}  // namespace executorch::extension
