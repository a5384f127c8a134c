#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds executorch_pico.elf (and .uf2 for a board) in examples/raspberry_pi/pico2/build.
#   --model=FILE      a .pte, as it is or in this folder
#   --operators=A,B   operators to link; without it those that the model calls, for its dtypes
#   --board=NAME      pico2 (needs PICO_SDK_PATH; the default), host, or for qemu-system-arm: qemu, a Cortex-M33
#                     (-M mps2-an505), qemu-m33, the same with 4 MB of RAM, qemu-m3 (-M mps2-an385) or qemu-m55
#                     (-M mps3-an547)
#   --no-interpreter  the model as source (python -m executorch.codegen.c) in the place of interpreter and file
#   --main=FILE       another main file, for another network
#   --build=FOLDER    another build folder
#   -DNAME=VALUE      a variable of CMakeLists.txt: METHOD_POOL_BYTES, SCRATCH_BYTES, QUANTIZED_KERNELS
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
model="" operators="" board=pico2 build="$here/build" interpreter=ON main="$here/main.cpp"
variables=()
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
for argument in "$@"; do
  case $argument in
    --model=*) model=${argument#*=} ;;
    --operators=*) operators=${argument#*=} ;;
    --board=*) board=${argument#*=} ;;
    --no-interpreter) interpreter=OFF ;;
    --main=*) main=${argument#*=} ;;
    --build=*) build=${argument#*=} ;;
    -D*=*) variables+=("$argument") ;;
    -h | --help) sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown argument $argument; --help lists them" ;;
  esac
done
[ -n "$model" ] || fail "--model=FILE is missing; python export_mlp_mnist.py writes balanced_tiny_mlp_mnist.pte"
[ -f "$model" ] || model="$here/$model"
[ -f "$model" ] || fail "no model ${model##*/} here or in $here"
model=$(cd "$(dirname "$model")" && pwd)/$(basename "$model")
[ -f "$main" ] || fail "no file $main"
main=$(cd "$(dirname "$main")" && pwd)/$(basename "$main")
# add,mul,relu as the documents write them
names=""
for name in ${operators//,/ }; do
  case $name in *.*) ;; *) name="$name.out" ;; esac
  names="$names${names:+,}$name"
done
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S "$here" -B "$build" ${generator[@]+"${generator[@]}"} -DBOARD="$board" -DMODEL="$model" -DOPERATORS="$names" -DINTERPRETER=$interpreter \
  -DMAIN="$main" ${variables[@]+"${variables[@]}"} \
  ${PYTHON_EXECUTABLE:+-DPYTHON_EXECUTABLE="$PYTHON_EXECUTABLE"}
cmake --build "$build" --target executorch_pico
ls -al "$build"/executorch_pico.*
