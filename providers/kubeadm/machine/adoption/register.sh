# shellcheck shell=bash
# Makes a member whose Node was deleted register again: the kubelet registers only when it starts, and the built-in
# network reads the pod CIDR of the new Node.
refuse_foreign_machine
systemctl restart kubelet
if systemctl is-enabled --quiet foresail-bridge 2>/dev/null; then systemctl restart --no-block foresail-bridge; fi
