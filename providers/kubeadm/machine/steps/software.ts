import { sourceOfVersion, type ClusterSpecification, type SoftwareSource } from "../../plan/specification";
import { checkBundle, importImages, installFromBundle } from "./kubernetes-bundle";
import { checkPackages, installFromPackages } from "./kubernetes-packages";
import { KUBERNETES_PROGRAMS, type KubernetesProgram } from "./kubernetes-programs";

/** Distribution packages that a node needs whatever Kubernetes comes from. */
const PACKAGES = ["containerd", "conntrack", "socat", "iptables", "ethtool", "curl", "ca-certificates"];

/** A new machine's own updates hold dpkg's lock for a while. */
const LOCK = "-o DPkg::Lock::Timeout=300";

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

/** Shell lines that bring the named programs of the wanted version, unless they are there; default all three. */
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
 * Shell lines that refuse when the source has not got the version, exit code 65 or 66. They install nothing.
 *
 * @param programs whose checksums in a bundle are looked at; default all three
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
 * Shell lines that import the bundle's images into containerd, those that it has not got yet.
 *
 * @param asked whose kubeadm names the images: the one on the machine, or the bundle's own while that is older
 */
export function importBundleImages(
  { source, imageRepository }: Pick<ClusterSpecification, "source" | "imageRepository">,
  version: string,
  asked: "machine" | "bundle" = "machine",
): string {
  const own = sourceOfVersion(source, version);
  return "packages" in own ? ":" : importImages(own.bundle, version, asked, imageRepository);
}
