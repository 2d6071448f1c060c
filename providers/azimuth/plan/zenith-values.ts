import { createHash } from "node:crypto";
import { stringify } from "yaml";
import { isObject } from "../../../lib/json";
import type { JsonObject } from "../../../lib/merge";
import { parseYaml } from "../../../lib/yaml";
import { mergeValues } from "./values";
import { headlampClient, monitoringClient } from "./zenith-clients";

/** Where the tunnel to the cluster's API server ends. */
interface ZenithEndpoint {
  fqdn: string;
  /** Secret with the files that contain the key. */
  secret: string;
}

/** An object that the chart `zenith-apiserver` renders. */
export interface RenderedObject {
  kind?: string;
  data?: Readonly<Record<string, string>>;
  binaryData?: Readonly<Record<string, string>>;
  stringData?: Readonly<Record<string, string>>;
  [field: string]: unknown;
}

/** A file that contains the private key, with a placeholder for the key. */
export interface KeyedFile {
  name: string;
  text: string;
}

/** What each control plane needs for the tunnel. */
export interface Tunnel {
  /** The static pod, as YAML. */
  manifest: string;
  /** File name → base64 content of the files without the key. */
  files: Record<string, string>;
  keyed: KeyedFile[];
  /** Why the chart can't be used. */
  issue?: string;
}

const MANIFEST = "/etc/kubernetes/manifests/zenith-apiserver.yaml";
const FOLDER = "/etc/zenith";
/** The setting of Zenith's client that contains the private key in base64. */
const KEY_SETTING = "ssh_private_key_data";

const base64 = (content: string | Buffer): string => Buffer.from(content).toString("base64");

/**
 * Placeholder for the base64 private key while its chart is rendered, so that no rendered file contains the key itself.
 */
const KEY_PLACEHOLDER = base64("the private key");

/**
 * Reads the rendered chart of the tunnel (with `tunnelValues`): its Pod, and each file of its ConfigMaps and Secrets.
 * The result has an `issue` when the chart can't be used, because it would waste a reserved name and create an
 * unreachable cluster.
 */
export function readTunnel(objects: readonly RenderedObject[]): Tunnel {
  const pods = objects.filter(({ kind }) => kind === "Pod").map((pod) => stringify(pod));
  const files = objects.flatMap((object) => Object.entries(contents(object)));
  const keyed = files
    .map(([name, content]) => ({ name, text: content.toString("utf8") }))
    .filter(({ text }) => text.includes(KEY_PLACEHOLDER));
  const twice = files.find(([name], index) => files.findIndex(([other]) => other === name) !== index);
  const issue = issueOf(pods, keyed, twice?.[0]);
  return {
    manifest: pods.join("---\n"),
    files: Object.fromEntries(
      files
        .filter(([name]) => !keyed.some((file) => file.name === name))
        .map(([name, content]) => [name, base64(content)]),
    ),
    keyed,
    ...(issue === undefined ? {} : { issue: unusableChart(issue) }),
  };
}

function issueOf(
  pods: readonly string[],
  keyed: readonly KeyedFile[],
  twice: string | undefined,
): string | undefined {
  if (pods.length === 0) return "renders no Pod";
  if (!keyed.some(({ text }) => settingOf(text) === KEY_PLACEHOLDER))
    return `renders no file with the private key as ${KEY_SETTING}`;
  if (pods.some((pod) => pod.includes(KEY_PLACEHOLDER)))
    return "puts the private key into its Pod, where everybody can read it";
  return twice === undefined ? undefined : `renders the file ${twice} twice`;
}

/** Returns the message for a chart that can't be used. @param issue "renders no Pod" */
export function unusableChart(issue: string): string {
  return (
    `the chart of the Zenith API server (azimuth.charts.zenithApiServer) ${issue}; ` +
    "use zenith-apiserver of Zenith, or a chart that renders what it does"
  );
}

function settingOf(text: string): unknown {
  const settings = parseYaml(text);
  return isObject(settings) ? settings[KEY_SETTING] : undefined;
}

/** Returns file name → content. */
function contents(object: RenderedObject): Record<string, Buffer> {
  const { kind, data = {}, binaryData = {}, stringData = {} } = object;
  const decode = (map: Readonly<Record<string, string>>, encoding: BufferEncoding) =>
    Object.fromEntries(Object.entries(map).map(([name, text]) => [name, Buffer.from(text, encoding)]));
  if (kind === "ConfigMap") return { ...decode(binaryData, "base64"), ...decode(data, "utf8") };
  if (kind === "Secret") return { ...decode(data, "base64"), ...decode(stringData, "utf8") };
  return {};
}

/**
 * Returns the Secret's entry for a keyed file. The name contains a hash of the file, so that a change also changes the
 * specification and Cluster API replaces the control planes; the content of a Secret alone does not.
 */
export function keyedEntry({ name, text }: KeyedFile): string {
  return `${name}.${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
}

/** Returns the content of a keyed file. @param privateKey OpenSSH text */
export function withKey({ text }: KeyedFile, privateKey: string): string {
  return text.replaceAll(KEY_PLACEHOLDER, base64(privateKey));
}

/**
 * Returns the files for each control plane: the tunnel's client as a static pod, and every file of its chart. Files
 * with the private key refer to their Secret, from which Cluster API reads them.
 */
function tunnelFiles({ manifest, files, keyed }: Tunnel, secret: string): JsonObject[] {
  const rights = { owner: "root:root", permissions: "0600" };
  const plain = Object.entries(files).map(([name, content]) => ({
    name,
    source: { content, encoding: "base64" },
  }));
  const fromSecret = keyed.map((file) => ({
    name: file.name,
    source: { contentFrom: { secret: { name: secret, key: keyedEntry(file) } } },
  }));
  return [
    { path: MANIFEST, content: base64(manifest), encoding: "base64", ...rights },
    ...[...plain, ...fromSecret]
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, source }) => ({ path: `${FOLDER}/${name}`, ...source, ...rights })),
  ];
}

/** Returns the chart's values for an API server that is reachable only through Zenith. */
export function zenithValues(
  { fqdn, secret }: ZenithEndpoint,
  tunnel: Tunnel,
  { monitoring, dashboard = false }: { monitoring: boolean; dashboard?: boolean | undefined },
): JsonObject {
  const clients = { ...(monitoring ? monitoringClient() : {}), ...(dashboard ? headlampClient() : {}) };
  return {
    controlPlaneEndpoint: { host: fqdn, port: 443 },
    apiServer: { enableLoadBalancer: false, associateFloatingIP: false },
    controlPlane: {
      kubeadmConfigSpec: { useExperimentalRetryJoin: true, files: tunnelFiles(tunnel, secret) },
    },
    ...(Object.keys(clients).length > 0 ? { addons: { custom: clients } } : {}),
  };
}

/** Returns values of the chart `zenith-apiserver`, with a placeholder for the base64 key. */
export function tunnelValues(server: { host: string; port: number }, defaults?: JsonObject): JsonObject {
  return mergeValues(defaults, {
    zenithClient: { sshPrivateKeyData: KEY_PLACEHOLDER, server: { ...server } },
  });
}

/** The addresses of Zenith. */
export interface ZenithSettings {
  registrarAdminUrl: string;
  sshdHost: string;
  sshdPort: number;
  /** Values of the chart `zenith-apiserver`, below foresail's own. */
  apiserverDefaults?: JsonObject | undefined;
  /** Values of the chart `zenith-operator`, below foresail's own. */
  operatorDefaults?: JsonObject | undefined;
}

/** Returns values of the chart `zenith-operator` of a cluster. */
export function operatorValues(
  cluster: string,
  { registrarAdminUrl, sshdHost, sshdPort, operatorDefaults }: ZenithSettings,
  projectId: string,
): JsonObject {
  return mergeValues(operatorDefaults, {
    kubeconfigSecret: { name: `${cluster}-kubeconfig`, key: "value" },
    config: { registrarAdminUrl, sshdHost, sshdPort, defaultAuthParams: { "tenancy-id": projectId } },
  });
}
