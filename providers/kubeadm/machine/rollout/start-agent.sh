# shellcheck shell=bash
# needs: common/system common/owner
# Starts the node agent when it does not run, and ends one that runs and does nothing, so that systemd starts it again: it goes on
# from its own record. Takes the machine's lock only when it is free, since an agent at work has it. Answers
#   started     it did not run
#   ended       it did nothing
#   says WORDS  it has logged that since the run waits for it
#   works SUM   SUM changes whenever its processes do anything
#   runs        it waits for another step or its next try, or nothing is to become of it
# Fails with systemd's reason, or with what the agent says when it ends by itself. Then, and when it is given up, it stays
# stopped: systemd would start it again and again, and it could begin what the run no longer asks for.
# Parameters: SILENT_SECONDS (how long it has written nothing), END (no, restart or stop: what becomes of one that does
# nothing), PAUSES (whether one without the lock may wait for its next try), IDLE_SUM (that of one that does nothing; empty for
# none)
set -euo pipefail
umask 077
exec 3>&2 4>&1 >&2 </dev/null
refuse_foreign_machine
unit=foresail-node-agent

# Tells whether systemd runs the agent, and does not wait to start it again.
is_running() {
  local state
  state=" $(systemctl show --property=ActiveState,SubState --value "$unit" | xargs) "
  [[ $state == *" active "* && $state == *" running "* ]]
}

# Leaves the agent stopped: WORDS (why).
give_up() {
  systemctl stop "$unit" || true
  fail "$1" 65
}

start_stopped() {
  local since words
  since=$(date +%s)
  systemctl reset-failed "$unit" || true
  words=$(systemctl enable --quiet "$unit" 2>&1 && systemctl start "$unit" 2>&1) || give_up "systemd does not start $unit ($(refusal_of "$unit" "$since" "$words"))"
  # systemd restarts an agent that ends, after two seconds
  for _ in $(seq 4); do
    sleep 1
    if ! is_running; then
      give_up "$unit ends again ($(refusal_of "$unit" "$since" "it printed nothing"))"
    fi
  done
  echo started >&4
}

main_process() { systemctl show --property=MainPID --value "$unit"; }

# Ends all processes of an agent that does nothing: a stopped one takes no other signal.
end_agent() {
  local process
  if [ "$END" = no ]; then echo runs >&4; return 0; fi
  process=$(main_process)
  systemctl kill --signal=KILL "$unit" || true
  for _ in $(seq 20); do
    if [ "$(main_process)" != "$process" ]; then break; fi
    sleep 0.5
  done
  if [ "$(main_process)" = "$process" ]; then give_up "$unit does nothing, and its processes can't be ended"; fi
  if [ "$END" = stop ]; then give_up "$unit did nothing, also after it was started again, and was stopped"; fi
  echo ended >&4
}

# Prints the agent's last words since the run waits for it, except those of its start.
words_of_agent() {
  journalctl "_SYSTEMD_UNIT=$unit.service" --since "@$(($(date +%s) - SILENT_SECONDS))" --output cat --no-pager --quiet 2>/dev/null |
    grep -v '^node agent ' | tail -n 1 | tr -cd '[:print:]' | cut -c 1-300 || true
}

# Prints the folder in /proc of each process of the agent, but for its watch of the Node, which is no work.
list_processes() {
  local folder
  for folder in $(grep -ls "/$unit.service" /proc/[0-9]*/cgroup || true); do
    folder=${folder%/cgroup}
    if ! tr '\0' ' ' 2>/dev/null <"$folder/cmdline" | grep -q -- ' --watch '; then echo "$folder"; fi
  done
}

# Prints a sum of the CPU time that processes and their ended children have used: FOLDER...
sum_of() {
  local folder
  for folder in "$@"; do
    printf '%s ' "$folder"
    sed 's/.*) //' "$folder/stat" 2>/dev/null | cut -d ' ' -f 12-15 || true
  done | sha256sum | cut -c 1-16
}

# Ends the agent when its program is stopped, or its processes have done nothing for too long.
look_at_work() {
  local folders sum state
  mapfile -t folders < <(list_processes)
  # it waits for another step of foresail
  if cat "${folders[@]/%//comm}" 2>/dev/null | grep -qx flock; then echo runs >&4; return 0; fi
  state=$(sed 's/.*) //' "/proc/$(main_process)/stat" 2>/dev/null | cut -c 1 || true)
  sum=$(sum_of "${folders[@]}")
  if [ "$state" = T ] || [ "$sum" = "$IDLE_SUM" ]; then end_agent; else echo "works $sum" >&4; fi
}

exec 9>>"$LOCK_PATH"
if ! flock --nonblock 9; then
  if is_running; then look_at_work; else echo runs >&4; fi
elif ! is_running; then
  start_stopped
else
  said=$(words_of_agent)
  if [ -n "$said" ]; then echo "says $said" >&4; elif [ "$PAUSES" = yes ]; then echo runs >&4; else look_at_work; fi
fi
