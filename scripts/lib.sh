# What the scripts share; sourced, not run. It leaves the shell at the root of the repository.
set -euo pipefail

script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Debian's own tools come first: a shim of the same name earlier on the path may be of any version, or none.
PATH="/usr/bin:$PATH"

# usage: prints the comment at the top of the script that runs, and that is its --help.
usage() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$script"
}

fail() {
  echo "${script##*/}: $*" >&2
  exit 2
}

# build PRESET [TARGET...]: configures the preset and builds the targets, or everything.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" --log-level=NOTICE &&
    cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"}
}
