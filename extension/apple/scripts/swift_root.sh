#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes a folder with a Debian in it that has Swift 6, and runs commands there. Tests of the Swift layer read it from
# EXECUTORCH_SWIFT_ROOT. Needs root and debootstrap; 520 MB are fetched, 2.5 GB written.
#   swift_root.sh FOLDER                  makes it
#   swift_root.sh FOLDER --run DIRS CMD…  runs a command of it, which sees DIRS (a:b:c) at the same paths
#   --help
set -euo pipefail
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
case ${1:-} in
  --help | -h) sed -n '3,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
  -*) fail "unknown argument $1; --help lists them" ;;
  "") fail "expected the folder to make" ;;
esac
root=$1

# Swift's programs end with SIGILL where /proc is missing; its libraries lie where the linker does not look. Mounts are
# of this command alone.
if [[ ${2:-} == --run ]]; then
  export ET_ROOT=$root ET_FOLDERS=$3
  shift 3
  exec unshare --mount bash -c '
    set -e
    mount --make-rprivate /
    mount -t proc proc "$ET_ROOT/proc"
    IFS=:
    for folder in $ET_FOLDERS; do
      mkdir -p "$ET_ROOT$folder"
      mount --rbind "$folder" "$ET_ROOT$folder"
    done
    lib=$(dirname "$(cat "$ET_ROOT/swift-library")")
    exec chroot "$ET_ROOT" env -i HOME=/root PATH=/usr/bin:/bin LANG=C.UTF-8 LD_LIBRARY_PATH="$lib" \
      "$@"' run "$@"
fi

command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
debootstrap --variant=minbase trixie "$root"
chroot "$root" apt-get -y install --no-install-recommends swiftlang libc6-dev libstdc++-14-dev binutils gcc
chroot "$root" apt-get clean
chroot "$root" dpkg -L libswiftlang | grep linux/libswiftCore.so >"$root/swift-library"
