#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Brings a fresh clone to where it builds: system packages, .venv, Python packages, third-party sources.
# Running it again when nothing changed takes less than a second.
#   PYTHON           interpreter for the environment (3.10 to 3.13); default: the first one found
#   TORCH_INDEX_URL  package index for torch alone, where the default one brings GPU packages
#   EXECUTORCH_SKIP_APT=1  leave system packages alone
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${VENV:-$root/.venv}
stamp=$venv/.setup-stamp
say() { printf '[setup] %s\n' "$*"; }
fail() { printf '[setup] error: %s\n' "$1" >&2; [ -z "${2:-}" ] || printf '[setup] next step: %s\n' "$2" >&2; exit 1; }

package_list() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$root/scripts/apt-packages.txt"; }
wanted_packages() { package_list | grep -v '^?'; }
optional_packages() { package_list | sed -n 's/^?//p'; }
is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
is_offered() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null; } # not -q: it would close the pipe early

install_system_packages() {
  [ "${EXECUTORCH_SKIP_APT:-0}" != 1 ] || { say "system packages: left alone (EXECUTORCH_SKIP_APT=1)"; return; }
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here; make sure these are installed: $(wanted_packages | tr '\n' ' ')"
    return
  fi
  local missing=() package sudo=""
  for package in $(wanted_packages); do
    is_installed "$package" || missing+=("$package")
  done
  local optional=()
  for package in $(optional_packages); do
    is_installed "$package" || optional+=("$package")
  done
  [ $((${#missing[@]} + ${#optional[@]})) -gt 0 ] || { say "system packages: all there"; return; }
  if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    if ! command -v sudo >/dev/null; then
      [ ${#missing[@]} -eq 0 ] || fail "cannot install ${missing[*]}: not root and no sudo" \
        "install them by hand, or set EXECUTORCH_SKIP_APT=1"
      say "system packages: ${optional[*]} left out (not root and no sudo); tests that need them are skipped"
      return
    fi
  fi
  local log; log=$(mktemp)
  if ! $sudo apt-get update >"$log" 2>&1 && [ ${#missing[@]} -gt 0 ]; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "apt-get could not read its lists" "see the lines above; EXECUTORCH_SKIP_APT=1 leaves this step out"
  fi
  local install=($sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends)
  if [ ${#missing[@]} -gt 0 ]; then
    say "system packages: installing ${missing[*]}"
    if ! "${install[@]}" "${missing[@]}" >"$log" 2>&1; then
      tail -n 20 "$log" >&2
      rm -f "$log"
      fail "apt-get could not install ${missing[*]}" "see the lines above; EXECUTORCH_SKIP_APT=1 leaves this step out"
    fi
  fi
  for package in ${optional[@]+"${optional[@]}"}; do
    if is_offered "$package" && "${install[@]}" "$package" >"$log" 2>&1; then
      say "system packages: installed $package"
    else
      say "system packages: $package is not to be had here; tests that need it are skipped"
    fi
  done
  rm -f "$log"
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3 python3.11 python3.12 python3.13 python3.10}; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  fail "no Python 3.10 to 3.13 found (tried ${PYTHON:-python3, python3.10 to 3.13})" "install one or set PYTHON"
}

make_environment() {
  [ -x "$venv/bin/python" ] && return
  local python; python=$(find_python)
  say "environment: making $venv with $("$python" --version)"
  "$python" -m venv "$venv" || fail "$python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
}

pip_install() { # what arguments...: quiet, but the whole log when it fails
  local what=$1 log; shift
  log=$(mktemp)
  say "$what"
  if ! "$venv/bin/python" -m pip install --disable-pip-version-check "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    rm -f "$log"
    fail "pip could not install: $what" "see the lines above"
  fi
  rm -f "$log"
}

install_python_packages() {
  local index=()
  [ -z "${TORCH_INDEX_URL:-}" ] || index=(--index-url "$TORCH_INDEX_URL")
  pip_install "Python packages: torch, the pinned build (a few hundred MB the first time)" \
    ${index[@]+"${index[@]}"} -r "$root/scripts/requirements-torch.txt"
  pip_install "Python packages: build, test and export tools" -r "$root/scripts/requirements.txt"
  pip_install "Python packages: the site" -r "$root/scripts/requirements-site.txt"
}

tool_lists() { find "$root/backends" -name tools-requirements.txt 2>/dev/null | sort; }

install_tools() { # programs whose packages do not fit the environment, each backend's in one of its own
  local list backend place
  for list in $(tool_lists); do
    backend=$(basename "$(dirname "$list")")
    place=$venv/tools/$backend
    [ -x "$place/bin/python" ] || "$venv/bin/python" -m venv "$place" || fail "cannot make $place"
    say "tools of the backend $backend"
    local log; log=$(mktemp)
    if ! "$place/bin/python" -m pip install --disable-pip-version-check -r "$list" >"$log" 2>&1; then
      tail -n 5 "$log" >&2
      say "tools of the backend $backend are not to be had here; tests that need them are skipped"
    fi
    rm -f "$log"
  done
}

link_sources() { # makes `import executorch` find the source tree
  local site; site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$root/src" >"$site/executorch-src.pth"
}

fetch_third_party() {
  [ -x "$root/scripts/fetch_sources.sh" ] || return 0
  say "third-party sources"
  "$root/scripts/fetch_sources.sh" || fail "third-party sources could not be fetched" "see the lines above"
}

fingerprint() {
  cat "$root"/scripts/{*.sh,*.txt} $(tool_lists) | sha256sum | cut -d' ' -f1
}

want="$(fingerprint) $root"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ]; then
  say "up to date"
  exit 0
fi
install_system_packages
make_environment
install_python_packages
install_tools
link_sources
fetch_third_party
printf '%s' "$want" >"$stamp"
say "done"
