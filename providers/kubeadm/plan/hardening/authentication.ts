import { type JsonObject, mergeObjects } from "../../../../lib/merge";
import { parseVersion } from "../rollout/versions";
import type { Authentication, ClusterSpecification, TokenIssuer } from "../cluster/specification";

/** The API servers' AuthenticationConfiguration on control planes. */
export const AUTHENTICATION_FILE = "/etc/kubernetes/authentication/configuration.yaml";
export const AUTHENTICATION_ARGUMENT = "authentication-config";

/** Otherwise an issuer could name a user or group to whom Kubernetes gives permissions of its own. */
const RESERVED = [
  {
    expression: "!user.username.startsWith('system:')",
    message: "user names that begin with system: are reserved for Kubernetes",
  },
  {
    expression: "user.groups.all(group, !group.startsWith('system:'))",
    message: "groups that begin with system: are reserved for Kubernetes",
  },
];

/**
 * Returns the version of the API. 1.34 reads both: a machine that joins while 1.34 rolls out has the file of the new
 * version and an API server of the old one, so v1 begins a minor version later than it could.
 */
const apiVersion = (version: string) =>
  `apiserver.config.k8s.io/${(parseVersion(version)?.minor ?? 0) >= 35 ? "v1" : "v1beta1"}`;

function authenticator({ issuer, claimMappings, claimValidationRules = [] }: TokenIssuer): JsonObject {
  return {
    issuer: {
      ...issuer,
      // required with several audiences
      ...(issuer.audiences.length > 1 ? { audienceMatchPolicy: "MatchAny" } : {}),
    },
    claimMappings: Object.fromEntries(
      Object.entries(claimMappings).map(([name, mapping]) => [name, { ...mapping }]),
    ),
    ...(claimValidationRules.length > 0
      ? { claimValidationRules: claimValidationRules.map((one) => ({ ...one })) }
      : {}),
    userValidationRules: RESERVED,
  };
}

/**
 * Returns the text of the AuthenticationConfiguration: JSON is YAML.
 *
 * @param anonymous paths that requests without credentials may read. @default as the API server's arguments say
 */
export function authenticationConfiguration(
  version: string,
  { oidc = [] }: Authentication,
  anonymous?: readonly string[],
): string {
  const conditions = anonymous?.map((path) => ({ path }));
  const configuration = {
    apiVersion: apiVersion(version),
    kind: "AuthenticationConfiguration",
    ...(conditions ? { anonymous: { enabled: true, conditions } } : {}),
    jwt: oidc.map(authenticator),
  };
  return `${JSON.stringify(configuration, null, 2)}\n`;
}

/**
 * Returns a specification whose API servers accept the tokens of these issuers, and anonymous requests for these paths
 * alone; unchanged without both.
 */
export function withAuthentication(
  specification: ClusterSpecification,
  authentication: Authentication,
  anonymous?: readonly string[],
): ClusterSpecification {
  const hasIssuers = (authentication.oidc ?? []).length > 0;
  if (!hasIssuers && anonymous === undefined) return specification;
  const { version, files, kubeadm } = specification;
  const path = AUTHENTICATION_FILE;
  const volume = { name: "foresail-authentication", hostPath: path, mountPath: path };
  const apiServer = {
    extraArgs: [{ name: AUTHENTICATION_ARGUMENT, value: path }],
    extraVolumes: [{ ...volume, readOnly: true, pathType: "File" }],
  };
  const content = authenticationConfiguration(version, authentication, anonymous);
  return {
    ...specification,
    ...(hasIssuers ? { authentication } : {}),
    files: [...files, { path, content, mode: "0600", role: "control-plane" }],
    kubeadm: {
      ...kubeadm,
      clusterConfiguration: mergeObjects({ apiServer }, kubeadm.clusterConfiguration),
    },
  };
}
