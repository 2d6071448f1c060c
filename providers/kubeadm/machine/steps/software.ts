import { sourceOfVersion, type ClusterSpecification, type SoftwareSource } from "../../plan/specification";
import { checkBundle, importImages, installFromBundle } from "./kubernetes-bundle";
import { checkPackages, installFromPackages } from "./kubernetes-packages";
import { KUBERNETES_PROGRAMS, type KubernetesProgram } from "./kubernetes-programs";

/** Distribution packages that every node needs, for any source of Kubernetes. */
const PACKAGES = ["containerd", "conntrack", "socat", "iptables", "ethtool", "curl", "ca-certificates"];

/** Options that wait for dpkg's lock, which a new machine's own updates may keep for a while. */
const LOCK = "-o DPkg::Lock::Timeout=300";

/**
 * Returns whether the standard CNI plugins have to come from the distribution: the built-in network and flannel use
 * them, and only the community's kubelet package includes them.
 */
function needsNetworkPlugins({ network, source }: ClusterSpecification): boolean {
  return network.bridge || "bundle" in source;
}

/** Returns the distribution packages of a specification; haproxy only for the loopback endpoint. */
function distributionPackages(specification: ClusterSpecification): string[] {
  return [
    ...PACKAGES,
    ...("loopback" in specification.endpoint ? ["haproxy"] : []),
    ...(needsNetworkPlugins(specification) ? ["containernetworking-plugins"] : []),
  ];
}

/** Returns shell lines that install the missing distribution packages, and do nothing when none is missing. */
export function installDistributionPackages(specification: ClusterSpecification): string {
  // the folder where every network expects plugins; existing files are kept
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

/** Returns shell lines that install these programs in this version, unless they are installed. */
export function installKubernetes(
  source: SoftwareSource,
  version: string,
  programs: readonly KubernetesProgram[] = KUBERNETES_PROGRAMS,
): string {
  const own = sourceOfVersion(source, version);
  return "packages" in own
    ? installFromPackages(own.packages.repository, version, programs)
    : installFromBundle(own.bundle, version, programs);
}

/**
 * Returns shell lines that fail when the source does not have the version, exit code 65 or 66. They install nothing.
 *
 * @param programs whose checksums in a bundle are verified
 */
export function checkKubernetes(
  source: SoftwareSource,
  version: string,
  programs: readonly KubernetesProgram[] = KUBERNETES_PROGRAMS,
): string {
  const own = sourceOfVersion(source, version);
  return "packages" in own
    ? checkPackages(own.packages.repository, version)
    : checkBundle(own.bundle, version, programs);
}

/**
 * Returns shell lines that import the bundle's images into containerd, unless it has all that are needed.
 *
 * @param asked whose kubeadm lists the images: the one on the machine, or the bundle's own while that on the machine is
 * older
 */
export function importBundleImages(
  { source, imageRepository }: Pick<ClusterSpecification, "source" | "imageRepository">,
  version: string,
  asked: "machine" | "bundle" = "machine",
): string {
  const own = sourceOfVersion(source, version);
  return "packages" in own ? ":" : importImages(own.bundle, version, asked, imageRepository);
}
