#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Brings the sources of the third-party libraries that the build compiles: Highway, XNNPACK, pthreadpool, cpuinfo,
# FXdiv, FP16, and for tokenizers PCRE2, utf8proc and JSON for Modern C++.
# They are the upstream tarballs of the Debian pool, checked by sha256, with the patches of third-party/patches/<name>;
# nothing is downloaded twice.
#   fetch_sources.sh [name...]     default: every component of the table
#   fetch_sources.sh --archives    puts the tarballs of all into third-party/archives, where a source distribution has them
#   EXECUTORCH_SOURCE_CACHE        where tarballs and unpacked trees go (default: <root>/third-party/.cache)
#   EXECUTORCH_SOURCE_MIRROR       base address of a Debian archive to try before those apt is set up for
# Result: $EXECUTORCH_SOURCE_CACHE/src/<name>, one directory per component, with the tarball's top level stripped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${EXECUTORCH_SOURCE_CACHE:-$root/third-party/.cache}
attempts=3

# name, path in the pool, sha256, licence (SPDX). A second row of the same name is used when the first is not to be had.
table='
highway pool/main/h/highway/highway_1.2.0.orig.tar.gz 7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343 Apache-2.0 OR BSD-3-Clause
highway pool/main/h/highway/highway_1.3.0.orig.tar.gz 07b3c1ba2c1096878a85a31a5b9b3757427af963b1141ca904db2f9f4afe0bc2 Apache-2.0 OR BSD-3-Clause
pthreadpool pool/main/p/pthreadpool/pthreadpool_0.0~git20251020.0e6ca13.orig.tar.xz 7a385b6585abe8f8658952c50b44a1dabe200de2c88eabe65d15168b8a82295c BSD-2-Clause
cpuinfo pool/main/c/cpuinfo/cpuinfo_0.0~git20250905.877328f.orig.tar.xz 557ca404a3836b9f335a3a06b65ff9fe9dbaaefab7fb5c0185f53d9f33615a10 BSD-2-Clause
cpuinfo pool/main/c/cpuinfo/cpuinfo_0.0~git20250327.39ea79a.orig.tar.xz 2a10028948f7f0663c56cc34405484391ee3d7ccdf09fe51d73897937b99d9d4 BSD-2-Clause
xnnpack pool/main/x/xnnpack/xnnpack_0.0~git20241108.4ea82e5.orig.tar.xz 90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99 BSD-3-Clause
fp16 pool/main/f/fp16/fp16_0.0~git20200514.4dfe081.orig.tar.xz 7d7782b37b74136e0e12593a2a93ccbe7db831f4374cc408e44623d9b708b54e MIT
fxdiv pool/main/f/fxdiv/fxdiv_0.0~git20200417.b408327.orig.tar.xz 7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b MIT
pcre2 pool/main/p/pcre2/pcre2_10.46.orig.tar.gz 8d28d7f2c3b970c3a4bf3776bcbb5adfc923183ce74bc8df1ebaad8c1985bd07 BSD-3-Clause WITH PCRE2-exception
pcre2 pool/main/p/pcre2/pcre2_10.45.orig.tar.gz 0e138387df7835d7403b8351e2226c1377da804e0737db0e071b48f07c9d12ee BSD-3-Clause WITH PCRE2-exception
utf8proc pool/main/u/utf8proc/utf8proc_2.11.3.orig.tar.gz abfed50b6d4da51345713661370290f4f4747263ee73dc90356299dfc7990c78 MIT AND Unicode-DFS-2015
json pool/main/n/nlohmann-json3/nlohmann-json3_3.11.3.orig.tar.gz 0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406 MIT
'

say() { printf '[sources] %s\n' "$*" >&2; }

mirrors() { # base addresses, each with a closing slash
  [ -z "${EXECUTORCH_SOURCE_MIRROR:-}" ] || echo "${EXECUTORCH_SOURCE_MIRROR%/}/"
  command -v apt-get >/dev/null || return 0
  { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null || true; } \
    | { grep -v security || true; } | sort -u
}

intact() { # file sha256
  [ -f "$1" ] && printf '%s  %s\n' "$2" "$1" | sha256sum --check --status -
}

download() { # address file sha256
  local part=$2.$$.part
  if [ -x /usr/lib/apt/apt-helper ]; then
    /usr/lib/apt/apt-helper download-file "$1" "$part" "SHA256:$3" >/dev/null 2>&1 || true
  elif command -v curl >/dev/null; then
    curl -fsSL --max-time 120 -o "$part" "$1" || true
  fi
  if intact "$part" "$3"; then mv "$part" "$2"; else rm -f "$part"; return 1; fi
}

tarball() { # component -> path of its tarball on stdout
  local name path sum file mirror attempt
  while read -r name path sum _; do # a tarball that is already here wins over any download
    for file in "$cache/tarballs/${path##*/}" "$root/third-party/archives/${path##*/}"; do
      if [ "$name" = "$1" ] && intact "$file" "$sum"; then echo "$file"; return 0; fi
    done
  done <<<"$table"
  for attempt in $(seq "$attempts"); do
    while read -r name path sum _; do
      [ "$name" = "$1" ] || continue
      file=$cache/tarballs/${path##*/}
      for mirror in $(mirrors); do
        if download "$mirror$path" "$file" "$sum"; then say "$1: ${path##*/}"; echo "$file"; return 0; fi
      done
    done <<<"$table"
    [ "$attempt" = "$attempts" ] || sleep "$attempt"
  done
  say "error: no source of $1 could be downloaded"
  say "tried the mirrors: $(mirrors | tr '\n' ' ')with these files of the pool:"
  awk -v n="$1" '$1 == n { print "[sources]   " $2 "  sha256 " $3 }' <<<"$table" >&2
  say "next step: put one of these files into $cache/tarballs, or set EXECUTORCH_SOURCE_MIRROR to a Debian archive, and run $0 again"
  return 1
}

patches() { # component: its patches, and their sums
  [ ! -d "$root/third-party/patches/$1" ] || find "$root/third-party/patches/$1" -name '*.patch' | sort
}
sums() {
  patches "$1" | while read -r file; do sha256sum <"$file"; done
}

unpack() { # component: leaves $cache/src/<component>, with the name of its tarball in .tarball, sums of patches in .patches
  local file dir=$cache/src/$1 fresh=$cache/src/.$1.$$ strip=1
  if [ -f "$dir/.tarball" ] && grep -q "^$1 .*/$(cat "$dir/.tarball") " <<<"$table" &&
    [ "$(cat "$dir/.patches" 2>/dev/null)" = "$(sums "$1")" ]; then
    touch "$dir/.tarball"
    return 0
  fi
  file=$(tarball "$1")
  # Some tarballs have one top directory, some have none.
  if tar -tf "$file" | grep -E '^(\./)?CMakeLists\.txt$' >/dev/null; then strip=0; fi
  rm -rf "$fresh"
  mkdir -p "$fresh"
  tar -xmf "$file" -C "$fresh" --strip-components="$strip" # -m: newer than what was built of another version
  while read -r change; do
    patch -d "$fresh" -p1 --silent --forward <"$change" || {
      say "error: ${change#"$root"/} does not fit ${file##*/}"
      say "next step: install patch if it is not there; for another version of $1, write the patch anew"
      return 1
    }
  done < <(patches "$1")
  sums "$1" >"$fresh/.patches"
  printf '%s\n' "${file##*/}" >"$fresh/.tarball"
  rm -rf "$dir"
  mv "$fresh" "$dir"
}

mkdir -p "$cache/tarballs" "$cache/src"
exec 9>"$cache/.lock"
if command -v flock >/dev/null; then flock 9; fi
all=$(awk 'NF >= 4 { print $1 }' <<<"$table" | sort -u)
if [ "${1:-}" = --archives ]; then
  mkdir -p "$root/third-party/archives"
  for component in $all; do cp -u "$(tarball "$component")" "$root/third-party/archives/"; done
  exit
fi
[ $# -gt 0 ] || set -- $all
for component in "$@"; do
  grep -q "^$component " <<<"$table" || { say "error: no component called $component"; exit 2; }
  unpack "$component"
done
