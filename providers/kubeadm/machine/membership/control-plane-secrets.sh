# shellcheck shell=bash
# Reads what a new control plane needs from another one: the keys of kubeadm's manual certificate distribution. Answers a
# base64 tar archive, which is secret.
refuse_foreign_machine
files=(pki/{ca,front-proxy-ca,etcd/ca}.{crt,key} pki/sa.{key,pub})
if [ -e /etc/kubernetes/foresail/encryption.yaml ]; then files+=(foresail/encryption.yaml); fi
tar -C /etc/kubernetes -cf - "${files[@]}" | base64 -w 0 >&4
