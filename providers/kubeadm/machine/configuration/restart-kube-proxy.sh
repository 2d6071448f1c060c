# shellcheck shell=bash
# Restarts kube-proxy, whose configuration in the cluster has changed. No parameters.
refuse_foreign_machine
restart_kube_proxy
