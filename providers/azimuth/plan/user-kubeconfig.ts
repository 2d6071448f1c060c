import { stringify } from "yaml";
import { parseYaml } from "../../../lib/yaml";
import type { OidcIssuer } from "./cluster-values";

/**
 * The fields of a cluster's entry that users receive: none that names a file of theirs, runs a program or skips checks.
 */
const CLUSTER_FIELDS = ["server", "certificate-authority-data", "tls-server-name"];
const PRINTABLE = /^[\x21-\x7e]+$/;

interface Named {
  name?: unknown;
  cluster?: Record<string, unknown>;
}

/**
 * Returns the kubeconfig with which a cluster's users log in to the realm with `kubectl oidc-login`, as
 * azimuth-capi-operator creates it from the administrator's: the same cluster, no credentials.
 *
 * @param adminKubeconfig YAML of Cluster API's kubeconfig
 * @returns YAML
 * @throws Error when it has no cluster with an https server, or the issuer is not a URL
 */
export function userKubeconfig(adminKubeconfig: string, { issuerUrl, clientId }: OidcIssuer): string {
  const { name, server, fields } = firstCluster(adminKubeconfig);
  if (!URL.canParse(issuerUrl) || ![issuerUrl, clientId, server].every((text) => PRINTABLE.test(text)))
    throw new Error("its issuer, client id and server must be plain text without spaces");
  const context = `oidc@${name}`;
  const args = [
    "oidc-login",
    "get-token",
    "--grant-type=device-code",
    `--oidc-issuer-url=${issuerUrl}`,
    `--oidc-client-id=${clientId}`,
  ];
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: fields }],
    users: [
      {
        name: "oidc",
        user: { exec: { apiVersion: "client.authentication.k8s.io/v1beta1", command: "kubectl", args } },
      },
    ],
    contexts: [{ name: context, context: { cluster: name, user: "oidc" } }],
    "current-context": context,
    preferences: {},
  });
}

function firstCluster(kubeconfig: string): { name: string; server: string; fields: Record<string, unknown> } {
  const clusters = (parseYaml(kubeconfig) as { clusters?: (Named | null)[] } | null)?.clusters;
  const { name, cluster } = (Array.isArray(clusters) ? clusters[0] : undefined) ?? {};
  const server = cluster?.["server"];
  if (typeof name !== "string" || typeof server !== "string" || !server.startsWith("https://"))
    throw new Error("it has no cluster with an https server");
  const fields = Object.entries(cluster ?? {}).filter(([field]) => CLUSTER_FIELDS.includes(field));
  return { name, server, fields: Object.fromEntries(fields) };
}
