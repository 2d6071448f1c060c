import type { SoftwareSource } from "../../plan/specification";
import type { KubernetesProgram } from "./kubernetes-programs";
import { quote, writeFile } from "./script";

type Bundle = Extract<SoftwareSource, { bundle: unknown }>["bundle"];

const KUBELET_UNIT = `[Unit]
Description=kubelet: the Kubernetes node agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target containerd.service

[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
StartLimitInterval=0
RestartSec=2

[Install]
WantedBy=multi-user.target
`;

/** Returns the folder of a bundle on the machine. */
function bundleFolder(bundle: Bundle): string {
  return "path" in bundle ? quote(bundle.path) : "/var/lib/foresail/bundle";
}

/** Returns shell lines that provide the bundle's complete folder on the machine, from the configured path or URL. */
function obtainBundle(bundle: Bundle): string {
  const folder = bundleFolder(bundle);
  return "path" in bundle
    ? `[ -d ${folder} ] || fail ${quote(`the bundle folder ${bundle.path} is not on this machine`)} 66`
    : `
if [ "$(cat ${folder}/.sha256 2>/dev/null || true)" != ${quote(bundle.sha256)} ]; then
  curl --fail --silent --show-error --location --retry 3 --continue-at - --max-time 900 ${quote(bundle.url)} --output /var/lib/foresail/bundle.tar.gz \\
    || fail ${quote(`the bundle could not be downloaded from ${bundle.url}; check cluster.source.bundle.url, and that this machine reaches it`)} 66
  echo ${quote(`${bundle.sha256}  /var/lib/foresail/bundle.tar.gz`)} | sha256sum --check --quiet || { rm -f /var/lib/foresail/bundle.tar.gz; fail ${quote(`the bundle from ${bundle.url} has another checksum than the configuration names (cluster.source.bundle.sha256)`)} 65; }
  rm -rf ${folder}; mkdir -p ${folder}
  tar -xzf /var/lib/foresail/bundle.tar.gz -C ${folder}
  rm -f /var/lib/foresail/bundle.tar.gz
  echo ${quote(bundle.sha256)} > ${folder}/.sha256
fi`.trim();
}

/**
 * Returns shell lines that refuse a bundle of another version, or a program that does not match the bundle's
 * SHA256SUMS.
 *
 * @param programs a list of shell words: reading a whole bundle takes seconds, so only these are read
 */
function verifyBundle(bundle: Bundle, version: string, programs: string): string {
  const folder = bundleFolder(bundle);
  return `
if [ -f ${folder}/SHA256SUMS ]; then
  for program in ${programs}; do
    # where the processor knows SHA-256, openssl is several times as fast
    if command -v openssl >/dev/null; then sum=$(openssl dgst -sha256 -r ${folder}/bin/$program || true); else sum=$(sha256sum ${folder}/bin/$program || true); fi
    grep -qixE "\${sum%% *} [ *]bin/$program" ${folder}/SHA256SUMS || fail "bin/$program of the bundle does not match its SHA256SUMS" 65
  done
fi
found=$(${folder}/bin/kubeadm version --output=short)
[ "$found" = ${quote(`v${version}`)} ] || fail "the bundle holds Kubernetes $found; the configuration wants v${version}" 65`.trim();
}

/** Returns shell lines that bring the bundle to the machine, and refuse it if its programs have another version. */
export function checkBundle(bundle: Bundle, version: string, programs: readonly KubernetesProgram[]): string {
  return `${obtainBundle(bundle)}\n${verifyBundle(bundle, version, programs.join(" "))}`;
}

/**
 * Returns shell lines that install Kubernetes from a folder or archive: bin/ with kubeadm, kubelet and kubectl,
 * images/*.tar, SHA256SUMS.
 */
export function installFromBundle(
  bundle: Bundle,
  version: string,
  programs: readonly KubernetesProgram[],
): string {
  const folder = bundleFolder(bundle);
  return `
${obtainBundle(bundle)}
differing=""
for program in ${programs.join(" ")}; do cmp --silent ${folder}/bin/$program /usr/local/bin/$program || differing="$differing $program"; done
if [ -n "$differing" ]; then
${verifyBundle(bundle, version, "$differing")}
  for program in $differing; do
    install -m 0755 ${folder}/bin/$program /usr/local/bin/.$program.foresail-new
    mv -f /usr/local/bin/.$program.foresail-new /usr/local/bin/$program
  done
fi${programs.includes("kubelet") ? `\n${writeFile("/etc/systemd/system/kubelet.service", KUBELET_UNIT, "0644")}` : ""}`.trim();
}

/**
 * Returns shell lines that import the bundle's images into containerd, unless it has all that are needed.
 *
 * @param asked whose kubeadm lists the images: the one on the machine, or the bundle's own while that on the machine is
 * older
 */
export function importImages(
  bundle: Bundle,
  version: string,
  asked: "machine" | "bundle",
  imageRepository?: string,
): string {
  const repository = imageRepository ? `--image-repository ${quote(imageRepository)} ` : "";
  const folder = bundleFolder(bundle);
  const kubeadm = asked === "machine" ? "/usr/local/bin/kubeadm" : `${folder}/bin/kubeadm`;
  return `
have=$(ctr --namespace k8s.io images list --quiet)
wanted=$(${kubeadm} config images list ${repository}--kubernetes-version v${version} 2>/dev/null)
missing=no
for image in $wanted; do grep -qxF "$image" <<<"$have" || missing=yes; done
if [ "$missing" = yes ] && compgen -G ${folder}/images/'*.tar' >/dev/null; then
  for archive in ${folder}/images/*.tar; do ctr --namespace k8s.io images import "$archive" >/dev/null; done
fi`.trim();
}
