import { monitorServices } from "../../providers/azimuth/client/services-monitor";
import { KubernetesClient } from "../../lib/kubernetes";
import { follow } from "../../lib/kubernetes/follow";
import { API, SERVICES_ANNOTATION } from "../../providers/azimuth/plan/names";
import {
  AZIMUTH_DEFINITIONS,
  CLUSTER_API_DEFINITIONS,
  ZENITH_DEFINITIONS,
} from "../../sandbox/azimuth/definitions";
import { installDefinitions } from "../../sandbox/management/definitions";
import { BareApiServer } from "../../test/simulation/bare-api-server";
import { measureRequests } from "../azimuth-requests";
import type { Measurement } from "../measurement";
import type { Row } from "../results";
import { summarize } from "../statistics";

const SIZES = [1, 10, 100];
const EVENTS = 60;
const GOAL_SECONDS = 1;
const LIMIT_SECONDS = 60;
const NAMESPACE = "az-bench";
const KUBERNETES_VERSION = "1.36.3";

/** How quickly the monitor of a cluster's services writes an event. */
export const azimuth: Measurement = {
  name: "azimuth",
  title: "Services of a cluster through Azimuth",
  summary: `from a Reservation's event to record and annotation, at ${SIZES.join(", ")} services; requests of an up`,
  async measure({ toolchain, load, say, rounds }) {
    const programs = toolchain.kubernetes(KUBERNETES_VERSION);
    const api = await new BareApiServer({
      programs: { etcd: programs.etcd, kubeApiserver: programs["kube-apiserver"] },
    }).start();
    const client = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 30 });
    try {
      await makeCluster(client, api.kubeconfig());
      const rows: Row[] = [];
      for (const size of SIZES) {
        await load.settle();
        const seconds = await latencies(client, size, (rounds ?? 1) * EVENTS);
        const p99 = percentile(seconds, 0.99);
        say(`${size} services: median ${percentile(seconds, 0.5).toFixed(3)} s, p99 ${p99.toFixed(3)} s`);
        rows.push(
          { what: `event → record and annotation, ${size} services`, unit: "s", figure: summarize(seconds) },
          {
            what: `event → record and annotation, ${size} services, 99th percentile`,
            unit: "s",
            figure: summarize([p99]),
            wanted: { words: `≤ ${GOAL_SECONDS} s`, reached: p99 <= GOAL_SECONDS },
          },
        );
      }
      const notes = [
        `${EVENTS} Reservations at each size, one after another, beside those that are there: from the response to the write that makes it Ready until both objects contain it.`,
        "Requests are those of foresail in one `pulumi up` of one stack, by the API server's audit log; the others of ten clusters have stacks of their own.",
        "Management cluster and target are one real API server on this machine; the monitor runs in the process that measures.",
      ];
      await load.settle();
      rows.push(...(await measureRequests(toolchain, say)));
      return { rows, notes };
    } finally {
      client.close();
      await api.stop();
    }
  },
};

async function makeCluster(client: KubernetesClient, kubeconfig: string): Promise<void> {
  await installDefinitions(client, [
    ...AZIMUTH_DEFINITIONS,
    ...CLUSTER_API_DEFINITIONS,
    ...ZENITH_DEFINITIONS,
  ]);
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  const labels = {
    "capi.stackhpc.com/cluster": "demo",
    "addons.stackhpc.com/cluster": "demo",
    "addons.stackhpc.com/release-name": "site",
    "addons.stackhpc.com/release-namespace": NAMESPACE,
  };
  const cluster = {
    label: "demo",
    templateName: "t",
    cloudCredentialsSecretName: "c",
    controlPlaneMachineSize: "s",
    paused: true,
  };
  const chart = { repo: "https://r", name: "site", version: "1.0.0" };
  const of = (name: string) => ({ name, namespace: NAMESPACE });
  await client.create({ apiVersion: API.azimuth, kind: "Cluster", metadata: of("demo"), spec: cluster });
  await client.create({
    apiVersion: API.identity,
    kind: "Platform",
    metadata: of("kube-demo"),
    spec: { realmName: "r" },
  });
  await client.create({
    apiVersion: API.addons,
    kind: "HelmRelease",
    metadata: { ...of("demo-site"), labels },
    spec: { clusterName: "demo", targetNamespace: NAMESPACE, chart },
  });
  const value = Buffer.from(kubeconfig).toString("base64");
  await client.create({ apiVersion: "v1", kind: "Secret", metadata: of("demo-kubeconfig"), data: { value } });
}

async function reserve(client: KubernetesClient, name: string): Promise<void> {
  const [apiVersion, kind, namespace] = [API.zenith, "Reservation", NAMESPACE];
  const annotations = {
    "meta.helm.sh/release-name": "site",
    "meta.helm.sh/release-namespace": NAMESPACE,
  };
  await client.apply({ apiVersion, kind, metadata: { name, namespace, annotations }, spec: {} });
  // a valid subdomain has no hyphens
  const status = { phase: "Ready", subdomain: name.replaceAll("-", ""), fqdn: `${name}.example.com` };
  await client.mergePatch({ apiVersion, kind, namespace, name }, { status }, { subresource: "status" });
}

interface Seen {
  metadata?: { annotations?: Record<string, string> };
  status?: { services?: object };
}

/** Returns the seconds from each event until record and annotation contain it. */
async function latencies(client: KubernetesClient, size: number, events: number): Promise<number[]> {
  for (let index = 0; index < size; index++) await reserve(client, `kept-${index}`);
  const end = new AbortController();
  const told: Record<"record" | "annotation", string> = { record: "", annotation: "" };
  let look = () => undefined as void;
  const watch = (kind: string, apiVersion: string, name: string, take: (object?: Seen) => void) =>
    follow<Seen>(client, {
      apiVersion,
      kind,
      namespace: NAMESPACE,
      name,
      signal: end.signal,
      onObjects: ([object]) => {
        take(object);
        look();
      },
    });
  const running = [
    monitorServices({
      management: client,
      place: { namespace: NAMESPACE, cluster: "demo", hasRecord: true },
      signal: end.signal,
      say: () => undefined,
    }),
    watch("Cluster", API.azimuth, "demo", (object) => {
      told.record = Object.keys(object?.status?.services ?? {}).join(",");
    }),
    watch("HelmRelease", API.addons, "demo-site", (object) => {
      told.annotation = object?.metadata?.annotations?.[SERVICES_ANNOTATION] ?? "";
    }),
  ];
  const until = (isSo: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const why = new Error(`record and annotation were not written within ${LIMIT_SECONDS} s`);
      const limit = setTimeout(() => reject(why), LIMIT_SECONDS * 1000);
      look = () => {
        if (!isSo()) return;
        clearTimeout(limit);
        resolve();
      };
      look();
    });
  const tells = (name: string) => told.record.includes(name) && told.annotation.includes(name);
  const seconds: number[] = [];
  try {
    await until(() => tells(`kept-${size - 1}`));
    for (let event = 0; event < events; event++) {
      const name = `event-${size}-${event}-x`;
      await reserve(client, name);
      const began = performance.now();
      await until(() => tells(name));
      seconds.push((performance.now() - began) / 1000);
      await client.delete({ apiVersion: API.zenith, kind: "Reservation", namespace: NAMESPACE, name });
      await until(() => !told.record.includes(name) && !told.annotation.includes(name));
    }
  } finally {
    end.abort();
    await Promise.all(running);
  }
  return seconds;
}

function percentile(figures: readonly number[], part: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}
