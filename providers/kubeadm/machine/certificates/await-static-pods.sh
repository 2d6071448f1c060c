# shellcheck shell=bash
# needs: common/static-pods
# Waits until the static pods of a control plane are healthy. Parameters: READY_SECONDS
refuse_foreign_machine
deadline=$((SECONDS + READY_SECONDS))
for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  if [ ! -e "/etc/kubernetes/manifests/$name.yaml" ]; then continue; fi
  until is_static_pod_healthy "$name"; do
    [ "$SECONDS" -lt "$deadline" ] || fail "$MACHINE: $name is not healthy $READY_SECONDS seconds after its restart; look at the logs in /var/log/pods"
    sleep 1
  done
done
