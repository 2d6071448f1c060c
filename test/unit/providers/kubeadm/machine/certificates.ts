import { execFileSync } from "node:child_process";
import type { ShellMachine } from "./run-shell";

/** `kubeadm init phase certs apiserver` with openssl: a certificate with the configured names, and its key. */
export const CERTIFICATES_OF_KUBEADM = `
if [ "$1 $2 $3 $4 $5" = "init phase certs apiserver --config" ]; then
  folder=$(sed -n 's/^certificatesDir: //p' "$6")
  if [ ! -e "$folder/ca.key" ] || [ ! -e "$folder/ca.crt" ] || [ -n "\${HTTPS_PROXY-}" ]; then exit 3; fi
  names=DNS:kubernetes
  for name in $(sed -n 's/^  - "\\(.*\\)"$/\\1/p' "$6"); do
    case $name in *[!0-9.]*) names+=,DNS:$name ;; *) names+=,IP:$name ;; esac
  done
  exec openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=kube-apiserver \\
    -keyout "$folder/apiserver.key" -out "$folder/apiserver.crt" -addext "subjectAltName=$names"
fi`;

/** Returns a certificate with these DNS names and IP addresses. */
export function certificateWith(names: readonly string[]): string {
  const list = names.map((name) => `${/^[\d.]+$/.test(name) ? "IP" : "DNS"}:${name}`).join();
  const key =
    "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -subj /CN=kube-apiserver";
  const args = ["req", "-x509", ...key.split(" "), "-addext", `subjectAltName=${list}`];
  return execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** Gives a machine an API server with a certificate of these names and of "kubernetes", a key, and an authority. */
export function placeCertificate(machine: ShellMachine, names: readonly string[]): void {
  const pki = "/etc/kubernetes/pki";
  machine.write(
    "/etc/kubernetes/manifests/kube-apiserver.yaml",
    `    - --tls-cert-file=${machine.path(pki)}/apiserver.crt
    kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: 10.0.0.2:6443\n`,
  );
  machine.write(`${pki}/apiserver.crt`, certificateWith(["kubernetes", ...names]), 0o640);
  machine.write(`${pki}/apiserver.key`, "old key\n", 0o600);
  for (const name of ["ca.crt", "ca.key"]) machine.write(`${pki}/${name}`, "authority\n");
}
