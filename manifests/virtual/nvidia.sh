#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles OpenCL C for NVIDIA's GPUs by clang, libclc and nvidia_built_ins.cl to PTX, and by ptxas,
# if it is there, to a cubin. Runs in a new, empty folder; nvidia.toml is the caller.
#
#   nvidia.sh tools                       prints the versions of all that the output depends on
#   nvidia.sh driver                      prints the oldest driver that takes the output
#   nvidia.sh compute_capability MODEL    prints 9.0 for sm_90
#   nvidia.sh compile MODEL INPUT OUTPUT OPTION...
set -eu

fail() {
  echo "$*" >&2
  exit 1
}

here=$(dirname "$0")
built_ins=$here/nvidia_built_ins.cl

clang=${KILN_CLANG:-$(command -v clang-15 || echo clang)}
clang_version=$("$clang" --version | sed -n 's/.*clang version \([0-9.]*\).*/\1/p')
clang_major=${clang_version%%.*}
# PTX of clang 13 and older does not suit later GPUs.
[ "${clang_major:-0}" -ge 14 ] || fail "$clang is no clang 14 or later; KILN_CLANG names another"

libclc=${KILN_LIBCLC:-}
for folder in "/usr/lib/llvm-$clang_major/lib/clc" /usr/lib/clc /usr/share/clc; do
  [ -n "$libclc" ] || [ ! -f "$folder/nvptx64--nvidiacl.bc" ] ||
    libclc=$folder/nvptx64--nvidiacl.bc
done
[ -f "$libclc" ] || fail "there is no file ${libclc:-nvptx64--nvidiacl.bc} of libclc: install a" \
  "package such as libclc-$clang_major; KILN_LIBCLC names the file"

ptxas=${KILN_PTXAS:-}
for program in ptxas "${CUDA_PATH:-}/bin/ptxas" "${CUDA_HOME:-}/bin/ptxas" \
  /usr/local/cuda*/bin/ptxas; do
  [ -n "$ptxas" ] || ptxas=$(command -v "$program" || true)
done
ptxas_version=none
if [ "${ptxas:-none}" != none ]; then
  command -v "$ptxas" >/dev/null || fail "there is no program $ptxas, which KILN_PTXAS names"
  ptxas_version=$("$ptxas" --version | sed -n 's/.*, V\([0-9.]*\).*/\1/p')
fi

# Prints the compute capability. Fails if no code can be made for the model. Names with a letter are
# refused: their code is specific to one GPU in a way that OpenCL does not tell.
compute_capability() {
  digits=${1#sm_}
  case $1 in
    sm_[1-9][0-9] | sm_[1-9][0-9][0-9]) ;;
    *) fail "\"$1\" is no architecture of NVIDIA's: expected sm_ and two or three digits" ;;
  esac
  if [ "$ptxas_version" != none ]; then
    known=$("$ptxas" --help | grep -o "'sm_[0-9]*'" | tr -d "'" | sort -u -t _ -k 2n)
    echo "$known" | grep -qx "$1" || fail "$ptxas makes no code for $1; it does for" $known
  fi
  echo "${digits%?}.${digits#"${digits%?}"}"
}

# NVIDIA's "CUDA minor version compatibility": a cubin of any minor version runs on the drivers of the
# major version's first. PTX 7.5 is of CUDA 11.5.
driver() {
  case $ptxas_version in
    none) echo 495.29.05 ;;
    11.*) echo 450.80.02 ;;
    12.*) echo 525.60.13 ;;
    13.*) echo 580.65.06 ;;
    *) fail "$ptxas is of CUDA ${ptxas_version:-unknown}: which drivers take its" \
      "code is known of CUDA 11, 12 and 13; KILN_PTXAS names another" ;;
  esac
}

# Reads LLVM IR and its PTX. Fails if a kernel takes an image or a sampler, or a called function is
# undefined. Prints the PTX with the required work-group sizes, which clang 15 leaves out.
finish_ptx() {
  awk '
    function refuse(text) {
      print text > "/dev/stderr"
      exit failed = 1
    }
    # Returns "!7" of a line with "!kind !7".
    function reference(kind) {
      if (!match($0, "!" kind " ![0-9]+")) return ""
      return substr($0, RSTART + length(kind) + 2, RLENGTH - length(kind) - 2)
    }
    FNR == NR && /^define .*spir_kernel void @/ {
      name = $0
      sub(/.*spir_kernel void @/, "", name)
      sub(/\(.*/, "", name)
      types[reference("kernel_arg_base_type")] = name
      wanted[name] = reference("reqd_work_group_size")
    }
    FNR == NR && /^declare / && !/@llvm\./ {
      name = $0
      sub(/.*@/, "", name)
      sub(/\(.*/, "", name)
      if (match(name, /^_Z[0-9]+/)) name = substr(name, RLENGTH + 1, substr(name, 3, RLENGTH - 2))
      undefined = undefined (undefined == "" ? "" : ", ") name
    }
    FNR == NR && /^![0-9]+ = / {
      if ($1 in types && match($0, /"(image[123]d[a-z_]*|sampler_t)/))
        refuse(types[$1] " takes an argument of the type " substr($0, RSTART + 1, RLENGTH - 1) \
               ", and clang makes no code for images and samplers")
      size = $0
      gsub(/.*[{]|i32 |[}].*/, "", size)
      sizes[$1] = size
    }
    FNR == NR { next }
    FNR == 1 && undefined != "" { refuse("neither the program nor libclc defines " undefined) }
    /\.entry / {
      name = $0
      sub(/.*\.entry /, "", name)
      sub(/\(.*/, "", name)
      size = sizes[wanted[name]]
    }
    /\.reqntid/ { size = "" }
    /^[{]/ {
      if (size != "") print ".reqntid " size
      size = ""
    }
    { print }
    END { exit failed }' "$1" "$2"
}

compile() {
  model=$1 input=$2 output=$3
  shift 3
  # OpenCL's options are for clang, some of NVIDIA's for ptxas; the others of NVIDIA's change nothing.
  # Included files are part of the source.
  for_ptxas="" standard=-fgnu89-inline left=$#
  while [ "$left" -gt 0 ]; do
    option=$1 value=""
    shift && left=$((left - 1))
    case $option in
      *=*) value=${option#*=} ;;
      -[DUI] | -cl-nv-* | -nv-*)
        case ${1:-} in
          -* | "") ;;
          *) [ "$left" -eq 0 ] || { value=$1 && shift && left=$((left - 1)); } ;;
        esac
        ;;
    esac
    case $option in
      -cl-nv-maxrregcount*) for_ptxas="$for_ptxas -maxrregcount=$value" ;;
      -cl-nv-opt-level*) for_ptxas="$for_ptxas -O$value" ;;
      -I* | -cl-nv-* | -nv-line-info* | -cl-opt-disable | -cl-kernel-arg-info) ;;
      -[DU]) set -- "$@" "$option$value" ;;
      -cl-std=*++*) standard="" && set -- "$@" "$option" ;;
      -[DU]* | -w | -Werror | -cl-*) set -- "$@" "$option" ;;
      *) fail "NVIDIA's compiler has no build option $option" ;;
    esac
  done
  # PTX of an architecture suits any later one.
  newest=86
  [ "$clang_major" -lt 16 ] || newest=90
  architecture=$model
  [ "${model#sm_}" -lt "$newest" ] || architecture=sm_$newest
  # Without a CUDA toolkit clang chooses a version of PTX that lacks instructions.
  target="-target nvptx64-nvidia-nvcl -march=$architecture -O3 -Xclang -target-feature -Xclang +ptx75
    -Qunused-arguments -fno-color-diagnostics"
  header="-Xclang -finclude-default-header -Xclang -nostdsysteminc"
  "$clang" -x cl -cl-std=CL2.0 $target $header -c -emit-llvm -o built_ins.bc "$built_ins"
  # As in NVIDIA's compiler: no half precision, inline PTX, and these macros.
  "$clang" -x cl -cl-std=CL1.2 "$@" $target $header -Werror=date-time -Wno-ignored-pragmas \
    -Wno-linker-warnings -Xclang -cl-ext=-cl_khr_fp16 -fgnu-keywords $standard \
    -D__NV_CL_C_VERSION=120 -D__OPENCL_VERSION__=300 -D__IMAGE_SUPPORT__=1 \
    -Xclang -mlink-builtin-bitcode -Xclang built_ins.bc \
    -Xclang -mlink-builtin-bitcode -Xclang "$libclc" -emit-llvm -S -o program.ll "$input"
  "$clang" -x ir $target -Xclang -disable-llvm-passes -S -o clang.ptx program.ll
  finish_ptx program.ll clang.ptx >program.ptx
  if [ "$ptxas_version" = none ]; then
    mv program.ptx "$output"
  else
    # What it says of each kernel, without times, which differ from run to run.
    "$ptxas" -v "-arch=$model" $for_ptxas program.ptx -o "$output" >said 2>&1 || {
      cat said >&2
      exit 1
    }
    sed '/Compile time/d' said >&2
  fi
}

case $1 in
  tools)
    digest=$(cat "$libclc" "$built_ins" "$0" | sha256sum | cut -c 1-8)
    echo "clang $clang_version, ptxas $ptxas_version, libclc and built-ins $digest"
    ;;
  compute_capability | compile | driver) "$@" ;;
esac
