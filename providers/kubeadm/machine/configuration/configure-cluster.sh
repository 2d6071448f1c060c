# shellcheck shell=bash
# needs: common/kube-proxy
# Writes the cluster's configuration into the ConfigMaps from which nodes get theirs, at the version that the cluster has.
# Data: the kubeadm configuration. Parameters: UPLOAD (kubeadm-config and kubelet-config: yes or no), KUBE_PROXY (yes or no)
refuse_foreign_machine
configuration=$SCRATCH_PATH/kubeadm.yaml
cat <&5 >"$configuration"
version=$(kubectl_as_administrator --namespace kube-system get configmap kubeadm-config --output 'jsonpath={.data.ClusterConfiguration}' | kubectl annotate --local --filename - foresail/read=yes --output 'jsonpath={.kubernetesVersion}')
[ -n "$version" ] || fail "$MACHINE: the ConfigMap kubeadm-config does not name the cluster's version" 65
sed -i "s|^kubernetesVersion: .*|kubernetesVersion: $version|" "$configuration"
if [ "$UPLOAD" = yes ]; then kubeadm init phase upload-config all --config "$configuration"; fi
if [ "$KUBE_PROXY" = yes ]; then
  kubeadm init phase addon kube-proxy --config "$configuration"
  restart_kube_proxy
fi
