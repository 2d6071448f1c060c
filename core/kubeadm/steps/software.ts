import type { ClusterSpecification, SoftwareSource } from "../specification";
import { quote, writeFile } from "./script";

/** Distribution packages that a node needs whatever Kubernetes comes from. */
const PACKAGES = ["containerd", "conntrack", "socat", "iptables", "ethtool", "curl", "ca-certificates"];

/** A new machine's own updates hold dpkg's lock for a while. */
const LOCK = "-o DPkg::Lock::Timeout=300";

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

/**
 * Whether the standard CNI plugins come from the distribution: the built-in network and flannel call them, and
 * only the community's kubelet package brings them along.
 */
function needsNetworkPlugins({ network, source }: ClusterSpecification): boolean {
  return network.bridge || "bundle" in source;
}

/** The distribution packages of a specification: haproxy only where it is the endpoint. */
function distributionPackages(specification: ClusterSpecification): string[] {
  return [
    ...PACKAGES,
    ...("loopback" in specification.endpoint ? ["haproxy"] : []),
    ...(needsNetworkPlugins(specification) ? ["containernetworking-plugins"] : []),
  ];
}

/** Shell lines that install what is missing of the distribution's packages, and nothing when all are there. */
export function installDistributionPackages(specification: ClusterSpecification): string {
  // where every network looks for them; what lies there already stays
  const link = `
(umask 022; mkdir -p /opt/cni/bin)
for plugin in /usr/lib/cni/*; do [ -e "/opt/cni/bin/$(basename "$plugin")" ] || ln -sf "$plugin" /opt/cni/bin/; done`;
  return `
missing=""
for package in ${distributionPackages(specification).join(" ")}; do
  if ! dpkg-query --show --showformat='\${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed; then missing="$missing $package"; fi
done
if [ -n "$missing" ]; then
  apt-get update --quiet
  apt-get install --yes --quiet --no-install-recommends ${LOCK} $missing
fi${needsNetworkPlugins(specification) ? link : ""}`.trim();
}

/** Kubernetes from the community's apt repository, pinned and held. Its key is the repository's own. */
function fromPackages(repository: string, version: string): string {
  const minor = version.split(".").slice(0, 2).join(".");
  const base = repository.replaceAll("{minor}", minor).replace(/\/?$/, "/");
  const list = `deb [signed-by=/etc/apt/keyrings/foresail-kubernetes.asc] ${base} /\n`;
  const release = `${version.replaceAll(".", "\\.")}-`;
  // only this list: a broken list of somebody else is not in the way, and ours is an error when it is broken
  const onlyOurs =
    "-o Dir::Etc::sourcelist=sources.list.d/foresail-kubernetes.list -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any";
  return `
installed=$(dpkg-query --show --showformat='\${db:Status-Status} \${Version}\\n' kubelet kubeadm kubectl 2>/dev/null | grep -cE ${quote(`^installed ${release}`)} || true)
if [ "$installed" != 3 ]; then
  (umask 022; mkdir -p /etc/apt/keyrings)
  curl --fail --silent --show-error --location --retry 3 --max-time 60 ${quote(`${base}Release.key`)} --output /etc/apt/keyrings/foresail-kubernetes.asc \\
    || fail ${quote(`the key of the Kubernetes repository could not be read from ${base}Release.key; check cluster.source.packages.repository, and that this machine reaches it`)} 66
  chmod 0644 /etc/apt/keyrings/foresail-kubernetes.asc
${writeFile("/etc/apt/sources.list.d/foresail-kubernetes.list", list, "0644")}
  apt-get update --quiet ${onlyOurs} \\
    || fail ${quote(`the Kubernetes repository ${base} could not be read, or its signature is not of the key in its Release.key; nothing was installed from it`)} 65
  for package in kubelet kubeadm kubectl; do
    apt-cache madison "$package" | cut -d '|' -f 2 | grep -E ${quote(`^ *${release}`)} \\
      || fail ${quote(`the Kubernetes repository ${base} has no `)}"$package ${version}; it has: $(apt-cache madison "$package" | cut -d '|' -f 2 | tr -d ' ' | head -n 10 | xargs)" 65
  done
  dpkg --configure -a
  apt-mark unhold kubelet kubeadm kubectl || true
  apt-get install --yes --quiet --no-install-recommends --allow-downgrades ${LOCK} ${["kubelet", "kubeadm", "kubectl"].map((name) => quote(`${name}=${version}-*`)).join(" ")}
  apt-mark hold kubelet kubeadm kubectl
fi`.trim();
}

/** Kubernetes from a folder or archive: bin/ with kubeadm, kubelet and kubectl, images/*.tar, SHA256SUMS. */
function fromBundle(bundle: { path: string } | { url: string; sha256: string }, version: string): string {
  const folder = "path" in bundle ? quote(bundle.path) : "/var/lib/foresail/bundle";
  const download =
    "path" in bundle
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
  return `
${download}
if [ "$(/usr/local/bin/kubeadm version --output=short 2>/dev/null || true)" != ${quote(`v${version}`)} ]; then
  if [ -f ${folder}/SHA256SUMS ]; then
    (cd ${folder} && grep ' bin/' SHA256SUMS | sha256sum --check --quiet) || fail "the programs of the bundle do not match its SHA256SUMS" 65
  fi
  for program in kubeadm kubelet kubectl; do
    install -m 0755 ${folder}/bin/$program /usr/local/bin/.$program.foresail-new
    mv -f /usr/local/bin/.$program.foresail-new /usr/local/bin/$program
  done
  found=$(/usr/local/bin/kubeadm version --output=short)
  [ "$found" = ${quote(`v${version}`)} ] || fail "the bundle holds Kubernetes $found; the configuration wants v${version}" 65
fi
${writeFile("/etc/systemd/system/kubelet.service", KUBELET_UNIT, "0644")}`.trim();
}

/** Shell lines that bring kubeadm, kubelet and kubectl of the wanted version, unless they are there. */
export function installKubernetes(source: SoftwareSource, version: string): string {
  return "packages" in source
    ? fromPackages(source.packages.repository, version)
    : fromBundle(source.bundle, version);
}

/** Shell lines that import the bundle's images into containerd, those that it has not got yet. */
export function importBundleImages({ source, version, imageRepository }: ClusterSpecification): string {
  if ("packages" in source) return ":";
  const repository = imageRepository ? `--image-repository ${quote(imageRepository)} ` : "";
  const folder = "path" in source.bundle ? quote(source.bundle.path) : "/var/lib/foresail/bundle";
  return `
have=$(ctr --namespace k8s.io images list --quiet)
wanted=$(/usr/local/bin/kubeadm config images list ${repository}--kubernetes-version v${version} 2>/dev/null)
missing=no
for image in $wanted; do grep -qxF "$image" <<<"$have" || missing=yes; done
if [ "$missing" = yes ] && compgen -G ${folder}/images/'*.tar' >/dev/null; then
  for archive in ${folder}/images/*.tar; do ctr --namespace k8s.io images import "$archive" >/dev/null; done
fi`.trim();
}
