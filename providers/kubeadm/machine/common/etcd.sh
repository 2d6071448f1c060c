# shellcheck shell=bash
# Calls the machine's own etcd over its JSON gateway, with the API server's client certificate: CURL_ARGUMENT...
etcd() {
  curl --silent --show-error --fail --max-time 10 --cacert /etc/kubernetes/pki/etcd/ca.crt \
    --cert /etc/kubernetes/pki/apiserver-etcd-client.crt --key /etc/kubernetes/pki/apiserver-etcd-client.key "$@"
}

# Prints the member list as JSON.
etcd_members() { etcd --data '{}' https://127.0.0.1:2379/v3/cluster/member/list; }
