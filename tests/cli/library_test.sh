#!/usr/bin/env bash
# The installed library: C by pkg-config, C++ by CMake's package, Python without a build step, the answers of all of them and of the command
# line equal; a state folder on a read-only mount; the binary interface as it was.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
DESTDIR=$work/package cmake --install "$KILN_BUILD" --prefix /opt/kiln >install.log 2>&1 || fail "$(cat install.log)"
mv package/opt/kiln prefix # it may be moved
prefix=$work/prefix
libraries=$(dirname "$(find "$prefix" -name libkiln_registry.so)")
KILN=$prefix/bin/kiln
export KILN

# 1. Who compiles against it.
flags=$(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --cflags --libs kiln_registry) || fail 'pkg-config does not know it'
# shellcheck disable=SC2086 # words
gcc -std=c99 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror "$KILN_SOURCE/tests/abi/ask.c" -o ask_c $flags "-Wl,-rpath,$libraries"
mkdir project
cat >project/CMakeLists.txt <<J
cmake_minimum_required(VERSION 3.25)
project(asker CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(kiln_registry 0.1 REQUIRED)
add_executable(ask_cpp "$KILN_SOURCE/tests/abi/ask.cc")
target_compile_options(ask_cpp PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Werror)
target_link_libraries(ask_cpp PRIVATE kiln::registry)
J
{ cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$prefix" && cmake --build project/build; } >cmake.log 2>&1 || fail "$(cat cmake.log)"

# 2. The same answers in every way, in a program with another locale, too.
if localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" 2>/dev/null; then
  export LOCPATH=$work KILN_LOCALE=de_DE.UTF-8
else
  echo 'no locales here: the library is asked in the C locale alone'
fi
"$KILN_PYTHON" -B "$KILN_SOURCE/tests/oracle/select/every_way.py" --prefix "$prefix" --world-index "$KILN_BUILD/tests/world_index" \
  --ask-c "$work/ask_c" --ask-cpp "$work/project/build/ask_cpp" --worlds 15 >worlds.out || fail "$(cat worlds.out)"
holds "$(cat worlds.out)" ', 0 differ'

# 3. The Python module, by Debian's Python and by the oldest that it is for, where that is here.
cat >mapping.json <<'J'
[{"opt_dsl_code": "modak-tensorflow-2.1-gpu-src", "app_name": "tensorflow", "version": "2.1", "enable_opt_build": true,
  "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": true},
  "container_name": "modakopt/modak:tensorflow-2.1-gpu-src", "container_type": "docker"}]
J
KILN_DOCUMENT=$KILN_SOURCE/tests/data/dsl/tf_snow.json
export KILN_DOCUMENT
PYTHONPATH=$libraries/python3/dist-packages
export PYTHONPATH
pythons=(/usr/bin/python3)
for old in python3.8 "$HOME"/.pyenv/versions/3.8.*/bin/python3; do
  if "$old" --version >/dev/null 2>&1; then pythons+=("$old"); fi
done
for python in "${pythons[@]}"; do
  rm -rf state golden
  expect 0 "$KILN" --state state index import mapping.json
  "$python" -B "$KILN_SOURCE/tests/abi/module_test.py" "$work/state" >module.log 2>&1 || fail "$python: $(cat module.log)"
  echo "$("$python" --version): $(grep -o 'Ran .* tests' module.log)"
  expect 0 "$python" -B "$prefix/share/doc/kiln/examples/mapper.py" state "$KILN_DOCUMENT"
  equals "$(json 'it["job"]["application"]["container_runtime"]')" docker://modakopt/modak:tensorflow-2.1-gpu-src
done
expect 0 "$KILN_PYTHON" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))' "$KILN_SOURCE/registry/python/kiln/__init__.py"

# 4. On a mount that nobody may write, where it is somebody else's disk; a new snapshot comes by itself.
cat >ask.py <<'PY'
import sys, time
import kiln
state, document = sys.argv[1:]
registry = kiln.Registry(state)
first = registry.snapshot()
print(registry.reference(open(document).read(), host="any"), flush=True)
for _ in range(1200):
    if registry.snapshot() > first:
        print("new", flush=True)
        print(len(registry.images()), flush=True)
        break
    time.sleep(0.05)
PY
seen_by() { # seen_by FOLDER: what a program says that reads the state there, while another publishes
  /usr/bin/python3 -B ask.py "$1" "$KILN_DOCUMENT" >seen.out 2>seen.err &
  local asker=$!
  until_true "$asker" seen.err [ -s seen.out ]
  sed "s/modak-tensorflow-2.1-gpu-src/another-$RANDOM/; s/:tensorflow/:another/" mapping.json >another.json
  expect 0 "$KILN" --state state index import another.json
  wait "$asker" || fail "$(cat seen.out seen.err)"
  holds "$(cat seen.out)" 'docker://modakopt/modak:tensorflow-2.1-gpu-src'
  holds "$(cat seen.out)" new
}
if command -v bindfs >/dev/null && [ -w /dev/fuse ] && [ "$(id -u)" = 0 ]; then
  mkdir mounted
  bindfs -r state mounted
  seen_by mounted
  touch mounted/x 2>/dev/null && fail 'the mount can be written'
  # Its writer is killed in the middle of a commit: who may not take that back says so, until somebody has.
  "$KILN_PYTHON" - <<'PY'
import os, signal, sqlite3
if os.fork() == 0:
    index = sqlite3.connect("state/index.db")
    index.executescript("PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE half (text)")
    for _ in range(2000):
        index.execute("INSERT INTO half VALUES (?)", ("x" * 500,))
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()
PY
  expect 8 "$KILN" --state mounted select --dsl "$KILN_DOCUMENT" --host any
  holds "$err" 'mounted/index.db is in the middle of a commit, and this mount is read-only'
  expect 0 "$KILN" --state state index list
  expect 0 "$KILN" --state mounted select --dsl "$KILN_DOCUMENT" --host any
  holds "$out" docker://modakopt/modak:
  umount mounted
else
  chmod -R a-w state
  chmod u+w state state/store state/store/* state/index.db # who publishes
  seen_by state
fi

# 5. The binary interface. A change of what is there is refused; additions take a new file: docs/query.md.
if command -v abidiff >/dev/null && [ "$(uname -m)" = x86_64 ]; then
  interface=$KILN_SOURCE/registry/abi/kiln_registry.abi
  abidiff --header-file2 "$prefix/include/kiln_registry.h" "$interface" "$libraries/libkiln_registry.so" >abidiff.out 2>&1 || fail "$(cat abidiff.out)"
  sed "s/size-in-bits='320'/size-in-bits='384'/" "$interface" >other.abi
  ! abidiff other.abi "$libraries/libkiln_registry.so" >abidiff.out 2>&1 || fail 'abidiff does not notice another size of a structure'
  sed 's/kiln_registry_free/kiln_registry_gone/g' "$interface" >other.abi
  ! abidiff other.abi "$libraries/libkiln_registry.so" >abidiff.out 2>&1 || fail 'abidiff does not notice a symbol that is gone'
else
  echo 'the binary interface is not compared: no abidiff here'
fi
exported=$(nm -D --defined-only "$libraries/libkiln_registry.so" | grep -v ' A ' | grep -v ' kiln_registry_[a-z]*@@KILN_REGISTRY_[12]$' || true)
equals "$exported" ''
echo 'library: ok'
