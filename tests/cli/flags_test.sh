#!/usr/bin/env bash
# kiln show --flags: of cells, and of processors and compilers without a matrix.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

# Without a matrix.
expect 0 "$KILN" show --flags --cpu zen3 --compiler gcc@9.4.0
holds "$out" 'zen3 with gcc 9.4.0 (archspec '
holds "$out" 'note: gcc 9.4.0 has no entry for zen3'
holds "$out" 'flags of zen2 are used'
holds "$out" 'empty, because neither LTO nor PGO was asked for: LDFLAGS, KILN_BAZEL_LINKOPTS'
expect 0 "$KILN" show --flags --cpu 'zen*' --compiler gcc@12.2.0 --compiler clang@16.0.6
holds "$out" 'KILN_CPU_FLAGS'
expect 0 "$KILN" show --flags --format json --cpu zen4 --compiler gcc@12.2.0 --accelerator nvidia:sm_90 --optimise o3+lto
equals "$(json 'len(it)')" 1
equals "$(json 'sorted(it[0])')" "['accelerators', 'answered', 'archspec', 'compiler', 'cpu', 'family', 'flags', 'note', 'optimise', 'version']"
equals "$(json 'sorted(it[0]["flags"][0])')" "['compiler', 'component', 'from', 'note', 'target', 'value', 'variable']"
equals "$(json 'it[0]["answered"]')" zen4
holds "$(json 'it[0]["note"]')" 'counts as a patch release'
equals "$(json '[f["value"] for f in it[0]["flags"] if f["variable"] == "CUDAARCHS"]')" "['90']"
expect 0 "$KILN" show --flags --format json --cpu zen4 --compiler tcc@1.0
equals "$(json 'it[0]["answered"]')" None
holds "$(json 'it[0]["note"]')" "archspec knows no compiler 'tcc 1.0'"

# Of cells: what scripts read, what they would get, and why there is nothing.
expect 0 "$KILN" show --flags -f "$KILN_SOURCE/matrix/paper.json" 'tensorflow-2.1.0-source*' --format json
equals "$(json '{f["component"] for c in it for f in c["flags"]}')" "{'framework/tensorflow'}"
# CPU images with the paper's Clang, GPU images with the compiler that their CUDA takes.
equals "$(json 'sorted({(f["compiler"], "nvidia" in c["id"]) for c in it for f in c["flags"] if f["variable"] == "KILN_BAZEL_COPTS"})')" \
  "[('clang 8.0.0', False), ('gcc 7.5.0', True)]"
equals "$(json '{c["note"] for c in it}')" "{''}"
expect 0 "$KILN" show --flags -f "$KILN_SOURCE/matrix/demo.json" framework=pytorch
holds "$out" 'no script of this image reads compiler flags, and no toolchain in it is a compiler'

# What is wrong.
expect 2 "$KILN" show --flags
holds "$err" 'a matrix is missing: -f FILE; or --cpu NAME --compiler NAME@VERSION'
expect 2 "$KILN" show
expect 2 "$KILN" show --cpu zen4 --compiler gcc@12
holds "$err" '--cpu and --compiler go with --flags'
expect 2 "$KILN" show --flags --cpu zen4
expect 2 "$KILN" show --flags --cpu zen4 --compiler gcc
holds "$err" "expected a compiler and its version, found 'gcc'; for example gcc@12.2.0"
expect 2 "$KILN" show --flags --cpu zen4 --compiler gcc@12 -f "$tiny/tiny.json"
expect 2 "$KILN" show -f "$tiny/tiny.json" --optimise o3
expect 4 "$KILN" show --flags --cpu zon4 --compiler gcc@12
holds "$err" "did you mean 'zen4'?"
expect 3 "$KILN" show --flags --cpu zen4 --compiler gcc@12 --optimise O3
holds "$err" "did you mean 'o3'?"
expect 3 "$KILN" show --flags --cpu zen4 --compiler gcc@12x
expect 3 "$KILN" show --flags --cpu zen4 --compiler gcc@12 --accelerator nvidia:80
echo "flags: of cells, of compilers, and what is wrong"
