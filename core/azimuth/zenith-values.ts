import { stringify } from "yaml";
import type { JsonObject } from "../merge";

/** Where the tunnel to the cluster's API server comes out. */
export interface ZenithEndpoint {
  fqdn: string;
  /** Secret with the private key of whoever dials. */
  secret: string;
}

/** An object that the chart `zenith-apiserver` renders. */
export interface RenderedObject {
  kind?: string;
  data?: Readonly<Record<string, string>>;
  stringData?: Readonly<Record<string, string>>;
  [field: string]: unknown;
}

const MANIFEST = "/etc/kubernetes/manifests/zenith-apiserver.yaml";
const FOLDER = "/etc/zenith";

/** Stands for the private key while its chart is rendered: no rendered file ever holds the key itself. */
const KEY_PLACEHOLDER = "dGhlIHByaXZhdGUga2V5";

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

/**
 * The files that each control plane gets: the tunnel's client as a static pod, and beside it what its chart puts into
 * Secrets and ConfigMaps. Where the private key belongs, the file names the Secret that has it; Cluster API reads it
 * from there.
 *
 * @param secret with the private key as `id_ed25519`
 * @throws Error when the chart renders no Pod, or has no place for the key
 */
export function tunnelFiles(objects: readonly RenderedObject[], secret: string): JsonObject[] {
  const pods = objects.filter(({ kind }) => kind === "Pod");
  const keys = objects.flatMap((object) =>
    ["Secret", "ConfigMap"].includes(object.kind ?? "") ? Object.entries(contents(object)) : [],
  );
  const hasKey = keys.some(([, content]) => isKey(content));
  if (pods.length === 0 || !hasKey)
    throw new Error(
      `the chart of the Zenith API server renders no ${hasKey ? "Pod" : "file for the private key"}: is it zenith-apiserver?`,
    );
  const rights = { owner: "root:root", permissions: "0600" };
  const manifest = base64(pods.map((pod) => stringify(pod)).join("---\n"));
  return [
    { path: MANIFEST, content: manifest, encoding: "base64", ...rights },
    ...keys
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, content]) => ({
        path: `${FOLDER}/${key}`,
        ...(isKey(content)
          ? { contentFrom: { secret: { name: secret, key: "id_ed25519" } } }
          : { content, encoding: "base64" }),
        ...rights,
      })),
  ];
}

/** A chart takes the key as text, or in base64 already. @param content in base64 */
function isKey(content: string): boolean {
  return content === KEY_PLACEHOLDER || content === base64(KEY_PLACEHOLDER);
}

/** Key → content in base64. */
function contents({ kind, data = {}, stringData = {} }: RenderedObject): Record<string, string> {
  const encoded = (map: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(map).map(([key, text]) => [key, base64(text)]));
  return kind === "Secret" ? { ...data, ...encoded(stringData) } : encoded(data);
}

/** The chart's values for an API server that is reached through Zenith alone. */
export function zenithValues(
  { fqdn, secret }: ZenithEndpoint,
  objects: readonly RenderedObject[],
  { monitoring }: { monitoring: boolean },
): JsonObject {
  return {
    controlPlaneEndpoint: { host: fqdn, port: 443 },
    apiServer: { enableLoadBalancer: false, associateFloatingIP: false },
    controlPlane: {
      kubeadmConfigSpec: { useExperimentalRetryJoin: true, files: tunnelFiles(objects, secret) },
    },
    ...(monitoring ? { addons: { custom: { [MONITORING]: monitoringClient() } } } : {}),
  };
}

const MONITORING = "kube-prometheus-stack-client";

/** Shows Grafana of the cluster's monitoring through Zenith. */
function monitoringClient(): JsonObject {
  const reservation = {
    apiVersion: "zenith.stackhpc.com/v1alpha1",
    kind: "Reservation",
    metadata: {
      name: MONITORING,
      annotations: { "azimuth.stackhpc.com/service-label": "Monitoring" },
    },
    spec: { credentialSecretName: `${MONITORING}-zenith-credential` },
  };
  const client = {
    apiVersion: "zenith.stackhpc.com/v1alpha1",
    kind: "Client",
    metadata: { name: MONITORING },
    spec: {
      reservationName: MONITORING,
      upstream: { serviceName: "kube-prometheus-stack-grafana", port: 80, scheme: "http" },
      mitmProxy: {
        enabled: true,
        authInject: {
          type: "Basic",
          basic: {
            secretName: "kube-prometheus-stack-grafana",
            usernameKey: "admin-user",
            passwordKey: "admin-password",
          },
        },
      },
    },
  };
  const manifests = { "client.yaml": stringify(client), "reservation.yaml": stringify(reservation) };
  return { kind: "Manifests", spec: { namespace: "monitoring-system", manifests } };
}

/** Values of the chart `zenith-apiserver`, with something in the key's place. */
export function tunnelValues(server: { host: string; port: number }): JsonObject {
  return { zenithClient: { sshPrivateKeyData: KEY_PLACEHOLDER, server: { ...server } } };
}

/** Where Zenith is. */
export interface ZenithSettings {
  registrarAdminUrl: string;
  sshdHost: string;
  sshdPort: number;
}

/** Values of the chart `zenith-operator` of a cluster. */
export function operatorValues(
  cluster: string,
  { registrarAdminUrl, sshdHost, sshdPort }: ZenithSettings,
  projectId: string,
): JsonObject {
  return {
    kubeconfigSecret: { name: `${cluster}-kubeconfig`, key: "value" },
    config: { registrarAdminUrl, sshdHost, sshdPort, defaultAuthParams: { "tenancy-id": projectId } },
  };
}
