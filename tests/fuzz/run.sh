#!/usr/bin/env bash
# Runs the fuzz targets for kiln's own readers, seeded with the repository's files.
#
#   tests/fuzz/run.sh [-n INPUTS | -s SECONDS] BUILD [TARGET…]
#
# For each target -n inputs (default 200000), or -s seconds, and one JSON line: {"target": …, "inputs": …, "seconds": …,
# "coverage": …}. What a target finds lies in BUILD/fuzz/<target>/ and ends the script with exit code 1. BUILD is a folder
# that cmake made with clang and -DKILN_FUZZ=ON and in which `ninja fuzz` has run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
limit=(-runs=200000)
while getopts 'n:s:' option; do
  case $option in
    n) limit=("-runs=$OPTARG") ;;
    s) limit=("-max_total_time=$OPTARG") ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[[ $# -gt 0 ]] || { sed -n '4p' "${BASH_SOURCE[0]}" >&2; exit 2; }
build=$1
shift
targets=("$@")
((${#targets[@]})) || targets=(json version recipe matrix target_site component_value plan_read dsl host index
  dockerfile definition_file lint emitters import package_databases elf_file layer_merge sif_reader squashfs manifest registry_answer
  http_target http_head serve_request)

# with_first BYTE FILE…: each file as a seed that starts with this byte, by which some targets choose what to read.
with_first() {
  local byte=$1 file
  shift
  for file in "$@"; do
    seed=$((seed + 1))
    { printf '%b' "$byte" && cat "$file"; } >"$seeds/$seed"
  done
}

text_seeds() {
  local text
  for text in "$@"; do
    seed=$((seed + 1))
    printf '%b' "$text" >"$seeds/$seed"
  done
}

# shellcheck disable=SC2016 # the dollar signs are the seeds'
seeds_of() {
  local seed=0
  local -a recipes=("$root"/recipes/*/*/recipe.json "$root"/tests/data/tiny/recipes/*/*/recipe.json)
  case $1 in
    json) with_first '' "${recipes[@]}" "$root"/matrix/*.json "$root"/tests/data/dsl/*.json ;;
    recipe)
      with_first '\0' "${recipes[@]}"
      with_first '\1' "$root"/recipes/base/*/recipe.json "$root"/tests/data/tiny/recipes/base/*/recipe.json
      with_first '\2' "$root"/recipes/toolchain/*/recipe.json
      ;;
    matrix)
      with_first '' "$root"/matrix/*.json "$root"/tests/data/tiny/*.json
      text_seeds '{"name": "a", "includes": ["other.json"], "axes": {"framework": ["pytorch"], "version": ["2.6.0", ">=1 <2"],
        "library": ["none", "openblas"], "base": ["debian@trixie"], "target": ["zen3"]}, "exclude": [{"library": "open*"}],
        "include": [{"framework": "pytorch", "library": "openblas"}], "constraints": [{"if": {"framework.python": ">=3"},
        "forbid": {"base": "ubuntu"}, "reason": "r"}]}'
      ;;
    target_site)
      with_first '\0' "$root"/tests/data/tiny/targets/*.json
      with_first '\1' "$root"/matrix/site.example.json
      text_seeds '\2x86_64_v3,nvidia:sm_80,amd:gfx90a' '\0{"cpu": "zen3", "accelerators": ["nvidia:sm_90a"], "description": "d"}'
      ;;
    registry_answer)
      text_seeds 'Bearer realm="https://a/token",service="s"\n{"errors":[{"code":"DENIED","message":"m"}]}' '120\n{"tags":["a","b"]}' \
        '</v2/a/tags/list?last=b>; rel="next"\n{"tags":null}' 'Sun, 06 Nov 1994 08:49:37 GMT\n{"token":"t"}' \
        'Zm9vYg==\n{"schemaVersion":2,"manifests":[{"digest":"sha256:0","mediaType":"m","size":1}]}'
      ;;
    version) text_seeds '2.1.0\n2.1\n2.10rc1\n>=2.1 <2.10, !=2.3\n2\n==1.0+cu118\n*' 'trixie\n1:2.3~a\nv1-post2\n<=3.1' ;;
    component_value) text_seeds '\0openblas@0.3.29:source+fftw' '\1pytorch' '\0none' ;;
    plan_read) with_first '' "$root"/tests/data/plans/*.json ;;
    dsl) with_first '' "$root"/tests/data/dsl/*.json "$root"/matrix/dsl/*.json ;;
    host)
      with_first '\1' /proc/cpuinfo
      text_seeds '\0{"cpu": "zen3", "model": "m", "cores": 4, "memory_bytes": 1024, "kernel": "6.1.0", "accelerators": ["nvidia:sm_80"], "glibc": "2.36"}'
      ;;
    index) text_seeds '\0\0\0\0\0\1' '\1\0\0\040\0\1\0\0\120\003\0200' '\3\0\0\0\144\4' ;;
    dockerfile)
      with_first '' "$root"/tests/data/golden/Dockerfile "$root"/tests/data/legacy/*/*.Dockerfile
      text_seeds '# escape=`\nFROM a AS b\nARG X=${Y:-1}\nENV A "b $X" `\n\nENV B=c D="e f"\nCOPY --from=b --link ["a", "/b"]\nONBUILD USER x\n' \
        'FROM a\nRUN <<EOF cat <<-"X" | sh\na\nEOF\n\tb\n\tX\nHEALTHCHECK --interval=1s CMD x\nSHELL ["/bin/bash", "-c"]\nEXPOSE 1\n'
      ;;
    definition_file)
      with_first '' "$root"/tests/data/golden/Singularity.def "$root"/tests/data/legacy/*/*.def
      text_seeds 'Bootstrap: docker\nFrom: x{{ V }}\nStage: a\n%arguments\n V={{W}}\n W=1\n%post -c /bin/bash\n a {{ given }}\nbootstrap: oci\nOtherURL1: a\\\\\n b\n%files from a\n "a b" c\n%apprun x\n y\n'
      ;;
    emitters) text_seeds '0a\xff1b\xff2{{\xff3A\xff4"$x\xff5%post\xff6A\xff7x.sh\xff8#\xff9a/b\xff:/opt\xff;x\xff<c\xff=y\xff>z\xff?docker.io/x:1' ;;
    lint) with_first '' "$root"/tests/data/lint/hand-written/* "$root"/tests/data/lint/KL*/bad*.* "$root"/recipes/*/*/*.sh ;;
    package_databases)
      with_first '\0' "$root"/tests/data/sbom/dpkg-status
      with_first '\1' "$root"/tests/data/sbom/copyright-*
      with_first '\2' "$root"/tests/data/sbom/apk-installed
      with_first '\3' "$root"/tests/data/sbom/rpmdb.sqlite
      with_first '\5' "$root"/tests/data/sbom/METADATA-*
      with_first '\6' "$root"/tests/data/sbom/conda-meta.json
      text_seeds '\7GPL-2+ or (Artistic-2.0 with x exception, and MIT)'
      ;;
    elf_file)
      local code='void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2.5f; }'
      gcc -x c -O2 -march=haswell -c -o "$seeds/object" - <<<"$code"
      gcc -x c -O3 -march=skylake-avx512 -fPIC -shared -nostdlib -Wl,-z,noseparate-code -o "$seeds/shared" - <<<"$code"
      strip -o "$seeds/stripped" "$seeds/shared"
      ;;
    layer_merge) with_first '' <(tar -C "$root" -cf - --format=pax tests/fuzz/CMakeLists.txt) ;;
    squashfs)
      for compression in gzip zstd xz lz4; do
        seed=$((seed + 1))
        mksquashfs "$root/tests/data/tiny/targets" "$seeds/$seed" -comp "$compression" -b 4096 -noappend -quiet -no-progress
      done
      ;;
    sif_reader)
      mksquashfs "$root/tests/data/tiny/targets" "$work/squashfs" -comp gzip -noappend -quiet -no-progress -nopad -all-root
      python3 "$root/tests/fuzz/sif_seeds.py" "$seeds" "$work/squashfs"
      ;;
    http_target) text_seeds '/v1/images/a%2Fb/c+d?limit=3&match=target%3Dzen*+x&flag' '/' '/a/../b' '/%2e' '/a?b=1&%62=2' 'http://x/' ;;
    http_head)
      text_seeds '\2GET\0/x\0HTTP/1.1\0\0Host\0 h\0\0Content-Length\0 5\0\0X\0\ta b\0\0\0\0' '\1POST\0/\0HTTP/1.0\0\0\0\0' \
        '\1G\0/\0HTTP/1.1\0\0Host\0h\0\0Transfer-Encoding\0chunked\0\0\0\0'
      ;;
    serve_request)
      local dsl
      for dsl in "$root"/tests/data/dsl/*.json "$root"/matrix/dsl/*.json; do
        with_first 'POST /v1/select?host=zen4,nvidia:sm_80&limit=3\n' "$dsl"
        with_first 'POST /get_image\n' "$dsl"
      done
      text_seeds 'POST /v1/explain?format=sif&snapshot=1&allow_failing&lenient=1\n{"dsl":{"application":{"app_tag":"a"}},"host":{"cpu":"zen3"}}' \
        'GET /v1/images?match=application=tensor*+state=good&limit=2&offset=1\n' 'GET /v1/images/a/b?snapshot=1\n' 'GET /v1/snapshots\n' \
        'GET /v1/demand?unmet=1&limit=3\n' 'HEAD /healthz\n' 'GET /metrics\n' 'GET /container_mappings/tf\n' 'PUT /scripts/3\n' \
        'POST /container_mappings\n{"opt_dsl_code":"a","app_name":"b","version":2,"target":{"cpu_type":"arm","acc_type":"amd"},"selectors":{"xla":true},"container_name":"c"}'
      ;;
    import) with_first '' "$root"/tests/data/legacy/*/*.Dockerfile ;;
  esac
}

# The line that libFuzzer ends with and its last state give the figures.
report() {
  local target=$1 seconds=$2 log=$3 inputs coverage
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  printf '{"target": "%s", "inputs": %s, "seconds": %s, "coverage": %s}\n' "$target" "${inputs:-0}" "$seconds" "${coverage:-0}"
}

failed=0
for target in "${targets[@]}"; do
  work=$build/fuzz/$target
  seeds=$work/seeds
  rm -rf "$seeds"
  mkdir -p "$seeds" "$work/corpus"
  seeds_of "$target"
  start=$SECONDS
  if "$build/tests/fuzz/fuzz_$target" "${limit[@]}" -max_len=8192 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$work/" "$work/corpus" "$seeds" >"$work/log" 2>&1; then
    report "$target" $((SECONDS - start)) "$work/log"
  else
    echo "fuzz_$target found something: $work/log" >&2
    failed=1
  fi
done
exit "$failed"
