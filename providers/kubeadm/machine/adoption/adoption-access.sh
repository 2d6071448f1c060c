# shellcheck shell=bash
# Reads the administrator's kubeconfig of a control plane that is not claimed yet. Only reads. Answers its text, which is
# secret.
set -euo pipefail
cat /etc/kubernetes/admin.conf
