// SPDX-License-Identifier: BSD-3-Clause
// What the firmware needs of a board. hal_pico.cpp, hal_qemu.cpp and hal_host.cpp have it.
#pragma once

/// Before anything else.
void hal_init();
/// Text to whoever watches: USB serial on a Pico.
void hal_write(const char* text);
/// Ten flashes of the LED: slow (500 ms) when all went well, fast (100 ms) after an error. A board
/// then begins anew; an emulator ends, with code 0 or 1.
void hal_finish(bool is_error);
