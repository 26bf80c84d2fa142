# Sourced by scripts/demo and scripts/test. Installs what is missing: Debian packages through apt-get, the rest into a
# cache outside the tree. Once everything is there, it takes a second and needs no network.
set -Eeuo pipefail

drx_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
drx_cache=${DRX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/drx}
drx_jobs=${DRX_JOBS:-$(nproc)}
drx_step="start" drx_hint=""

step() { drx_step=$1 drx_hint=${2:-}; echo "== $1"; }
on_error() {
  echo >&2
  echo "FAILED at step: $drx_step" >&2
  if [[ $drx_hint ]]; then echo "What to do: $drx_hint" >&2; fi
}
trap on_error ERR

# Long output goes to a log; on failure its end is shown.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null || { tail -n 40 "$log" >&2; echo "(whole log: $log)" >&2; return 1; }
}

# Two scripts at once must not both build into the cache; the lock goes with the process.
lock_cache() {
  mkdir -p "$drx_cache/log"
  exec 9>"$drx_cache/lock"
  flock -n 9 || { echo "   waiting for another set-up"; flock 9; }
}
unlock_cache() { exec 9>&-; }

# PACKAGE? is installed only where Debian has it.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "   not a Debian system: expecting these packages' tools to be there: $*"
    return
  fi
  local missing=() package
  for package; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "${package%\?}" 2>/dev/null || true) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  step "install ${missing[*]//\?/}" "install these packages by hand (as root: apt-get install ${missing[*]//\?/}), then run this again"
  local as_root=()
  if ((EUID != 0)); then as_root=(sudo); fi
  quietly "$drx_cache/log/apt-update" "${as_root[@]}" apt-get update
  local there=()
  for package in "${missing[@]}"; do
    [[ $package == *\? && -z $(apt-cache madison "${package%\?}") ]] || there+=("${package%\?}")
  done
  ((${#there[@]})) || return 0
  quietly "$drx_cache/log/apt-install" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${there[@]}"
}

# A virtual environment, as Debian's own Python refuses pip installs. Its interpreter: $drx_python.
setup_python() {
  local pinned=$drx_root/scripts/requirements/python.txt complete=$drx_cache/python/complete
  drx_python=$drx_cache/python/bin/python
  [[ -e $complete && $(<"$complete") == $(sha256sum <"$pinned" | cut -d ' ' -f 1) ]] && return
  step "make a Python environment with numpy and matplotlib" "the files named in $pinned must be to be had; they are for Python 3.11 to 3.13"
  quietly "$drx_cache/log/pip-install" python3 "$drx_root/scripts/packages.py" environment python "$drx_cache/python"
}

kokkos_installed() { # does a plain find_package succeed on this machine?
  local probe=$drx_cache/probe
  rm -rf "$probe"
  mkdir -p "$probe"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(probe CXX)' 'find_package(Kokkos 4.5 REQUIRED)' >"$probe/CMakeLists.txt"
  cmake -S "$probe" -B "$probe/build" >/dev/null 2>&1
}

# An installed Kokkos, else DRX_KOKKOS_SOURCE_DIR, else the unmodified Kokkos 4.5.01 tree that the Python package
# pycompadre carries: Debian has only 3.4, and package registries are often all that a machine can reach.
setup_kokkos() {
  local version=4.5.01
  local prefix=$drx_cache/kokkos-$version source=${DRX_KOKKOS_SOURCE_DIR:-} work=$drx_cache/kokkos-build
  if [[ ${Kokkos_ROOT:-} ]]; then return; fi
  if [[ ! -e $prefix/complete ]]; then
    if kokkos_installed; then return; fi
    rm -rf "$work"
    mkdir -p "$work/source"
    if [[ ! $source ]]; then
      step "download Kokkos $version" "set Kokkos_ROOT to an installed Kokkos >= 4.5, or DRX_KOKKOS_SOURCE_DIR to its source tree"
      quietly "$drx_cache/log/kokkos-download" python3 "$drx_root/scripts/packages.py" download kokkos "$work"
      tar -xzf "$work/pycompadre-1.7.6.tar.gz" -C "$work/source" --strip-components=2 pycompadre-1.7.6/kokkos
      source=$work/source
    fi
    step "build Kokkos (OpenMP and Serial; about a minute)" "see the log above; Kokkos_ROOT may name an installed Kokkos >= 4.5"
    quietly "$drx_cache/log/kokkos-configure" cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CXX_STANDARD=20 -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
    quietly "$drx_cache/log/kokkos-build" cmake --build "$work/build" --target install -j "$drx_jobs"
    rm -rf "$work"
    touch "$prefix/complete"
  fi
  export Kokkos_ROOT=$prefix
}

# setup [PACKAGE...]: what both scripts need, and the packages that one of them needs besides.
setup() {
  step "look for what is missing (cache: $drx_cache)"
  lock_cache
  install_packages g++ cmake ninja-build ca-certificates python3 python3-venv \
    libopenmpi-dev openmpi-bin libeigen3-dev libboost-dev libfmt-dev zlib1g-dev libzip-dev libcli11-dev nlohmann-json3-dev "$@"
  setup_python
  setup_kokkos
  unlock_cache
  echo "   Kokkos: ${Kokkos_ROOT:-found by CMake}"
  # Open MPI refuses to run as root without these two; in a container root is all there is.
  if ((EUID == 0)); then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
  # Ranks share cores on small machines: neither bind each to one core, nor spin, nor refuse (Open MPI 4, then 5).
  export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
}
