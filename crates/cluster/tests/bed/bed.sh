#!/bin/bash
# A cluster on one machine: nodes are network namespaces, the network is switch.c, ranks are an MPI library's.
#
#   bed.sh check                                            can this be had here? says why not
#   bed.sh NODES PER_NODE MBIT LATENCY_US OVERHEAD_US COMMAND...   runs a command on NODES * PER_NODE ranks
#
# BED_FOLDER is a folder for what is compiled and written (default: a new one). BED_LIBRARY is the library that
# the command is built with, openmpi (default) or mpich. Takes root, /dev/net/tun, iproute2, util-linux, a C
# compiler and that library. All is gone when it ends, however it ends. Several can run at once. BED_BUFFER is
# how many bytes the switch stores for each node (default: as many as come); what comes when it is full is
# lost, and TCP sends it again, after 200 ms where it does not hear of that.
#
# All nodes share this machine's cores: a message takes some 30 us of them. Choose overheads and
# latencies well above that, as if time went slower; what counts is their ratios. Ranks and switch have
# real-time priority where that is allowed, and ranks sleep while they wait (patient.c).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=${BED_LIBRARY:-openmpi}
case $library in
openmpi | mpich) ;;
*) echo "bed.sh: BED_LIBRARY is $library; it is openmpi or mpich" >&2; exit 2 ;;
esac

if [ "${1:-}" = check ]; then
    for program in ip unshare chrt "${CC:-cc}" "mpirun.$library"; do
        command -v "$program" >/dev/null || { echo "no $program"; exit 1; }
    done
    [ "$(id -u)" = 0 ] || { echo "not root"; exit 1; }
    [ -w /dev/net/tun ] || { echo "no /dev/net/tun"; exit 1; }
    name=bed$$
    ip netns add "$name" 2>/dev/null || { echo "no network namespaces"; exit 1; }
    ip netns exec "$name" ip tuntap add mode tun name wire 2>/dev/null || refused=yes
    ip netns del "$name"
    [ -z "${refused:-}" ] || { echo "no TUN devices"; exit 1; }
    exit 0
fi

[ $# -ge 6 ] || { sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
nodes=$1 per_node=$2 rate=$3 latency=$4 overhead=$5
shift 5
folder=${BED_FOLDER:-$(mktemp -d)}
mkdir -p "$folder"
name=bed$$x
spaces=$(seq -f "$name%g" 0 $((nodes - 1)))

end() {
    # A second signal leaves nothing behind, either.
    trap '' INT TERM
    # The switch ends with its standard input.
    exec 7>&-
    for space in $spaces; do
        left=$(ip netns pids "$space" 2>/dev/null) || continue
        [ -z "$left" ] || kill -9 $left 2>/dev/null || true
        ip netns del "$space"
    done
    [ -n "${BED_FOLDER:-}" ] || rm -r "$folder"
}
trap end EXIT
trap 'exit 1' INT TERM

"${CC:-cc}" -O2 -Wall -Wextra -o "$folder/switch" "$here/switch.c"
"${CC:-cc}" -O2 -Wall -Wextra -shared -fPIC -o "$folder/patient.so" "$here/patient.c" -ldl

for space in $spaces; do ip netns add "$space"; done
rm -f "$folder/stdin"
mkfifo "$folder/stdin"
"$folder/switch" "$rate" "$latency" "$overhead" $spaces <"$folder/stdin" >"$folder/ready" &
exec 7>"$folder/stdin"
for _ in $(seq 100); do grep -qs ready "$folder/ready" && break; sleep 0.05; done
grep -q ready "$folder/ready" || { echo "bed.sh: the switch does not start" >&2; exit 1; }
number=0
: >"$folder/hosts"
for space in $spaces; do
    number=$((number + 1))
    case $library in
    openmpi) echo "10.99.0.$number slots=$per_node" ;;
    mpich) echo "10.99.0.$number:$per_node" ;;
    esac >>"$folder/hosts"
    # TCP as on clusters: windows for whole messages, no slow start after pauses, no pacing.
    ip netns exec "$space" sh -e -c "
        ip link set lo up
        ip addr add 10.99.0.$number/24 dev wire
        ip link set wire mtu 9000 txqueuelen 10000 up
        cd /proc/sys/net/ipv4
        echo reno >tcp_congestion_control
        echo 0 >tcp_slow_start_after_idle
        echo 1 >tcp_no_metrics_save
        echo '4096 1048576 16777216' >tcp_rmem
        echo '4096 1048576 16777216' >tcp_wmem"
done

# Takes the place of ssh: runs a command on the node with an address, under a host name of its own.
cat >"$folder/agent" <<END
#!/bin/sh
while :; do
    case \$1 in
    -*) shift ;;
    *) break ;;
    esac
done
space=$name\$((\${1##*.} - 1))
shift
exec ip netns exec "\$space" unshare --uts sh -c "hostname \$space; \$*"
END
chmod +x "$folder/agent"

case $library in
openmpi)
    launch=(mpirun.openmpi --allow-run-as-root --hostfile "$folder/hosts" -n $((nodes * per_node))
        --map-by slot --bind-to none --mca plm rsh --mca plm_rsh_agent "$folder/agent"
        --mca plm_rsh_no_tree_spawn 1 --mca plm_rsh_num_concurrent "$nodes" --mca routed direct
        --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include 10.99.0.0/24
        --mca oob_tcp_if_include 10.99.0.0/24 --mca mpi_yield_when_idle 1
        -x LD_PRELOAD="$folder/patient.so")
    ;;
mpich)
    # UCX over TCP hangs in MPI_Finalize (github.com/openucx/ucx/issues/8738): patient.c ends ranks before.
    launch=(mpirun.mpich -launcher ssh -launcher-exec "$folder/agent" -f "$folder/hosts"
        -n $((nodes * per_node)) -iface wire -localhost 10.99.0.1 -genv UCX_TLS tcp,self
        -genv UCX_NET_DEVICES wire -genv UCX_WARN_UNUSED_ENV_VARS n
        -genv PATIENT_ENDS yes -genv LD_PRELOAD "$folder/patient.so")
    ;;
esac

priority=
chrt -r 1 true 2>/dev/null && priority="chrt -r 1"
$priority ip netns exec "${name}0" unshare --uts sh -c 'hostname "$0"; exec "$@"' "${name}0" \
    "${launch[@]}" "$@" </dev/null &
# A signal ends the wait, where it would not end the job.
wait $!
