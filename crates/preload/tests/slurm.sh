#!/usr/bin/env bash
# Runs a command in a Slurm of its own, on this machine alone: munged, slurmctld and slurmd in a temporary folder.
#
#     slurm.sh COMMAND...
#
# Exit code 77 if the daemons do not come up. Needs root, and Debian's slurmctld, slurmd, slurm-client and munge.
set -euo pipefail

folder=$(mktemp -d)
chmod 755 "$folder"
ended() {
    jobs -p | xargs --no-run-if-empty kill 2>/dev/null || true
    wait
    rm -rf "$folder"
}
trap ended EXIT
export SLURM_CONF=$folder/slurm.conf
socket=$folder/munge.socket
head -c 1024 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
host=$(hostname -s)
port=$((20000 + $$ % 10000 * 2))
cat >"$SLURM_CONF" <<END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$socket
StateSaveLocation=$folder
SlurmdSpoolDir=$folder
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
munged --foreground --socket="$socket" --key-file="$folder/munge.key" --pid-file="$folder/munge.pid" \
    --seed-file="$folder/munge.seed" >"$folder/munge.log" 2>&1 &
slurmctld -D >"$folder/slurmctld.log" 2>&1 &
slurmd -D >"$folder/slurmd.log" 2>&1 &
for _ in {1..60}; do
    sleep 0.5
    if [ "$(timeout 5 sinfo --noheader --format %t 2>/dev/null)" = idle ]; then
        timeout 60 "$@"
        exit
    fi
done
tail -n 5 "$folder"/*.log >&2
exit 77
