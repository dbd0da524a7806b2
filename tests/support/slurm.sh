# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# A Slurm cluster of two nodes on this machine: real munged, slurmctld and slurmd of Debian, below $slurm, with ports of their own. Sourced
# after script.sh, by root; it needs neither /etc/slurm nor /run/munge nor systemd, and no user `slurm`.
#   slurm_start [NAME]             a cluster NAME (default: site) with nodes NAME1 and NAME2; $SLURM_CONF is its configuration
#   slurm_stop                     ends it, with all that runs on its nodes
#   slurm_stop_controller [SIGNAL] slurmctld is away (default: TERM; KILL: without a word of warning); what runs goes on
#   slurm_start_controller         it is back, and knows its jobs and nodes
#   slurm_lose_node NODE           as when its power goes: all that runs there is gone at once, and Slurm is told that it is down
#   slurm_start_node NODE          it is back
#   on_node NODE COMMAND…          runs it there, as slurmd's own processes are: host name, processes, mounts
# A node has its own host name, boot id, processes and mounts (as of when it was started) and shares network, files and clock with this
# machine. Partitions: `build` (both nodes; default), `zen4` (the second), `gpu` (the second, whose gres `gpu` is /dev/null). Memory is
# enforced by control groups ($slurm_limits is `cgroup`), else by polling (`poll`); a job that asks for none has a GB for each processor.
# What may be set before slurm_start: slurm_min_job_age (seconds until a job that has ended is forgotten), slurm_limits, slurm_credential (seconds,
# default 120: a job that is requeued waits as long), and slurm_more (lines for slurm.conf).
# All ends with the script, however that ends, so daemons are started by functions of the script's own process: never in ( ), $( ) or &.
# Another cluster at the same time: `slurm=FOLDER slurm_start other`, and the same word before the other functions that are to mean it.
slurm=$work/slurm
slurm_min_job_age=${slurm_min_job_age:-300}
for program in munged slurmctld slurmd srun sbatch squeue scontrol; do
  command -v "$program" >/dev/null || { echo "SKIPPED: no $program here"; exit 77; }
done
if [ "$(id -u)" != 0 ] || ! unshare --mount --uts --pid --fork --kill-child --mount-proc true 2>/dev/null; then
  echo 'SKIPPED: the nodes of a cluster need root, and namespaces'
  exit 77
fi
if [ -z "${slurm_limits:-}" ]; then
  # The controllers of version 1 of control groups; those of version 2 Slurm leaves to systemd.
  slurm_limits=cgroup
  for controller in memory freezer; do
    [ -w "/sys/fs/cgroup/$controller/cgroup.procs" ] || slurm_limits=poll
  done
  unshare --cgroup true 2>/dev/null || slurm_limits=poll
fi
slurm_folders=()
slurm_stop_all() { for slurm in "${slurm_folders[@]}"; do slurm_stop; done; }
at_exit slurm_stop_all

slurm_configure() { # slurm_configure NAME
  local ports
  read -r -a ports <<<"$(free_ports 3)"
  cat >"$slurm/slurm.conf" <<CONF
ClusterName=$1
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$slurm/munge.socket,cred_expire=${slurm_credential:-120}
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/%n.log
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
SlurmdTimeout=60
KillWait=2
MinJobAge=$slurm_min_job_age
GresTypes=gpu
DefMemPerCPU=1000
CONF
  if [ "$slurm_limits" = cgroup ]; then
    printf '%s\n' ProctrackType=proctrack/cgroup TaskPlugin=task/cgroup >>"$slurm/slurm.conf"
    printf '%s\n' CgroupPlugin=cgroup/v1 CgroupMountpoint=/sys/fs/cgroup ConstrainRAMSpace=yes ConstrainSwapSpace=no >"$slurm/cgroup.conf"
  else
    printf '%s\n' ProctrackType=proctrack/linuxproc TaskPlugin=task/none JobAcctGatherType=jobacct_gather/linux \
      JobAcctGatherFrequency=1 JobAcctGatherParams=OverMemoryKill >>"$slurm/slurm.conf"
  fi
  # More than the machine may have: what a job asks for is what it may use, and nothing here needs much.
  cat >>"$slurm/slurm.conf" <<CONF
NodeName=${1}1 NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=4 RealMemory=4000
NodeName=${1}2 NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=4 RealMemory=4000 Gres=gpu:1
PartitionName=build Nodes=${1}1,${1}2 Default=YES LLN=YES MaxTime=60
PartitionName=zen4 Nodes=${1}2 MaxTime=60
PartitionName=gpu Nodes=${1}2 MaxTime=60
CONF
  printf '%s\n' "${slurm_more:-}" >>"$slurm/slurm.conf"
  echo "NodeName=${1}2 Name=gpu File=/dev/null" >"$slurm/gres.conf"
}

# slurm_daemon NAME COMMAND…: runs it until the script ends, however that ends.
slurm_daemon() {
  local name=$1
  shift
  slurm_its setpriv --pdeathsig KILL "$@" >>"$slurm/$name.out" 2>&1 &
  echo $! >"$slurm/$name.process"
}
# slurm_end NAME SIGNAL: and waits until it is gone.
slurm_end() {
  local process
  process=$(cat "$slurm/$1.process" 2>/dev/null) || return 0
  rm -f "$slurm/$1.process"
  kill "-$2" "$process" 2>/dev/null || true
  wait "$process" 2>/dev/null || true
}
# slurm_wait SECONDS WHAT COMMAND…: until it succeeds.
slurm_wait() {
  local tries=$(($1 * 10)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $((tries -= 1)) -gt 0 ] || {
      tail -n 20 "$slurm"/*.out "$slurm"/*.log "$slurm"/*.state >&2
      fail "Slurm: $what"
    }
    sleep 0.1
  done
}

slurm_start() {
  mkdir -p "$slurm/state"
  slurm_folders+=("$slurm")
  slurm_drop_groups
  export SLURM_CONF=$slurm/slurm.conf
  slurm_configure "${1:-site}"
  head -c 128 /dev/urandom >"$slurm/munge.key"
  chmod 400 "$slurm/munge.key"
  slurm_daemon munged munged --foreground --force --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munged.pid" \
    --log-file="$slurm/munged.log" --seed-file="$slurm/munge.seed" --origin=127.0.0.1
  slurm_wait 10 'munged does not start' munge --socket="$slurm/munge.socket" --no-input
  local node
  slurm_daemon slurmctld slurmctld -D
  for node in "${1:-site}1" "${1:-site}2"; do slurm_boot "$node"; done
  slurm_wait 30 'the cluster does not start' slurm_is_up
}
# Of this cluster, whichever $SLURM_CONF means.
slurm_its() { SLURM_CONF=$slurm/slurm.conf "$@"; }
slurm_is_up() { [ "$(slurm_its sinfo --noheader --Node --partition build --format %t)" = $'idle\nidle' ]; }
slurm_boot() {
  local controller groups=()
  if [ "$slurm_limits" = cgroup ]; then
    for controller in memory freezer; do
      groups+=("/sys/fs/cgroup/$controller/kiln-test-$$-$1")
      mkdir -p "${groups[-1]}"
    done
  fi
  cat /proc/sys/kernel/random/uuid >"$slurm/$1.boot"
  slurm_daemon "$1" bash "$KILN_SOURCE/tests/support/slurm_node.sh" "$1" "$slurm/$1.boot" "${groups[@]}"
}

slurm_stop() {
  local daemon
  for daemon in "$slurm"/*.process; do
    daemon=$(basename "$daemon" .process)
    slurm_end "$daemon" KILL
  done
  slurm_drop_groups
}
# Those of nodes that are gone, and of scripts that were killed.
slurm_drop_groups() {
  local group owner
  for group in /sys/fs/cgroup/{memory,freezer}/kiln-test-*; do
    owner=${group##*kiln-test-}
    owner=${owner%%-*}
    if [ "$owner" = $$ ] || ! kill -0 "$owner" 2>/dev/null; then
      find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
    fi
  done
}

slurm_stop_controller() { slurm_end slurmctld "${1:-TERM}"; }
slurm_start_controller() {
  slurm_daemon slurmctld slurmctld -D
  slurm_wait 30 'the controller does not come back' slurm_knows_nodes
}
slurm_knows_nodes() {
  local states
  states=$(slurm_its sinfo --noheader --Node --format %t) && case $states in *unk*) false ;; esac
}
slurm_lose_node() {
  slurm_end "$1" KILL
  slurm_its scontrol update "NodeName=$1" State=DOWN Reason=test
}
slurm_start_node() {
  slurm_boot "$1"
  slurm_wait 90 "the node $1 does not come back" slurm_node_is_back "$1"
}
# Of the job that it was lost with it may still be clearing away (comp), as long as Slurm asks for that (minutes); it takes others.
slurm_node_is_back() {
  slurm_its sinfo --noheader --Node --partition build --nodes "$1" --format %t >"$slurm/$1.state"
  grep -qxE 'idle|mix|alloc|comp' "$slurm/$1.state"
}
slurm_node_is() { [ "$(slurm_its sinfo --noheader --Node --partition build --nodes "$1" --format %t)" = "$2" ]; }
on_node() {
  local first
  # The only child of what made its namespaces is the first process there.
  first=$(pgrep --parent "$(cat "$slurm/$1.process")")
  shift
  nsenter --target "$first" --mount --uts --pid "$@"
}
