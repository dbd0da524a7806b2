#!/usr/bin/env bash
# kiln module writes an entry of a registry for singularity-hpc. Its own program reads the entry, pulls the published image by digest with a
# real Apptainer, and installs a module, which Lmod loads.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
# shellcheck source=tests/support/apptainer.sh
. "$KILN_SOURCE/tests/support/apptainer.sh"
apptainer_here "$work/bin" || { echo 'SKIPPED: no Apptainer here; ci/apptainer install' && exit 77; }
lmod=/usr/share/lmod/lmod/libexec/lmod
shpc=$KILN_SOURCE/.cache/validators/bin/shpc
for program in "$lmod" "$shpc"; do
  [ -e "$program" ] || { echo "SKIPPED: no $program; ci/setup --validators" && exit 77; }
done
# shpc starts `singularity`. The registry of this test has no TLS.
mkdir home
ln -s apptainer bin/singularity
# Root may have fewer capabilities than Apptainer would hand on to its containers.
export PATH=$work/bin:$PATH APPTAINER_NOHTTPS=1 APPTAINER_NO_PRIVS=1 APPTAINER_CACHEDIR=$work/cache
unset MODULEPATH LOADEDMODULES _LMFILES_ BASH_ENV

start_registry
cp -r "$tiny" tiny
expect 0 "$KILN" build -f tiny/tiny.json version=2.1 library=none
expect 0 "$KILN" publish -f tiny/tiny.json version=2.1 library=none --to "http://$host/site"
expect 0 "$KILN" index list --format json
image=$(json 'it[0]["name"]')
version=${image#*:}
expect 0 "$KILN" module "$image" --program /opt/kiln/hello/bin/hello -o made
name=${host/:/\/}/site/hello
# 1. The entry passes shpc's own schema, and shows what kiln has written.
"${shpc%/*}/python3" - "made/shpc/$name/container.yaml" <<'P' || fail 'the schema of shpc refuses the entry'
import sys
import jsonschema
import ruamel.yaml
import shpc.main.schemas
entry = ruamel.yaml.YAML(typ="safe").load(open(sys.argv[1]))
jsonschema.validate(entry, shpc.main.schemas.containerConfig)
P
"${shpc%/*}/python3" - "$work" <<'P'
import os
import sys
import ruamel.yaml
import shpc.main
work = sys.argv[1]
yaml = ruamel.yaml.YAML()
settings = yaml.load(open(os.path.join(os.path.dirname(os.path.dirname(shpc.main.__file__)), "settings.yml")))
settings["registry"] = [work + "/made/shpc"]
for key in ("module_base", "container_base", "wrapper_base", "views_base"):
    settings[key] = f"{work}/{key}"
yaml.dump(settings, open(work + "/settings.yml", "w"))
P
own() { env HOME="$work/home" "$shpc" --settings-file "$work/settings.yml" "$@"; }
expect 0 own show
holds "$out" "$host/site/hello"
expect 0 own show "$name"
holds "$out" "docker: $host/site/hello"

# 2. shpc pulls the image that the index has, and makes a module of it. Lmod loads the module.
expect 0 own install "$name:$version"
ls "container_base/$name/$version"/*.sif >/dev/null || fail "no image: $out $err"
# shellcheck disable=SC2016 # for the shell that loads the module
expect 0 env MODULEPATH="$work/module_base" bash -c "eval \"\$($lmod bash load $name/$version)\" && hello"
equals "$out" 'hello 2.1: hello'
expect 0 own list
holds "$out" "$name:$version"

# 3. The module that the entry made can be removed by the same name.
expect 0 own uninstall --force "$name:$version"
[ ! -e "module_base/$name/$version" ] || fail 'the module stays'
echo 'kiln module: shpc shows, installs and removes its entry, and Lmod loads the module'
