// SPDX-License-Identifier: BSD-3-Clause
// Large pages for memory that is read again and again. A processor that reads ordinary pages looks
// up one every 4 KiB, which takes about as long as reading them; but a large page is resident as a
// whole, and the system may need milliseconds to find one. So ordinary pages come first, and those
// that are in use are put together later.
#pragma once

#include <cstddef>

namespace executorch::extension {

constexpr size_t kLargePage = size_t{1} << 21;

/// Large pages in [begin, begin + size), writable memory of the process, are wanted where at least
/// half of the ordinary ones are resident. A thread looks a second later, then after two, four and
/// so on, and works half of that time. Elsewhere than on Linux from 6.1 on nothing happens. Any
/// thread.
void want_large_pages(void* begin, size_t size);

/// Ahead of giving such memory back: none that begin there are wanted any more. May wait for one
/// that is being put together, milliseconds. Any thread.
void forget_large_pages(void* begin, size_t size);

}  // namespace executorch::extension
