# Shared by the scripts in this folder, which source it: steps that say what they do, Debian's packages, the build.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=$(basename "$0")
build=${CYCLECAST_BUILD_DIR:-$root/build/release}
current_step="starting"
# XGBoost's threads otherwise spin while they wait.
export OMP_WAIT_POLICY=passive

# step TEXT: says what happens next; a failure before the next step is reported under this name.
step() {
  current_step=$1
  printf '\n==> %s (%d s)\n' "$1" "$SECONDS"
}

# die REASON: ends the script.
die() {
  trap - EXIT
  printf '\n%s: failed while %s: %s\n' "$script" "$current_step" "$1" >&2
  exit 1
}

report_failure() {
  local status=$?
  [ "$status" -eq 0 ] ||
    printf '\n%s: failed while %s (exit code %d); the reason is above\n' "$script" "$current_step" "$status" >&2
}
trap report_failure EXIT

# packages KIND...: the packages of these kinds in packages.txt.
packages() {
  local kind
  for kind in "$@"; do
    awk -v kind="$kind" '$1 == kind { print $2 }' "$root/scripts/packages.txt"
  done
}

# install_packages KIND...: installs what is missing. Without anything missing, neither network nor root is needed.
install_packages() {
  local missing=() package as_root=()
  step "checking the Debian packages: $*"
  command -v dpkg-query >/dev/null ||
    die "this is not a Debian system; install by other means what scripts/packages.txt lists, then run cmake --preset release"
  for package in $(packages "$@"); do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "all there"
    return
  fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root, and no sudo; as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  step "installing packages with apt-get"
  echo "missing: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update || die "apt-get could not read the package lists: is there a network?"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install these packages; they are in Debian 12 (bookworm), section main"
}

# jobs_count: processes to run at once: one per core, and 1.5 GiB of memory for each.
jobs_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || true)
  [ "${memory:-$cores}" -ge 1 ] || memory=1
  echo $((cores < ${memory:-cores} ? cores : ${memory:-cores}))
}

# configure: a Release build in $build.
configure() {
  step "configuring the build in ${build#"$root"/}"
  # ccache keeps its files in the home folder; where there is none, beside the build.
  [ -w "${HOME:-/nonexistent}" ] || export CCACHE_DIR="${CCACHE_DIR:-$root/build/ccache}"
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release
}

# build_targets [TARGET...]: builds them, or everything.
build_targets() {
  step "building ${*:-everything} with $(jobs_count) processes"
  ninja -C "$build" -j "$(jobs_count)" "$@"
}

# sources: all C++ files of the project, relative to its root.
sources() {
  (cd "$root" && find . \( -path ./build -o -path './build-*' -o -path ./.git \) -prune -o \
    \( -name '*.cc' -o -name '*.h' \) -type f -printf '%P\n' | sort)
}
