#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds arm_executor_runner for a program.
#   --pte=FILE|0xADDR|semihosting  part of the firmware, already in memory, or a file of the host (needed)
#   --target=NAME                  such as ethos-u55-128 (the default); cortex-m55 for none
#   --build_type=NAME              Release (the default), Debug, RelWithDebInfo
#   --system_config=NAME, --memory_mode=NAME   as the program was compiled; else the target's
#   --select_ops_list=A,B          operators to link; else those of the program
#   --bundleio                     the program is a bundled one (.bpte): its first case is run and verified
#   --etdump                       events are recorded: etdump.bin
#   --extra_build_flags=FLAGS      more arguments of cmake, divided by blanks
#   --output=FOLDER                of the firmware; else NAME_TARGET beside the program
#   --et_build_root=FOLDER         in which that is, else arm_test; --toolchain=arm-none-eabi-gcc
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
pte="" target=ethos-u55-128 build_type=Release system_config="" memory_mode="" operators="" output="" build_root="$root/arm_test"
extra=() tools=()
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
for argument in "$@"; do
  value=${argument#*=}
  case $argument in
    --pte=*) pte=$value ;;
    --target=*) target=$value ;;
    --build_type=*) build_type=$value ;;
    --system_config=*) system_config=$value ;;
    --memory_mode=*) memory_mode=$value ;;
    --select_ops_list=*) operators=$value ;;
    --extra_build_flags=*) read -r -a extra <<<"$value" ;;
    --output=*) output=$value ;;
    --et_build_root=*) build_root=$value ;;
    --toolchain=arm-none-eabi-gcc) ;;
    --toolchain=*) fail "--toolchain=$value: expected arm-none-eabi-gcc" ;;
    --bundleio) tools+=(-DET_BUNDLE_IO=ON) ;;
    --etdump) tools+=(-DEXECUTORCH_ENABLE_EVENT_TRACER=ON) ;;
    --help | -h) sed -n '3,14s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown argument $argument; --help lists them" ;;
  esac
done
[ -n "$pte" ] || fail "--pte is missing; --help lists what it may be"
python=${PYTHON_EXECUTABLE:-python}
# processor, system configuration and memory mode of the target
row=$("$python" - "$root/backends/arm/ethosu/targets.json" "$target" <<'PY'
import json, re, sys
families = json.load(open(sys.argv[1]))["families"]
name = re.match(r"ethos-u\d+", sys.argv[2])
if sys.argv[2].startswith("cortex-m"):
    print(sys.argv[2], *[families["ethos-u55"][key] for key in ("system_config", "memory_mode")], "ethos-u55-128")
elif name and name[0] in families:
    row = families[name[0]]
    print(row["processor"], row["system_config"], row["memory_mode"], sys.argv[2])
PY
)
[ -n "$row" ] || fail "--target=$target: expected ethos-u55-128, ethos-u65-256, ethos-u85-256 or the like, or cortex-m55"
read -r processor default_config default_mode npu <<<"$row"
case $pte in
  semihosting) name=semihosting; from=(-DSEMIHOSTING=ON) ;;
  0x*) name=$pte; from=("-DET_MODEL_PTE_ADDR=$pte") ;;
  *)
    [ -f "$pte" ] || fail "--pte: no file $pte"
    pte=$(cd "$(dirname "$pte")" && pwd)/$(basename "$pte")
    name=$(basename "${pte%.*}")
    from=("-DET_PTE_FILE_PATH=$pte")
    ;;
esac
[ -n "$output" ] || output="$build_root/${name}_$target"
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S "$root/examples/arm/executor_runner" -B "$output" ${generator[@]+"${generator[@]}"} "${from[@]}" \
  -DCMAKE_TOOLCHAIN_FILE="$root/examples/arm/ethos-u-setup/arm-none-eabi-gcc.cmake" -DCMAKE_BUILD_TYPE="$build_type" \
  -DTARGET_CPU="$processor" -DETHOSU_TARGET_NPU_CONFIG="$npu" -DPYTHON_EXECUTABLE="$(command -v "$python")" \
  -DSYSTEM_CONFIG="${system_config:-$default_config}" -DMEMORY_MODE="${memory_mode:-$default_mode}" \
  -DEXECUTORCH_SELECT_OPS_LIST="$operators" ${tools[@]+"${tools[@]}"} ${extra[@]+"${extra[@]}"}
cmake --build "$output" --target arm_executor_runner -j "$(nproc)"
echo "executor runner: $output/arm_executor_runner"
