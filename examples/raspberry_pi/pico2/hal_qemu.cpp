// SPDX-License-Identifier: BSD-3-Clause
// A Cortex-M33 in QEMU (mps2-an505), without a C library's start: vectors, memory, and text by
// semihosting.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <executorch/runtime/platform/platform.h>

#include <executorch/examples/raspberry_pi/pico2/hal.h>

int main();

extern "C" {
extern uint8_t data_load[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
extern void (*init_begin[])();
extern void (*init_end[])();
}

namespace {

intptr_t semihost(intptr_t operation, const void* argument) {
  register intptr_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

[[noreturn]] void finish(int code) {
  const uintptr_t why[] = {0x20026, static_cast<uintptr_t>(code)};  // the application ended
  for (;;) {
    semihost(0x20, why);
  }
}

[[noreturn]] void on_fault() {
  hal_write("fault\n");
  finish(2);
}

[[noreturn]] void start() {
  *reinterpret_cast<volatile uint32_t*>(0xE000ED88) |= 0xFu << 20;  // the unit for floating point
  asm volatile("dsb\nisb");
  std::memcpy(data_begin, data_load, static_cast<size_t>(data_end - data_begin));
  std::memset(bss_begin, 0, static_cast<size_t>(bss_end - bss_begin));
  for (auto each = init_begin; each != init_end; ++each) {
    (*each)();
  }
  main();
  finish(0);
}

using Handler = void (*)();
// The stack, and the first 15 handlers.
struct Vectors {
  void* stack;
  Handler handlers[15];
};
[[gnu::section(".vectors"), gnu::used]] const Vectors vectors = {
    stack_top,
    {start, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, nullptr, nullptr, nullptr,
     on_fault, on_fault, nullptr, on_fault, on_fault}};

}  // namespace

void hal_init() {}
void hal_write(const char* text) {
  semihost(0x04, text);
}
void hal_finish(bool is_error) {
  finish(is_error ? 1 : 0);
}

// Objects with virtual destructors name delete, builders that have a buffer name new; nothing here
// is made by it.
void* operator new(size_t) {
  on_fault();
}
void* operator new[](size_t) {
  on_fault();
}
void operator delete(void*) noexcept {
  on_fault();
}
void operator delete[](void*) noexcept {
  on_fault();
}
void operator delete(void*, size_t) noexcept {
  on_fault();
}

extern "C" {
void __cxa_pure_virtual() {
  on_fault();
}
void abort() {
  on_fault();
}
// The C library's snprintf is linked with its malloc, which asks here for memory: there is no heap
// unless firmware has another one.
ET_WEAK void* _sbrk(ptrdiff_t) {
  hal_write("heap\n");
  on_fault();
}
void et_pal_emit_log_message(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t,
                             const char* message, size_t) {
  hal_write(message);
  hal_write("\n");
}
}
