import type { Role } from "../plan/cluster/machine";
import type { MachineSpecification } from "../plan/cluster/pools";
import { askedHost, hostsToml, mirroredRegistries } from "../plan/configuration/registries";
import {
  controlPlaneEndpoint,
  filesOf,
  keyFingerprintOf,
  sourceOfVersion,
  type ClusterSpecification,
  type ProxyCredentials,
  type SoftwareSource,
} from "../plan/cluster/specification";
import { assertCredentials } from "../plan/validation/settings";
import type { Parameters } from "./shell";

/** Returns the shell files with the functions that install Kubernetes from a source. */
export function sourceFiles(source: SoftwareSource): string[] {
  return ["packages" in source ? "common/kubernetes-packages" : "common/kubernetes-bundle"];
}

/** Returns the variables of the functions in sourceFiles. */
export function sourceParameters(
  { source, imageRepository = "" }: Pick<ClusterSpecification, "source" | "imageRepository">,
  version: string,
): Parameters {
  const common = { VERSION: version, IMAGE_REPOSITORY: imageRepository };
  const own = sourceOfVersion(source, version);
  if ("packages" in own) {
    const minor = version.split(".").slice(0, 2).join(".");
    const address = own.packages.repository.replaceAll("{minor}", minor);
    const KEY_FINGERPRINT = keyFingerprintOf(own.packages) ?? "";
    return { ...common, REPOSITORY: address.replace(/\/?$/, "/"), KEY_FINGERPRINT };
  }
  const none = { url: "", sha256: "" };
  const { path, url, sha256 } = { path: "/var/lib/foresail/bundle", ...none, ...own.bundle };
  return { ...common, BUNDLE: path, BUNDLE_URL: url, BUNDLE_SHA256: sha256 };
}

/**
 * Returns the variables of an HTTP proxy, as NAME=value; the cluster's own addresses never use it.
 *
 * @param machines internal addresses of the cluster's machines. The kubelet of a control plane reaches its own API server
 * by one of them, and not every program understands blocks
 */
export function proxyVariables(
  { proxy, network, endpoint }: Pick<ClusterSpecification, "proxy" | "network" | "endpoint">,
  machines: readonly string[],
): string[] {
  if (!proxy) return [];
  const { http, https, noProxy, credentials } = proxy;
  const { podCidr, serviceCidr, dnsDomain } = network;
  const own = ["127.0.0.1", "localhost", podCidr, serviceCidr, `.${dnsDomain}`, ".svc"];
  // the kubelet connects to the API server by this name
  const external = "external" in endpoint ? [endpoint.external.host] : [];
  return [
    ...(http ? [`HTTP_PROXY=${withCredentials(http, credentials)}`] : []),
    ...(https ? [`HTTPS_PROXY=${withCredentials(https, credentials)}`] : []),
    `NO_PROXY=${[...new Set([...own, ...external, ...machines, ...noProxy])].join(",")}`,
  ];
}

/** Returns a proxy's URL with user and password; every special character of theirs is encoded, quotes included. */
function withCredentials(url: string, credentials: ProxyCredentials | undefined): string {
  if (!credentials) return url;
  const encoded = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  return url.replace("://", () => `://${encoded(credentials.username)}:${encoded(credentials.password)}@`);
}

/** Returns the variables of the functions in common/moved-endpoint. @param former endpoints that nodes had before */
export const endpointParameters = (
  { endpoint }: Pick<ClusterSpecification, "endpoint">,
  former: readonly string[] = [],
): Parameters => ({ ENDPOINT: controlPlaneEndpoint(endpoint), FORMER_ENDPOINTS: former });

/** Returns the variables of the functions in common/settings, except PROXY. */
export function settingsParameters(specification: MachineSpecification, role: Role) {
  const { caBundle = "" } = specification;
  const registries = mirroredRegistries(specification);
  const files = filesOf(specification, role);
  return {
    CA_BUNDLE: caBundle,
    REGISTRIES: registries,
    REGISTRY_HOSTS: registries.map((registry) => hostsToml(registry, specification)),
    FILE_PATHS: files.map((file) => file.path),
    FILE_MODES: files.map(({ mode }) => mode),
    FILE_OWNERS: files.map(({ owner = "" }) => owner),
    FILE_CONTENTS: files.map(({ content }) => content),
  } satisfies Parameters;
}

/**
 * Returns registry credentials in the form of containerd's configuration; secret, so passed on standard input.
 *
 * @throws Error for credentials that a line of the file can't contain
 */
export function registryCredentialsToml(
  credentials: Record<string, { username: string; password: string }>,
): string {
  assertCredentials(credentials);
  const hosts = Object.entries(credentials).filter(
    // the host that is written as such counts
    ([registry]) => askedHost(registry) === registry || !Object.hasOwn(credentials, askedHost(registry)),
  );
  return [...new Map(hosts.map(([registry, own]) => [askedHost(registry), own]))]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(
      ([host, { username, password }]) =>
        `[plugins."io.containerd.grpc.v1.cri".registry.configs.${JSON.stringify(host)}.auth]\n` +
        `  username = ${JSON.stringify(username)}\n  password = ${JSON.stringify(password)}\n`,
    )
    .join("");
}
