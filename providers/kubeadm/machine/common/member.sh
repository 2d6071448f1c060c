# shellcheck shell=bash

# Tells whether this machine is a member: it has joined, and was not reset by hand since, which removes the credentials of
# its kubelet.
is_member() { [ -e "$MEMBER_PATH" ] && [ -e /etc/kubernetes/kubelet.conf ]; }
