# shellcheck shell=bash
# Reads the administrator's kubeconfig of a control plane. Answers its text, which is secret.
refuse_foreign_machine
cat /etc/kubernetes/admin.conf >&4
