# shellcheck shell=bash
# Gives a step an environment of its own. What a machine sets for login sessions (/etc/environment, profiles, env_keep of
# sudo, SetEnv of sshd) would reach Kubernetes: a proxy keeps kubeadm, kubectl and curl from the API servers and gets into
# the static pods, and a secure_path of sudo may lack /usr/local/bin. Comes before the step's variables.
# Sets login_proxies to the names of the proxy variables that it removed.
login_proxies=""
for name in $(compgen -e); do
  case ${name,,} in http_proxy | https_proxy | ftp_proxy | all_proxy | no_proxy) login_proxies+=" $name" ;; esac
  unset "$name" 2>/dev/null || true
done
for name in $(compgen -A function); do unset -f "$name"; done
# root's home may have a .curlrc with a proxy, or a kubeconfig
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/var/lib/foresail LC_ALL=C
cd /
