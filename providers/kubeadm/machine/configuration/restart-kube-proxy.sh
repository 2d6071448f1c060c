# shellcheck shell=bash
# needs: common/kube-proxy
# Restarts kube-proxy, whose configuration in the cluster has changed. No parameters.
refuse_foreign_machine
restart_kube_proxy
