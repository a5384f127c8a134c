// SPDX-License-Identifier: BSD-3-Clause
// See stub_driver.h. Without heap, so that it runs on microcontrollers, too.
#include <executorch/backends/arm/runtime/EthosUBackend.h>
#include <executorch/backends/arm/runtime/ethosu_driver_api.h>
#include <executorch/backends/arm/runtime/stub_driver.h>

#include <cstdlib>
#include <cstring>

struct ethosu_driver {
  int reserved = 0;
};

namespace {

struct Bytes {
  int call;
  size_t offset;
  const void* bytes;
  size_t size;
  bool is_answer;
};

constexpr size_t kMaxBytes = 16;
constexpr size_t kAlignment = 16;
constexpr uint8_t kUsed = 0xA5;  // what a run leaves in the scratch beside its outputs

Bytes all_bytes[kMaxBytes];
size_t num_bytes = 0;
int num_calls = 0;
ethosu_driver the_driver;

void add(const Bytes& bytes) {
  if (num_bytes == kMaxBytes) {
    std::abort();
  }
  all_bytes[num_bytes++] = bytes;
}

/// What of status the driver gives; each says what was wrong.
enum Status {
  kDone = 0,
  kNotReserved = -1,
  kNoCommands = -2,
  kBases = -3,
  kAlignments = -4,
  kBounds = -5,
  kInputs = -6,
};

Status run(uint8_t* scratch, size_t size) {
  for (size_t i = 0; i < num_bytes; ++i) {
    const Bytes& each = all_bytes[i];
    if (each.offset > size || each.size > size - each.offset) {
      return kBounds;
    }
    if (each.call == num_calls && !each.is_answer &&
        std::memcmp(scratch + each.offset, each.bytes, each.size) != 0) {
      return kInputs;
    }
  }
  std::memset(scratch, kUsed, size);
  for (size_t i = 0; i < num_bytes; ++i) {
    const Bytes& each = all_bytes[i];
    if (each.call == num_calls && each.is_answer) {
      std::memcpy(scratch + each.offset, each.bytes, each.size);
    }
  }
  ++num_calls;
  return kDone;
}

}  // namespace

extern "C" {

// What links the library asks for this name.
executorch::runtime::Error executorch_ethos_u_stub =
    executorch::backends::arm::register_ethosu_backend();

void ethosu_stub_reset(void) {
  num_bytes = 0;
  num_calls = 0;
}
void ethosu_stub_expect(int call, size_t offset, const void* bytes, size_t size) {
  add({call, offset, bytes, size, false});
}
void ethosu_stub_answer(int call, size_t offset, const void* bytes, size_t size) {
  add({call, offset, bytes, size, true});
}
int ethosu_stub_calls(void) {
  return num_calls;
}
int ethosu_stub_reserved(void) {
  return the_driver.reserved;
}

struct ethosu_driver* ethosu_reserve_driver(void) {
  ++the_driver.reserved;
  return &the_driver;
}
void ethosu_release_driver(struct ethosu_driver* drv) {
  --drv->reserved;
}

int ethosu_invoke_v3(struct ethosu_driver* drv, const void* custom_data_ptr,
                     const int custom_data_size, uint64_t* const base_addr,
                     const size_t* base_addr_size, const int num_base_addr, void*) {
  if (drv->reserved != 1) {
    return kNotReserved;
  }
  if (custom_data_size < 4 || std::memcmp(custom_data_ptr, "COP", 3) != 0) {
    return kNoCommands;
  }
  if (num_base_addr != 3 || base_addr[0] == 0 || base_addr[1] == 0) {
    return kBases;
  }
  if (base_addr[0] % kAlignment != 0 || base_addr[1] % kAlignment != 0 ||
      reinterpret_cast<uintptr_t>(custom_data_ptr) % kAlignment != 0) {
    return kAlignments;
  }
  auto* scratch = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(base_addr[1]));
  return run(scratch, base_addr_size[1]);
}

uint64_t ETHOSU_PMU_Get_CCNTR(struct ethosu_driver*) {
  return static_cast<uint64_t>(num_calls) * 1000;
}
uint32_t ETHOSU_PMU_Get_EVCNTR(struct ethosu_driver*, uint32_t num) {
  return static_cast<uint32_t>(num_calls) * 10 + num;
}

}  // extern "C"
