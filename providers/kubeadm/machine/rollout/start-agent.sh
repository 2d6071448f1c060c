# shellcheck shell=bash
# Starts the node agent when it does not run. Answers "runs" or "started"; fails with systemd's reason, or with what the agent
# says when it ends by itself: then it stays stopped, since systemd would start it again and again, and it could begin what the
# run no longer asks for. An agent at work has the machine's lock, so this step waits for its end.
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
  systemctl stop "$unit" 2>&1 || true
  fail "$1" 65
}

if is_running; then
  echo runs >&4
  exit
fi
since=$(date +%s)
systemctl reset-failed "$unit" 2>&1 || true
words=$(systemctl enable --quiet "$unit" 2>&1 && systemctl start "$unit" 2>&1) || give_up "systemd does not start $unit ($(refusal_of "$unit" "$since" "$words"))"
# systemd restarts an agent that ends, after two seconds
for _ in $(seq 4); do
  sleep 1
  if ! is_running; then
    give_up "$unit ends again ($(refusal_of "$unit" "$since" "it printed nothing"))"
  fi
done
echo started >&4
