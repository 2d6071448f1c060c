import { stringify } from "yaml";
import type { JsonObject } from "../merge";

/** Where the tunnel to the cluster's API server comes out. */
export interface ZenithEndpoint {
  fqdn: string;
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

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

function file(path: string, content: string): JsonObject {
  return { path, content, encoding: "base64", owner: "root:root", permissions: "0600" };
}

/**
 * The files that each control plane gets: the tunnel's client as a static pod, and beside it what its chart puts into
 * Secrets and ConfigMaps.
 *
 * @throws Error when the chart renders no Pod
 */
export function tunnelFiles(objects: readonly RenderedObject[]): JsonObject[] {
  const pods = objects.filter(({ kind }) => kind === "Pod");
  if (pods.length === 0)
    throw new Error("the chart of the Zenith API server renders no Pod: is it zenith-apiserver?");
  const keys = objects.flatMap((object) =>
    ["Secret", "ConfigMap"].includes(object.kind ?? "") ? Object.entries(contents(object)) : [],
  );
  return [
    file(MANIFEST, base64(pods.map((pod) => stringify(pod)).join("---\n"))),
    ...keys
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, content]) => file(`${FOLDER}/${key}`, content)),
  ];
}

/** Key → content in base64. */
function contents({ kind, data = {}, stringData = {} }: RenderedObject): Record<string, string> {
  const encoded = (map: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(map).map(([key, text]) => [key, base64(text)]));
  return kind === "Secret" ? { ...data, ...encoded(stringData) } : encoded(data);
}

/** The chart's values for an API server that is reached through Zenith alone. */
export function zenithValues(
  { fqdn }: ZenithEndpoint,
  objects: readonly RenderedObject[],
  { monitoring }: { monitoring: boolean },
): JsonObject {
  return {
    controlPlaneEndpoint: { host: fqdn, port: 443 },
    apiServer: { enableLoadBalancer: false, associateFloatingIP: false },
    controlPlane: {
      kubeadmConfigSpec: { useExperimentalRetryJoin: true, files: tunnelFiles(objects) },
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

/** Values of the chart `zenith-apiserver`. */
export function tunnelValues(privateKey: string, server: { host: string; port: number }): JsonObject {
  return { zenithClient: { sshPrivateKeyData: privateKey, server: { ...server } } };
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
