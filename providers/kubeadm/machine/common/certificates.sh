# shellcheck shell=bash
# When the certificates of this machine end. Parameters: ROOT (a folder that replaces / in tests)

# Lists the certificates that a machine may have: NAME PATH, one a line.
list_certificates() {
  local name kubernetes=$ROOT/etc/kubernetes kubelet=$ROOT/var/lib/kubelet/pki
  if [ -e "$kubernetes/manifests/kube-apiserver.yaml" ]; then
    for name in apiserver apiserver-etcd-client apiserver-kubelet-client front-proxy-client ca front-proxy-ca; do echo "$name $kubernetes/pki/$name.crt"; done
    for name in server peer healthcheck-client ca; do echo "etcd-$name $kubernetes/pki/etcd/$name.crt"; done
    for name in admin super-admin controller-manager scheduler; do echo "$name.conf $kubernetes/$name.conf"; done
  fi
  echo "kubelet-client $kubelet/kubelet-client-current.pem"
  # one that the cluster has signed takes the place of the kubelet's own
  if [ -e "$kubelet/kubelet-server-current.pem" ]; then echo "kubelet-serving $kubelet/kubelet-server-current.pem"; else echo "kubelet-serving $kubelet/kubelet.crt"; fi
}

# Prints the certificate in a file, PEM; that of the user in a kubeconfig: PATH.
certificate_in() {
  case $1 in
  *.conf) sed -n 's/^ *client-certificate-data: *//p' "$1" | head -n 1 | base64 -d ;;
  *) cat "$1" ;;
  esac 2>/dev/null
}

# Prints when a certificate ends, as 2027-11-27T09:00:00Z: PATH. Fails when there is none.
end_of_certificate() {
  local end
  end=$(certificate_in "$1" | openssl x509 -noout -enddate 2>/dev/null) || return 1
  date --utc --date "${end#notAfter=}" +%FT%TZ
}

# Prints NAME=END of each certificate, separated by blanks, and "foreign" when an authority's key is not on this control plane.
certificate_ends() {
  local name path end words=""
  while read -r name path; do
    if [ -e "$path" ] && end=$(end_of_certificate "$path"); then words+="${words:+ }$name=$end"; fi
  done < <(list_certificates)
  if [ -n "$words" ] && [ -e "$ROOT/etc/kubernetes/manifests/kube-apiserver.yaml" ]; then
    for name in ca etcd/ca front-proxy-ca; do
      if [ ! -e "$ROOT/etc/kubernetes/pki/$name.key" ]; then words+=" foreign"; break; fi
    done
  fi
  printf '%s' "$words"
}

# Prints when the first certificate ends that kubeadm renews: WORDS of certificate_ends.
first_certificate_end() {
  case $1 in *" foreign") return 0 ;; esac
  tr ' ' '\n' <<<"$1" | sed -nE '/^(ca|etcd-ca|front-proxy-ca|kubelet-client|kubelet-serving)=/d; s/.*=//p' | sort | head -n 1
}
