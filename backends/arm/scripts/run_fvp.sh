#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs firmware on one of Arm's FVPs, or in QEMU, which has no NPU.
#   --elf=FILE           arm_executor_runner (needed)
#   --target=NAME        such as ethos-u55-128 (the default): chooses the FVP
#   --emulator=qemu      qemu-system-arm -M mps3-an547 in its place
#   --data=FILE@ADDR     loaded into memory first (FVP)
#   --bundle=FILE.bpte   for firmware that has its program by semihosting: the program, with a case to verify
#   --etrecord=FILE      what an ETDump of the run means: the Inspector's table is shown
#   --timeout=SECONDS    600 unless given
#   --semihosting-cwd=FOLDER   of the files that the firmware opens; --semihosting-args=WORDS its command line
#   --trace_file=FILE, --fast  of the FVP: the NPU's trace, and a model without timing
set -euo pipefail
elf="" bundle="" target=ethos-u55-128 emulator=fvp timeout=600 folder="" words="" etrecord="" data=() more=()
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
for argument in "$@"; do
  value=${argument#*=}
  case $argument in
    --elf=*) elf=$value ;;
    --target=*) target=$value ;;
    --emulator=qemu | --emulator=fvp) emulator=$value ;;
    --data=*) data+=(--data "$value") ;;
    --timeout=*) timeout=$value ;;
    --semihosting-cwd=*) folder=$value ;;
    --semihosting-args=*) words=$value ;;
    --trace_file=*) more+=(-C "ethosu.extra_args=--pmu-trace $value") ;;
    --fast) more+=(-C ethosu.extra_args=--fast) ;;
    --bundle=*)
      [ -f "$value" ] || fail "--bundle: no file $value"
      bundle=$(cd "$(dirname "$value")" && pwd)/$(basename "$value")
      ;;
    --etrecord=*)
      [ -f "$value" ] || fail "--etrecord: no file $value"
      etrecord=$(cd "$(dirname "$value")" && pwd)/$(basename "$value")
      ;;
    --help | -h) sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown argument $argument; --help lists them" ;;
  esac
done
[ -f "$elf" ] || fail "--elf: no file '$elf'"
elf=$(cd "$(dirname "$elf")" && pwd)/$(basename "$elf")
case $target in
  ethos-u55-*) fvp=FVP_Corstone_SSE-300_Ethos-U55 ;;
  ethos-u65-*) fvp=FVP_Corstone_SSE-300_Ethos-U65 ;;
  ethos-u85-*) fvp=FVP_Corstone_SSE-320 ;;
  *) fvp=FVP_Corstone_SSE-300_Ethos-U55 ;;
esac
if [ -n "$bundle" ]; then
  words="-m $(basename "$bundle")${words:+ $words}"  # semihosting gives 256 characters, so no whole path
  [ -n "$folder" ] || folder=$(dirname "$bundle")
fi
[ -z "$folder" ] || cd "$folder"
if [ "$emulator" = qemu ]; then
  command -v qemu-system-arm >/dev/null || fail "qemu-system-arm is not on PATH"
  arguments="arg=arm_executor_runner"
  for word in $words; do arguments="$arguments,arg=$word"; done
  command=(qemu-system-arm -M mps3-an547 -nographic -kernel "$elf" -semihosting-config "enable=on,target=native,$arguments")
else
  command -v "$fvp" >/dev/null || fail "$fvp is not on PATH: get it from Arm, or give --emulator=qemu, which has no NPU"
  command=("$fvp" -a "$elf" ${data[@]+"${data[@]}"} -C "ethosu.num_macs=${target##*-}" -C mps3_board.visualisation.disable-visualisation=1
    -C mps3_board.telnetterminal0.start_telnet=0 -C "mps3_board.uart0.out_file=-" -C mps3_board.uart0.shutdown_on_eot=1
    -C cpu0.semihosting-enable=1 -C "cpu0.semihosting-cmd_line=arm_executor_runner $words" ${more[@]+"${more[@]}"})
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
timeout "$timeout" "${command[@]}" 2>&1 | tee "$log" || status=$?
[ "$status" != 124 ] || fail "it ran longer than $timeout seconds"
if grep -q -E '^[EF][: ]|Hard fault' "$log"; then fail "the firmware reports an error"; fi
# What firmware without files of the host has recorded stands in its text.
for name in etdump.bin debug_buffer.bin; do
  if grep -q "^base64 -d > $name" "$log"; then
    sed -n "/^base64 -d > $name << EOF/,/^EOF/p" "$log" | sed '1d;$d' | base64 -d >"$name"
    echo "recorded: $PWD/$name"
  fi
done
if [ -n "$etrecord" ]; then
  [ -f etdump.bin ] || fail "--etrecord: the firmware recorded nothing; build it with --etdump"
  "${PYTHON_EXECUTABLE:-python}" -m executorch.devtools.inspector.inspector_cli --etdump_path etdump.bin --etrecord_path "$etrecord"
fi
exit "$status"
