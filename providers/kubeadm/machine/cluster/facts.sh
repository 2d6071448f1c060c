# shellcheck shell=bash
# needs: common/member
# Finds out whether the machine is a member of this cluster. Answers JSON; refuses foreign machines.
refuse_foreign_machine
member=false
if is_member; then member=true; fi
control_plane=false
if [ -e /etc/kubernetes/manifests/kube-apiserver.yaml ]; then control_plane=true; fi
# a container has no kernel of its own to restart
reboot=""
if [ -e /run/reboot-required ] && ! systemd-detect-virt --container --quiet; then reboot=$(cat "$BOOT_ID"); fi
# a mark of an earlier release names no stack
unnamed=false
if [ -n "$claimed_by" ] && [ -z "$claimed_id" ]; then unnamed=true; fi
# by others, with all that its kubelet ran
reset=false
if [ -n "$claimed_by" ] && ! is_member && [ ! -e /var/lib/kubelet/config.yaml ] && ! grep -lqs kubepods /proc/[0-9]*/cgroup; then reset=true; fi
printf '{"member":%s,"controlPlane":%s,"unnamed":%s,"reset":%s,"rebootOf":"%s","clock":%s}\n' "$member" "$control_plane" "$unnamed" "$reset" "$reboot" "$(date +%s)" >&4
