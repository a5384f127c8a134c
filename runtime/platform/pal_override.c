// SPDX-License-Identifier: BSD-3-Clause
// Platform functions overridden at link time from C; pal_override_test.cpp has the others.
#include <executorch/runtime/platform/platform.h>

#include <stdlib.h>

int c_allocations = 0;
int c_frees = 0;

void et_pal_abort(void) {
  _Exit(42);
}

void* et_pal_allocate(size_t size) {
  ++c_allocations;
  return malloc(size);
}

void et_pal_free(void* ptr) {
  ++c_frees;
  free(ptr);
}
