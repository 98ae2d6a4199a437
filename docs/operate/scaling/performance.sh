#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds the clocks of this device up while something is measured on it, and puts them back:
#
#     performance.sh run COMMAND...   sets, runs the command, restores; the command's exit code
#     performance.sh set              saves what is there, then sets; a second time saves nothing
#     performance.sh restore          puts back what was saved; nothing if nothing was
#     performance.sh status           what each node says, and what was saved of it
#
# Runs on the device itself, as root, with the shell of Android, busybox or Debian; docs/operate/scaling.md
# tells how. Sets the governors of CPUs, Adreno's kgsl nodes and Mali's, and nothing thermal. What was
# there is in KILN_STATE before anything is written, so that whatever ends this script is undone by
# restore; a restart of the device undoes all of it. KILN_ROOT goes before all paths, for tests.
#
# Exit codes: 0 done; 1 a node was not set or restored, which standard error names; 2 usage; 3 nothing
# could be saved or set.
set -u
umask 077
root=${KILN_ROOT-}
state=${KILN_STATE-}
if [ -z "$state" ]; then
  state=/run/kiln-performance
  [ -d /data/local/tmp ] && state=/data/local/tmp/kiln-performance
fi

complain() { echo "performance.sh: $*" >&2; }

# Power levels count from 0, the fastest; the fastest one is set first, since kgsl takes no slowest
# level that is faster than it. Restoring goes from the last to the first.
gpu=/sys/class/kgsl/kgsl-3d0
list_nodes() {
  for node in "$root"/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor \
    "$root$gpu"/force_rail_on "$root$gpu"/force_bus_on "$root$gpu"/force_clk_on \
    "$root$gpu"/force_no_nap "$root$gpu"/bus_split "$root$gpu"/idle_timer \
    "$root$gpu"/pwrscale/trustzone/governor "$root$gpu"/devfreq/governor \
    "$root$gpu"/max_pwrlevel "$root$gpu"/min_pwrlevel \
    "$root"/sys/class/devfreq/*.mali/governor "$root"/sys/class/devfreq/*.gpu/governor \
    "$root"/sys/class/misc/mali0/device/power_policy; do
    [ -e "$node" ] && echo "${node#"$root"}"
  done
}

# Puts the setting of a node in $wanted; fails for a path that list_nodes never gives, since who wrote
# the state may not have been root.
find_wanted() {
  case $1 in
    *..*) return 1 ;;
    /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor | "$gpu"/devfreq/governor | \
      "$gpu"/pwrscale/trustzone/governor | /sys/class/devfreq/*.mali/governor | \
      /sys/class/devfreq/*.gpu/governor) wanted=performance ;;
    "$gpu"/force_rail_on | "$gpu"/force_bus_on | "$gpu"/force_clk_on | "$gpu"/force_no_nap)
      wanted=1 ;;
    "$gpu"/bus_split | "$gpu"/max_pwrlevel | "$gpu"/min_pwrlevel) wanted=0 ;;
    "$gpu"/idle_timer) wanted=1000000 ;;  # milliseconds
    /sys/class/misc/mali0/device/power_policy) wanted=always_on ;;
    *) return 1 ;;
  esac
}

# Puts a node's line in $value; of a list the word in brackets, which is the one that counts.
read_node() {
  value=
  { IFS= read -r value <"$root$1" || [ -n "$value" ]; } 2>/dev/null || return 1
  case $value in
    *\[*\]*) value=${value#*\[} value=${value%%\]*} ;;
  esac
}

# Writes and reads back; $value is then what the node says.
write_node() {
  { printf '%s\n' "$2" >"$root$1"; } 2>/dev/null
  read_node "$1" && [ "$value" = "$2" ]
}

# Which start of the device this is; what was saved in another one is void.
find_boot() {
  boot=unknown
  { IFS= read -r boot <"$root/proc/sys/kernel/random/boot_id"; } 2>/dev/null
}

# Puts what was saved of a node in $saved.
find_saved() {
  while IFS=' ' read -r saved_node saved; do
    [ "$saved_node" = "$1" ] && return 0
  done <"$state"
  return 1
}

is_saved() {
  find_boot
  [ -e "$state" ] && find_saved boot && [ "$saved" = "$boot" ]
}

# In one step: a state is whole or not there.
save() {
  find_boot
  rm -rf "$state.new"
  {
    echo "boot $boot"
    for node in $(list_nodes); do
      if read_node "$node"; then echo "$node $value"; else complain "$node cannot be read"; fi
    done
  } >"$state.new" && sync && mv "$state.new" "$state" && [ -f "$state" ] && return 0
  complain "$state cannot be written; nothing was set"
  return 1
}

set_nodes() {
  fresh=0
  if ! is_saved; then
    save || return 3
    fresh=1
  fi
  code=0 count=0 missed=
  for node in $(list_nodes); do
    find_wanted "$node" || continue
    if ! find_saved "$node"; then
      complain "$node was not saved, and is left as it is"
      code=1 missed="$missed $node"
    elif write_node "$node" "$wanted"; then
      count=$((count + 1))
    else
      complain "$node did not take $wanted: it says ${value:-nothing}"
      code=1 missed="$missed $node"
    fi
  done
  [ $count -gt 0 ] && return $code
  complain "nothing could be set; is this root?"
  [ $fresh -eq 0 ] || restore_nodes
  return 3
}

# Signals wait: half a restoration is what this script is there to avoid.
restore_nodes() {
  trap '' INT TERM HUP
  [ -e "$state" ] || return 0
  if ! is_saved; then
    complain "the device was restarted since, which restored it"
    rm -f "$state"
    return 0
  fi
  reversed=
  while IFS=' ' read -r node saved; do
    find_wanted "$node" && reversed="$node $reversed"
  done <"$state"
  code=0
  for node in $reversed; do
    find_saved "$node"
    read_node "$node" && [ "$value" = "$saved" ] && continue
    write_node "$node" "$saved" && continue
    complain "$node was not restored to $saved: it says ${value:-nothing}"
    code=1
  done
  [ $code -eq 0 ] && rm -f "$state"
  return $code
}

show_nodes() {
  if is_saved; then echo "set; saved in $state"; else echo "not set"; fi
  for node in $(list_nodes); do
    read_node "$node" || value='cannot be read'
    note=
    if is_saved && find_saved "$node" && [ "$saved" != "$value" ]; then note=", was $saved"; fi
    echo "$node: $value$note"
  done
}

# A thermal limit, or a daemon of the vendor's, may have moved what was set.
check_nodes() {
  for node in $(list_nodes); do
    case " $missed " in *" $node "*) continue ;; esac
    find_wanted "$node"
    if read_node "$node" && [ "$value" = "$wanted" ]; then continue; fi
    complain "$node did not stay at $wanted: it says ${value:-nothing}"
  done
}

child=
end_run() {
  trap '' INT TERM HUP
  trap - EXIT
  if [ -n "$child" ]; then
    kill -s TERM "$child" 2>/dev/null
    wait "$child"
  fi
  restore_nodes || [ "$1" -ne 0 ] || exit 1
  exit "$1"
}

# In the background, since a shell acts on a signal only when a command in the foreground has ended.
run_command() {
  trap 'end_run $?' EXIT
  trap 'end_run 130' INT
  trap 'end_run 143' TERM
  trap 'end_run 129' HUP
  trap '' PIPE  # who reads may be gone, and restoring goes on
  set_nodes
  [ $? -ne 3 ] || exit 3
  exec 3<&0  # in the background a command's standard input would be /dev/null
  (trap - PIPE && exec "$@") <&3 3<&- &
  child=$!
  wait "$child"
  code=$?
  child=
  check_nodes
  exit $code
}

usage() {
  echo "usage: performance.sh set | restore | status | run COMMAND..." >&2
  exit 2
}

[ $# -ge 1 ] || usage
verb=$1
shift
case $verb in
  run) [ $# -ge 1 ] || usage; run_command "$@" ;;
  set) [ $# -eq 0 ] || usage; set_nodes ;;
  restore) [ $# -eq 0 ] || usage; restore_nodes ;;
  status) [ $# -eq 0 ] || usage; show_nodes ;;
  *) usage ;;
esac
