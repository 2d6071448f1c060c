# shellcheck shell=bash
# Takes the API server of a leaving control plane out of service: removes its manifest and waits until nothing listens any
# more, so that no request reaches a server whose etcd is being removed.
refuse_foreign_machine
rm -f /etc/kubernetes/manifests/kube-apiserver.yaml
timeout 120 bash -c 'while ss --listening --tcp --numeric | grep -q ":6443 "; do sleep 0.5; done' || fail "the API server still listens after 120 seconds"
