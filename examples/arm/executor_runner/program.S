// SPDX-License-Identifier: BSD-3-Clause
// The program as part of the firmware.
  .section network_model_sec, "a"
  .balign 16
  .global program_begin
  .global program_end
program_begin:
  .incbin PROGRAM_FILE
program_end:
  .byte 0
