# shellcheck shell=bash
# Starts the node agent when it does not run. Answers "runs" or "started"; fails with systemd's reason, or with what the agent
# says when it ends by itself. An agent at work has the machine's lock, so this step waits for its end.
refuse_foreign_machine
unit=foresail-node-agent

# Tells whether systemd runs the agent, and does not wait to start it again.
is_running() {
  local state
  state=" $(systemctl show --property=ActiveState,SubState --value "$unit" | xargs) "
  [[ $state == *" active "* && $state == *" running "* ]]
}

if is_running; then
  echo runs >&4
  exit
fi
since=$(date +%s)
systemctl reset-failed "$unit" 2>&1 || true
words=$(systemctl enable --quiet "$unit" 2>&1 && systemctl start "$unit" 2>&1) || fail "systemd does not start $unit ($(refusal_of "$unit" "$since" "$words"))" 65
# systemd restarts an agent that ends, after two seconds
for _ in $(seq 4); do
  sleep 1
  if ! is_running; then
    fail "$unit ends again ($(refusal_of "$unit" "$since" "it printed nothing"))" 65
  fi
done
echo started >&4
