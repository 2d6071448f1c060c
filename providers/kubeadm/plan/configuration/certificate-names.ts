import { differingPaths } from "../../../../lib/differences";
import { isObject } from "../../../../lib/json";
import type { ConfigurationPath } from "../../../../lib/validation/validation-issue";
import type { ClusterSpecification } from "../cluster/specification";

type Settings = Partial<Pick<ClusterSpecification, "certificateNames" | "kubeadm">>;

const CERT_SANS = ["kubeadm", "clusterConfiguration", "apiServer", "certSANs"];

/** Returns the names in `certSANs` of kubeadm's ClusterConfiguration; none for what is not a list of names. */
function certSANsOf({ kubeadm }: Settings): string[] {
  const apiServer = kubeadm?.clusterConfiguration?.["apiServer"];
  const names = isObject(apiServer) ? apiServer["certSANs"] : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** Returns the names that a stack adds to the certificates of its API servers, each once, in alphabetical order. */
export const addedNames = (settings: Settings): string[] =>
  [...new Set([...(settings.certificateNames ?? []), ...certSANsOf(settings)])].sort();

/** Returns the fields in which two stacks add different names; the order does not matter. */
export function differingNames(olds: Settings, news: Settings): ConfigurationPath[] {
  const differ = (before: readonly string[] = [], after: readonly string[] = []) =>
    differingPaths([...before].sort(), [...after].sort()).length > 0;
  return [
    ...(differ(olds.certificateNames, news.certificateNames) ? [["certificateNames"]] : []),
    ...(differ(certSANsOf(olds), certSANsOf(news)) ? [CERT_SANS] : []),
  ];
}

/**
 * Returns the setting by which the API servers have another certificate than the one that kubeadm writes to
 * /etc/kubernetes/pki, if any.
 *
 * @param clusterConfiguration of kubeadm
 */
export function foreignCertificate(
  clusterConfiguration: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const { certificatesDir, apiServer } = clusterConfiguration;
  if (certificatesDir !== undefined && certificatesDir !== "/etc/kubernetes/pki") return "certificatesDir";
  const { extraArgs } = isObject(apiServer) ? apiServer : {};
  const isOfCertificate = (argument: unknown) =>
    isObject(argument) && ["tls-cert-file", "tls-private-key-file"].includes(String(argument["name"]));
  return Array.isArray(extraArgs) && extraArgs.some(isOfCertificate)
    ? "apiServer.extraArgs tls-cert-file"
    : undefined;
}
