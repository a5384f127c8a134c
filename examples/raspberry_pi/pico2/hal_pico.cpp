// SPDX-License-Identifier: BSD-3-Clause
// Raspberry Pi Pico 2, with the Pico SDK.
#include <cstdio>

#include <pico/stdlib.h>

#include <executorch/examples/raspberry_pi/pico2/hal.h>

void hal_init() {
  stdio_init_all();
  gpio_init(PICO_DEFAULT_LED_PIN);
  gpio_set_dir(PICO_DEFAULT_LED_PIN, GPIO_OUT);
  sleep_ms(2000);  // whoever opens the serial line sees the beginning
}

void hal_write(const char* text) {
  fputs(text, stdout);
}

void hal_finish(bool is_error) {
  for (int i = 0; i < 10; ++i) {
    gpio_put(PICO_DEFAULT_LED_PIN, true);
    sleep_ms(is_error ? 100 : 500);
    gpio_put(PICO_DEFAULT_LED_PIN, false);
    sleep_ms(is_error ? 100 : 500);
  }
}
