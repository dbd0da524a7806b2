#!/usr/bin/env bash
# kiln job: documents of MODAK and wrong ones, for each scheduler and container runtime; scripts that shellcheck takes.
# shellcheck disable=SC2016 # variables are for scripts that are looked at
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
dsl=$KILN_SOURCE/tests/data/dsl

cat >mappings.json <<'J'
[{"opt_dsl_code": "tf", "app_name": "tensorflow", "version": "2.1", "container_name": "modakopt/modak:tensorflow-2.1-gpu-src",
  "enable_opt_build": true, "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": true}},
 {"opt_dsl_code": "mpich", "app_name": "mpich", "version": "3.1.4", "container_name": "ethcscs/mpich:ub1804_cuda101_mpi314_gnugprof",
  "enable_opt_build": true, "target": {"cpu_type": "x86", "acc_type": "nvidia"}},
 {"opt_dsl_code": "openmpi", "app_name": "openmpi", "version": "3.1.3", "container_name": "ethcscs/openmpi:3.1.3",
  "enable_opt_build": true, "target": {"cpu_type": "x86", "acc_type": "nvidia"}}]
J
expect 0 "$KILN" index import mappings.json
job() { "$KILN" job --host any --dsl "$@"; }

# 1. Each of MODAK's documents gives a script, and the same one again.
for file in tf_snow tf_resnet mpi_solver mpi_test mpi_test_egi get_optimisation_non_existent; do
  expect 0 job "$dsl/$file.json" --scheduler slurm
  first=$out
  expect 0 job "$dsl/$file.json" --scheduler slurm
  equals "$out" "$first"
done
expect 0 job "$dsl/tf_resnet.json"
holds "$out" '#PBS -l nodes=1:ppn=40:gpus=1'
holds "$out" "image=\"\${SINGULARITY_DIR:?is the folder of the image files}\"/'modak_tensorflow-2.1-gpu-src.sif'"
holds "$out" 'container=(singularity exec --nv "${image}")'
holds "$out" '"${container[@]}" ./resnet_benchmark.sh'
expect 0 job "$dsl/mpi_test_egi.json"
holds "$err" 'process_count_per_node is 1: 80 ranks on 2 nodes are 40 on each'
holds "$out" 'srun --ntasks=80 --nodes=2 --ntasks-per-node=40 --cpus-per-task=2 --cpu-bind=cores --mpi=pmix sh -c'
expect 0 job "$dsl/get_optimisation_non_existent.json"
holds "$out" 'some-container.sif'

# 2. shellcheck has nothing to say of any of them.
for scheduler in slurm torque openpbs bash; do
  for runtime in apptainer singularity charliecloud sarus shifter podman; do
    for file in tf_snow mpi_solver; do
      expect 0 job "$dsl/$file.json" --scheduler "$scheduler" --runtime "$runtime" -o "$file-$scheduler-$runtime.sh"
    done
  done
done
expect 0 job "$dsl/tf_snow.json" --scheduler slurm --runtime enroot -o tf_snow-slurm-enroot.sh
sed 's/"app_type": "python"/"app_type": "python", "checkpoint": {"path": "c"}, "post-execution": "true"/' "$dsl/tf_snow.json" >kept.json
expect 0 job kept.json --scheduler slurm -o kept.sh
[ -e mpi_solver-slurm-podman.build.sh ] || fail 'no build script'
[ ! -e tf_snow-slurm-podman.build.sh ] || fail 'a build script'
holds "$(cat mpi_solver-bash-podman.build.sh)" 'https://www.code-aster.org/FICHIERS/aster-full-src-14.4.0-1.noarch.tar.gz'
! command -v shellcheck >/dev/null || shellcheck ./*.sh || fail 'shellcheck'
for file in ./*.sh; do bash -n "$file"; done

# 3. As JSON, with the machines, and from stdin.
mkdir -p matrix/infrastructures
echo '{"scheduler": "slurm", "container_runtime": "apptainer", "partitions": {"cpu": {"nnodes": 4, "node": {"ncpus": 2,
  "cpu": {"ncores": 20, "microarch": "skylake"}, "memory": "64GiB", "naccel": 1, "accel": {"type": "gpu", "model": "nvidia"}}}}}' >matrix/infrastructures/hlrs.json
expect 0 "$KILN" job --dsl "$dsl/tf_snow.json" --infrastructure hlrs --json
equals "$(json '(it["scheduler"], it["container_runtime"], it["job_options"]["partition"], it["image"]["accelerator"])')" \
  "('slurm', 'apptainer', 'cpu', 'nvidia')"
holds "$(json 'it["job_script"]')" '#SBATCH --partition=cpu'
sed 's/"application"/"target": {"name": "hlrs"}, "application"/; s/"node_count": 1/"node_count": 5/' "$dsl/tf_snow.json" >wide.json
expect 3 "$KILN" job --dsl wide.json
holds "$err" 'wide.json:6:'
holds "$err" '5 nodes; the partition cpu has 4 (at /job/job_options/node_count)'
expect 0 sh -c "'$KILN' job --dsl - --host any <'$dsl/mpi_test.json'"
holds "$out" 'mpirun -np 80'

# The same machines from the index, at each snapshot; scripts by a scaling model.
mv matrix/infrastructures/hlrs.json cluster.json
expect 3 "$KILN" job --dsl "$dsl/tf_snow.json" --infrastructure hlrs
holds "$err" 'the index does not have it'
expect 0 "$KILN" infrastructure import cluster.json
equals "$out" 'snapshot 2: 1 infrastructure imported'
expect 0 "$KILN" infrastructure list
holds "$out" 'cluster'
holds "$out" 'cpu (4 nodes)'
expect 0 "$KILN" infrastructure show cluster
equals "$(json '(it["name"], it["scheduler"])')" "('cluster', 'slurm')"
expect 4 "$KILN" infrastructure show clutser
holds "$err" "did you mean 'cluster'?"
expect 0 "$KILN" job --dsl "$dsl/tf_snow.json" --infrastructure cluster
holds "$out" '#SBATCH --partition=cpu'
expect 3 "$KILN" job --dsl "$dsl/tf_snow.json" --infrastructure cluster --snapshot 1
expect 0 "$KILN" infrastructure import cluster.json
equals "$out" 'snapshot 2: 1 infrastructure imported'
echo '[{"name": "twice", "partitions": {"a": {"nnodes": 1}}}, {"name": "twice", "partitions": {"a": {"nnodes": 2}}}]' >twice.json
expect 3 "$KILN" infrastructure import twice.json
holds "$err" "twice.json: error: two different documents are called 'twice'"
echo '{"partitions": {"a": {"nnodes": 0}}}' >wrong-machines.json
expect 3 "$KILN" infrastructure import wrong-machines.json
holds "$err" 'wrong-machines.json:1:'
mkdir failing
printf '#!/bin/sh\nexit 1\n' >failing/scontrol
chmod +x failing/scontrol
expect 0 env PATH="$PWD/failing:$PATH" "$KILN" infrastructure detect --name here
holds "$err" 'scontrol does not answer'
expect 2 "$KILN" infrastructure detect --name "$(printf '\xff')"
cat >nodes.json <<'J'
{"items": [{"metadata": {"name": "k1", "labels": {"kubernetes.io/arch": "arm64"}}, "status": {"capacity": {"cpu": "72", "memory": "512Gi"}}}]}
J
expect 0 "$KILN" infrastructure detect --name kube --labels nodes.json
equals "$(json 'it["configuration"]["partitions"]["nodes"]["node"]["cpu"]["microarch"]')" aarch64
echo '{"items": 1}' >nodes.json
expect 3 "$KILN" infrastructure detect --labels nodes.json
holds "$err" 'nodes.json:1:11: error: '
expect 0 "$KILN" infrastructure detect --name here
printf '%s\n' "$out" >here.json
expect 0 "$KILN" infrastructure import here.json
expect 0 "$KILN" infrastructure show here
echo '{"opt_dsl_code": "mpich", "model": {"name": "max", "max_nranks": 4}}' >scaling.json
expect 0 job "$dsl/mpi_test.json" --scaling-models scaling.json
holds "$out" 'mpirun -np 4'

# 4. Wrong input, and nothing is written.
wrong() { # wrong STATUS FROM TO WORDS
  sed "s/$2/$3/" "$dsl/tf_snow.json" >wrong.json
  expect "$1" job wrong.json --scheduler slurm -o none.sh
  equals "$out" ''
  holds "$err" "$4"
  [ ! -e none.sh ] || fail 'a script was written'
}
wrong 3 '12:00:00' '25:61:00' "wrong.json:5:26: error: '25:61:00' has 61 minutes or seconds; the maximum is 59 (at /job/job_options/wall_time_limit)"
wrong 3 '"job_name"' '"job_nmae"' "unknown key 'job_nmae'"
wrong 4 '"2.1"' '"2.9"' 'no image matches'
expect 3 job "$dsl/tf_snow.json" --infrastructure none
holds "$err" 'there is no matrix/infrastructures/none.json'
expect 2 job "$dsl/tf_snow.json" --scheduler lsf
expect 3 job none.json
echo 'kiln job: MODAK'\''s documents, four schedulers, seven runtimes, wrong input'
