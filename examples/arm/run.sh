#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A model on a Cortex-M with an Ethos-U: compiled, linked with the runner, run.
#   --model_name=NAME          softmax, linear, add, mv2_untrained or another of examples/models, or a .py file (needed)
#   --model_input=FILE         of a saved module
#   --target=NAME              ethos-u55-128 unless given
#   --aot_arm_compiler_flags=FLAGS   --delegate --quantize unless given; --no_delegate and --no_quantize take one away
#   --output=FOLDER            for the program
#   --scratch-dir=FOLDER       for all that is written; --et_build_root=FOLDER for the firmware
#   --build_only               nothing is run
#   --emulator=qemu            instead of an FVP; it has no NPU
#   --bundleio                 the program carries its inputs and what is expected, and the run is verified
#   --etdump                   events of the run, shown as a table
#   --pte_placement=elf|0xADDR --build_type, --system_config, --memory_mode, --config, --select_ops_list, --extra_build_flags,
#   --toolchain                as backends/arm/scripts/build_executor_runner.sh has them
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scripts="$root/backends/arm/scripts"
model="" input=() target=ethos-u55-128 flags="" has_flags=false delegate=--delegate quantize=--quantize output="" scratch=arm_test
ending=.pte etdump=false build_root="" build_only=false emulator=fvp placement=elf build=() compile=()
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
for argument in "$@"; do
  value=${argument#*=}
  case $argument in
    --model_name=*) model=$value ;;
    --model_input=*) input=("--model_input=$value") ;;
    --target=*) target=$value ;;
    --aot_arm_compiler_flags=*) flags=$value has_flags=true ;;
    --no_delegate) delegate="" ;;
    --no_quantize) quantize="" ;;
    --output=*) output=$value ;;
    --scratch-dir=*) scratch=$value ;;
    --et_build_root=*) build_root=$value ;;
    --build_only) build_only=true ;;
    --emulator=qemu | --emulator=fvp) emulator=$value ;;
    --bundleio) ending=.bpte build+=("$argument") compile+=("$argument") ;;
    --etdump) etdump=true build+=("$argument") compile+=(--etrecord) ;;
    --pte_placement=*) placement=$value ;;
    --system_config=* | --memory_mode=*) build+=("$argument") compile+=("$argument") ;;
    --config=*) compile+=("$argument") ;;
    --build_type=* | --select_ops_list=* | --extra_build_flags=* | --toolchain=*) build+=("$argument") ;;
    --help | -h) sed -n '3,16s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown argument $argument; --help lists them" ;;
  esac
done
[ -n "$model" ] || fail "--model_name is missing; --help lists the arguments"
$has_flags || flags="$delegate $quantize"
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
[ -n "$output" ] || output=$scratch
mkdir -p "$output"
name=$(basename "$model")
pte="$output/${name%.*}_arm_$target$ending"
python=${PYTHON_EXECUTABLE:-python}
read -r -a words <<<"$flags"
"$python" -m executorch.backends.arm.scripts.aot_arm_compiler --model_name="$model" --target="$target" --output="$pte" \
  ${input[@]+"${input[@]}"} ${compile[@]+"${compile[@]}"} ${words[@]+"${words[@]}"}
from=$pte data=()
if [ "$placement" != elf ]; then from=$placement data=("--data=$pte@$placement"); fi
elf_folder="${build_root:-$scratch}/${name%.*}_$target"
"$scripts/build_executor_runner.sh" --pte="$from" --target="$target" --output="$elf_folder" ${build[@]+"${build[@]}"}
$build_only && exit 0
if $etdump; then data+=("--etrecord=${pte%.*}_etrecord.bin"); fi
"$scripts/run_fvp.sh" --elf="$elf_folder/arm_executor_runner" --target="$target" --emulator="$emulator" ${data[@]+"${data[@]}"}
