# shellcheck shell=bash
# The client certificate of the kubelet.

# Makes a key and a request for its certificate: KEY REQUEST (files).
request_kubelet_certificate() {
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1" -out "$2" \
    -subj "/O=system:nodes/CN=system:node:$MACHINE"
}

# Gives the kubelet a certificate and its key, and restarts it: CERTIFICATE KEY (files).
place_kubelet_certificate() {
  local folder=/var/lib/kubelet/pki new
  new=$folder/kubelet-client-$(date -u +%Y-%m-%d-%H-%M-%S).pem
  mkdir -p "$folder"
  cat "$1" "$2" >"$new"
  ln -sf "$new" "$folder/.kubelet-client-current.pem"
  mv -fT "$folder/.kubelet-client-current.pem" "$folder/kubelet-client-current.pem"
  # what kubeadm init wrote may have a certificate of its own in it
  sed -i -E "s#^( *)client-(certificate|key)-data: .*#\1client-\2: $folder/kubelet-client-current.pem#" /etc/kubernetes/kubelet.conf
  systemctl restart kubelet
}
