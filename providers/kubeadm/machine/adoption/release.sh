# shellcheck shell=bash
# needs: common/adopted
# Gives a machine of an adopted cluster back: removes the node agent and foresail's marks, and leaves Kubernetes as it is.
# A machine that foresail itself prepared and joined keeps the files that its kubelet and containerd need. May run twice.
refuse_foreign_mark
systemctl disable --quiet --now foresail-node-agent 2>/dev/null || true
rm -f "$AGENT_UNIT_PATH" "$AGENT_PROGRAM_PATH" "$AGENT_CONFIGURATION_PATH" /run/foresail-node-agent.{lock,words}
systemctl daemon-reload
# the repository of a rollout; on a machine that foresail prepared, apt has no other one
if is_adopted; then
  rm -f /etc/apt/sources.list.d/foresail-kubernetes.list /etc/apt/keyrings/foresail-kubernetes.asc
fi
# files of others in whose places configured ones are, which stay
for originals in "$AGENT_PATH/originals" "$BEFORE_PATH/files"; do
  if [ ! -d "$originals" ]; then continue; fi
  mkdir -p /var/backups/foresail
  is_roots_alone /var/backups/foresail || fail "$MACHINE: others than root may write in /var/backups/foresail, so no file of root is copied there; run there: chown root:root /var/backups /var/backups/foresail; chmod go-w /var/backups /var/backups/foresail"
  cp --archive --backup=numbered "$originals/." /var/backups/foresail
done
rm -rf /var/lib/foresail
# the marker last, so that an interrupted release can begin again
rm -f "$MARKER_PATH"
rm -rf "$LOGS_PATH"
rmdir --ignore-fail-on-non-empty /etc/foresail /usr/local/lib/foresail 2>/dev/null || true
