import type { JsonObject } from "../../../../lib/merge";
import type { Role } from "./machine";
import type { Registries } from "../configuration/registries";

/** Source of the Kubernetes software on a machine. */
export type SoftwareSource =
  | {
      packages: {
        repository: string;
        /** OpenPGP fingerprint of the repository's key; absent for the community's repository. */
        keyFingerprint?: string;
      };
    }
  | { bundle: { path: string } }
  | { bundle: { url: string; sha256: string } };

/** Placeholder for MAJOR.MINOR.PATCH in a bundle's path or URL, so that one configuration serves several versions. */
export const VERSION_PLACEHOLDER = "{version}";

/** The community's apt repository; {minor} is replaced by MAJOR.MINOR. */
export const COMMUNITY_REPOSITORY = "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/";

/**
 * Fingerprint of the key of the community's apt repository. The key's expiry is extended from time to time; the
 * fingerprint stays. Sources: https://github.com/kubernetes/kubernetes/issues/128609,
 * https://github.com/puppetlabs/puppetlabs-kubernetes/blob/main/manifests/repos.pp
 */
const COMMUNITY_KEY = "DE15B14486CD377B9E876E1A234654DA9A296436";

/** Returns the fingerprint of a repository's key, or undefined when the configuration has to name it. */
export function keyFingerprintOf(packages: {
  repository?: string;
  keyFingerprint?: string;
}): string | undefined {
  const { repository = COMMUNITY_REPOSITORY, keyFingerprint } = packages;
  const isCommunity =
    URL.canParse(repository) && new URL(repository).host === new URL(COMMUNITY_REPOSITORY).host;
  return keyFingerprint ?? (isCommunity ? COMMUNITY_KEY : undefined);
}

/** Returns the source with the version filled in. */
export function sourceOfVersion(source: SoftwareSource, version: string): SoftwareSource {
  if ("packages" in source) return source;
  const fill = (text: string) => text.replaceAll(VERSION_PLACEHOLDER, version);
  const { bundle } = source;
  if ("path" in bundle) return { bundle: { path: fill(bundle.path) } };
  return { bundle: { ...bundle, url: fill(bundle.url) } };
}

/** How nodes find an API server: haproxy on each node, or an external address that foresail does not manage. */
export type Endpoint = { loopback: { port: number } } | { external: { host: string; port: number } };

/** A file to write to machines before Kubernetes starts. */
export interface ExtraFile {
  path: string;
  content: string;
  mode: string;
  owner?: string;
  /** Machines that get the file. @default all */
  role?: Role;
}

/** A claim of a token, and what is put before its value. */
interface ClaimMapping {
  claim: string;
  prefix: string;
}

/** An issuer of OpenID Connect tokens, with the fields of the API server's AuthenticationConfiguration. */
export interface TokenIssuer {
  issuer: { url: string; audiences: string[]; certificateAuthority?: string };
  claimMappings: { username: ClaimMapping; groups?: ClaimMapping };
  claimValidationRules?: { claim: string; requiredValue: string }[];
}

/** Who may log in to the API servers, besides holders of client certificates and service accounts. */
export interface Authentication {
  oidc?: TokenIssuer[];
}

/** Settings of the machines of one pool, over those of the cluster; absent where it has none of a kind. */
export interface PoolSettings extends Partial<Registries> {
  kubelet?: JsonObject;
  files?: ExtraFile[];
}

/** Common settings of a cluster's machines, as plain data with the defaults filled in. */
export interface ClusterSpecification extends Registries {
  name: string;
  /** Kubernetes version, MAJOR.MINOR.PATCH. */
  version: string;
  source: SoftwareSource;
  endpoint: Endpoint;
  network: {
    podCidr: string;
    serviceCidr: string;
    dnsDomain: string;
    bridge: boolean;
    /** Puts on each machine the address by which others reach it, if none of its devices has it. */
    holdNodeAddress?: boolean;
  };
  kubeadm: {
    clusterConfiguration?: JsonObject;
    initConfiguration?: JsonObject;
    joinConfiguration?: JsonObject;
  };
  kubelet: JsonObject;
  kubeProxy: JsonObject;
  files: ExtraFile[];
  /** Already part of `files` and `kubeadm`; kept to name it in previews. Absent when it is not configured. */
  authentication?: Authentication;
  /** As authentication. */
  profile?: "cis";
  proxy?: { http?: string; https?: string; noProxy: string[]; credentials?: ProxyCredentials };
  /** Additional names in the certificates of the API servers; absent in state of older releases. */
  certificateNames?: string[];
  imageRepository?: string;
  caBundle?: string;
  encryptSecretsAtRest: boolean;
  /** Generation of the key for Secrets at rest; absent until its first rotation. */
  encryptionKeyGeneration?: number;
  ignorePreflightErrors: string[];
  /** Settings of pools, over those above; absent for none. */
  pools?: Readonly<Record<string, PoolSettings>>;
}

/** User and password of the machines' proxy. A specification with them is secret as a whole. */
export type ProxyCredentials = Record<"username" | "password", string>;

/** Returns the files of a machine of this role. */
export const filesOf = ({ files }: Pick<ClusterSpecification, "files">, role: Role): ExtraFile[] =>
  files.filter((file) => file.role === undefined || file.role === role);

/** Returns host:port of the API server as the nodes use it, for kubeadm's controlPlaneEndpoint. */
export function controlPlaneEndpoint(endpoint: Endpoint): string {
  return "loopback" in endpoint
    ? `127.0.0.1:${endpoint.loopback.port}`
    : `${endpoint.external.host}:${endpoint.external.port}`;
}
