import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import type { KubeadmClusterArgs, MachineArgs } from "../../../components/kubeadm/kubeadm-cluster-args";
import { wantedLabels } from "../../../core/membership/node-settings";
import type { Machine } from "../../../core/machine";
import { agentRevision, type AgentWish } from "../../../core/node-agent/wish";
import { annotationKeys, KUBERNETES_SOFTWARE } from "../../../core/rollout/annotations";
import { AGENT_VERSION } from "../../../core/node-agent/version";
import type { Handlers } from "../../../providers/handler-types";
import { handlers } from "../../../providers/handlers";
import { removeFolder } from "../../engine/compiled-clone";
import { putClusterVersion } from "../../simulation/pretended-agents";
import { TestAuthority } from "../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../support/kubernetes-server";

/** On how many clusters each edit is tried. `FORESAIL_SCENARIOS=100` draws a hundred. */
const SCENARIOS = Number(process.env.FORESAIL_SCENARIOS ?? 1);
const SEED = Number(process.env.FORESAIL_SEED ?? 1);
const VERSION = "1.36.2";
const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHt0ZXN0";
/** The kinds whose steps say what happens on machines. */
const KINDS = ["ClusterInit", "NodeGroup", "LoopbackEndpoint", "NodeAgents", "NodeRollout", "ReaderAccount"];
const STARTED = { members: [], nodes: [], pending: [], version: VERSION };

type Args = KubeadmClusterArgs;
type Inputs = Record<string, unknown> & { machines?: Machine[]; steps?: string[] };
type Resources = Map<string, { key: string; inputs: Inputs }>;

/** One change of the configuration, and what has to be said of it. */
interface Edit {
  what: string;
  apply: (args: Args) => Args;
  /** Machines that a line or a refusal has to name. */
  machines?: (args: Args) => string[];
  /** What a refusal has to name. */
  refused?: string;
  /** Whether it changes how machines are reached alone, so that it is recorded and no machine is touched. */
  isRecorded?: true;
  /** For later runs alone: nothing has to be said of it now. */
  later?: true;
}

const index = Object.fromEntries(
  ["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3", "g-1", "g-2"].map((n, i) => [n, i]),
);
const machine = (name: string, over: Partial<MachineArgs> = {}): MachineArgs => ({
  name,
  role: name.startsWith("cp") ? "control-plane" : "worker",
  address: `192.0.2.${10 + index[name]!}`,
  hostKey: HOST_KEY,
  ...(name.startsWith("g") ? { pool: "gpu" } : {}),
  ...over,
});

const cluster = fc
  .record({
    planes: fc.constantFrom(1, 3),
    workers: fc.integer({ min: 0, max: 2 }),
    gpu: fc.integer({ min: 0, max: 2 }),
    labels: fc.boolean(),
    settings: fc.boolean(),
  })
  .map(({ planes, workers, gpu, labels, settings }): Args => {
    const named = (prefix: string, count: number, over = {}) =>
      Array.from({ length: count }, (_, at) => machine(`${prefix}-${at + 1}`, over));
    const set = labels
      ? { labels: { zone: "a" }, taints: [{ key: "gpu", effect: "NoSchedule" as const }] }
      : {};
    return {
      version: VERSION,
      network: { plugin: { bridge: {} } },
      source: { bundle: { path: "/opt/bundle/{version}" } },
      ssh: { privateKey: "KEY" },
      allowEvenControlPlanes: true,
      machines: [...named("cp", planes), ...named("w", workers), ...named("g", gpu, set)],
      ...(settings
        ? {
            kubelet: { maxPods: 50 },
            files: [{ path: "/etc/motd", content: "hello" }],
            proxy: { http: "http://192.0.2.99:3128" },
            registries: { mirrors: { "docker.io": ["https://mirror.example.org"] } },
          }
        : {}),
    };
  });

const workersOf = (args: Args) => args.machines.filter(({ role }) => role === "worker");
const lastWorker = (args: Args) =>
  workersOf(args)
    .slice(-1)
    .map(({ name }) => name);
const without = (args: Args, names: string[]): Args => ({
  ...args,
  machines: args.machines.filter(({ name }) => !names.includes(name)),
});
/** Another value of the last worker, or of the last control plane where there is none. */
const lastMachine = (args: Args) => args.machines.slice(-1).map(({ name }) => name);
const ofLast =
  (over: Partial<MachineArgs>) =>
  (args: Args): Args => ({
    ...args,
    machines: args.machines.map((each, at) =>
      at === args.machines.length - 1 ? { ...each, ...over } : each,
    ),
  });
const set = (what: string, refused: string, over: Partial<Args>): Edit => ({
  what,
  refused,
  apply: (args) => ({ ...args, ...over }),
});
const everyMachine = (args: Args) => args.machines.map(({ name }) => name);
const later = (what: string, over: Partial<Args>): Edit => ({
  what,
  later: true,
  apply: (args) => ({ ...args, ...over }),
});

const EDITS: Edit[] = [
  {
    what: "another worker",
    apply: (args) => ({ ...args, machines: [...args.machines, machine("w-3")] }),
    machines: () => ["w-3"],
  },
  {
    what: "another control plane",
    apply: (args) =>
      everyMachine(args).includes("cp-2") ? args : { ...args, machines: [...args.machines, machine("cp-2")] },
    machines: (args) => (everyMachine(args).includes("cp-2") ? [] : ["cp-2"]),
  },
  { what: "a worker less", apply: (args) => without(args, lastWorker(args)), machines: lastWorker },
  {
    what: "a lost worker",
    apply: (args) => ({ ...without(args, lastWorker(args)), lost: lastWorker(args) }),
    machines: lastWorker,
  },
  {
    what: "no worker",
    apply: (args) =>
      without(
        args,
        workersOf(args).map(({ name }) => name),
      ),
    machines: (args) => workersOf(args).map(({ name }) => name),
  },
  {
    what: "a control plane less",
    apply: (args) => without(args, ["cp-3"]),
    machines: (args) => everyMachine(args).filter((name) => name === "cp-3"),
  },
  {
    what: "two control planes less",
    apply: (args) => without(args, ["cp-2", "cp-3"]),
    machines: (args) => everyMachine(args).filter((name) => ["cp-2", "cp-3"].includes(name)),
  },
  {
    what: "another pool",
    apply: (args) => (workersOf(args).length > 0 ? ofLast({ pool: "other" })(args) : args),
    machines: (args) => lastMachine(args).filter((n) => !n.startsWith("cp")),
  },
  { what: "a label", apply: ofLast({ labels: { zone: "b" } }), machines: lastMachine },
  {
    what: "a taint",
    apply: ofLast({ taints: [{ key: "x", value: "y", effect: "NoExecute" }] }),
    machines: lastMachine,
  },
  { what: "a port", apply: ofLast({ port: 2222 }), machines: lastMachine, isRecorded: true },
  { what: "a user", apply: ofLast({ user: "ops" }), machines: lastMachine, isRecorded: true },
  { what: "a host key", apply: ofLast({ hostKey: `${HOST_KEY}X` }), machines: lastMachine, isRecorded: true },
  { what: "an address", apply: ofLast({ address: "192.0.2.200" }), machines: lastMachine, isRecorded: true },
  { what: "an internal address", apply: ofLast({ internalAddress: "10.9.9.9" }), machines: lastMachine },
  set("kubelet", "kubelet", { kubelet: { maxPods: 99 } }),
  set("kube-proxy", "kubeProxy", { kubeProxy: { mode: "nftables" } }),
  set("ClusterConfiguration", "clusterConfiguration", {
    kubeadm: { clusterConfiguration: { certificatesDir: "/x" } },
  }),
  set("InitConfiguration", "initConfiguration", { kubeadm: { initConfiguration: { skipPhases: ["a"] } } }),
  set("a file", "files", { files: [{ path: "/etc/issue", content: "other" }] }),
  set("the proxy", "proxy", { proxy: { https: "http://192.0.2.98:3128" } }),
  set("a mirror", "mirrors", { registries: { mirrors: { "quay.io": ["https://m.example.org"] } } }),
  set("the image repository", "imageRepository", { imageRepository: "registry.example.org/k8s" }),
  set("the certificates", "caBundle", { caBundle: "PEM" }),
  set("a certificate name", "certificateNames", { certificateNames: ["k8s.example.org"] }),
  set("encryption at rest", "encryptSecretsAtRest", { encryptSecretsAtRest: false }),
  set("the pod network's block", "podCidr", {
    network: { plugin: { bridge: {} }, podCidr: "10.200.0.0/16" },
  }),
  set("the endpoint", "endpoint", { endpoint: { external: { host: "192.0.2.250", port: 6443 } } }),
  set("a lower minor", "version", { version: "1.35.4" }),
  {
    what: "JoinConfiguration",
    apply: (args) => ({ ...args, kubeadm: { joinConfiguration: { skipPhases: ["preflight"] } } }),
  },
  { what: "the version", apply: (args) => ({ ...args, version: "1.36.3" }), machines: everyMachine },
  {
    what: "the source",
    apply: (args) => ({ ...args, source: { packages: { repository: "https://pkgs.example.org/{minor}/" } } }),
    machines: everyMachine,
  },
  {
    what: "ignored errors",
    apply: (args) => ({ ...args, ignorePreflightErrors: ["Swap"] }),
    machines: everyMachine,
  },
  {
    what: "the agents' annotations",
    apply: (args) => ({ ...args, rollout: { annotations: "[software].example.org" } }),
    machines: everyMachine,
  },
  {
    what: "registry credentials",
    apply: (args) => ({
      ...args,
      registries: {
        ...args.registries,
        credentials: { "docker.io": { username: "u", password: "hunter2" } },
      },
    }),
    machines: everyMachine,
  },
  { what: "the SSH key", apply: (args) => ({ ...args, ssh: { privateKey: "hunter2" } }) },
  later("a name under lost", { lost: ["w-9"] }),
  later("the rollout's settings", { rollout: { maxUnavailable: 2 } }),
  later("how nodes are drained", { drain: { force: true } }),
  later("deadlines", { timeouts: { join: 601 } }),
];

describe("the truth of a preview of any edit", function () {
  this.timeout(10_000 + SCENARIOS * 10_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-edits-"));
  const authority = new TestAuthority(folder);
  const server = new TestKubernetesServer(authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));
  let registered: Resources = new Map();
  let KubeadmCluster: typeof import("../../../components/kubeadm/kubeadm-cluster").KubeadmCluster;

  before(async () => {
    await server.listen();
    const admin = { certificateAuthority: "Q0E=", clientCertificate: "Q0M=", clientKey: "S0VZ" };
    await pulumi.runtime.setMocks(
      {
        call: ({ inputs }) => inputs as Record<string, unknown>,
        newResource: ({ name, inputs, type }) => {
          const kind = type.split(":").pop() ?? "";
          if (KINDS.includes(kind))
            registered.set(name, { key: `kubeadm/${kind}`, inputs: inputs as Inputs });
          return { id: `${name}-id`, state: { ...(inputs as object), nodes: [], healthy: "cp-1", admin } };
        },
      },
      "project",
      "stack",
      false,
    );
    ({ KubeadmCluster } = await import("../../../components/kubeadm/kubeadm-cluster.js"));
  });
  after(async () => {
    await server.close();
    removeFolder(folder);
  });

  /** The inputs of each resource of a cluster, by its name, as the engine hands them over. */
  async function resourcesOf(args: Args): Promise<Resources> {
    registered = new Map();
    const made = new KubeadmCluster("demo", args);
    await new Promise((resolve) => pulumi.all([made.nodes, made.kubeconfig, made.version]).apply(resolve));
    const kubeconfig = kubeconfigOf(authority, [server]);
    const plain = [...registered].map(([name, { key, inputs }]) => {
      const { __provider, ...values } = JSON.parse(JSON.stringify(inputs)) as Inputs;
      return [
        name,
        { key, inputs: { ...values, ...("kubeconfig" in values ? { kubeconfig } : {}) } },
      ] as const;
    });
    return new Map(plain);
  }

  /** The cluster as an `up` leaves it. */
  function putNodes(resources: Resources): void {
    server.store.objects.clear();
    putClusterVersion(server.store, VERSION);
    const agents = resources.get("demo-node-agents")!.inputs as unknown as AgentWish & {
      machines: Machine[];
    };
    const keys = annotationKeys(agents.annotations);
    for (const each of agents.machines)
      server.store.put(`/api/v1/nodes/${each.name}`, {
        apiVersion: "v1",
        kind: "Node",
        metadata: {
          name: each.name,
          labels: {
            ...wantedLabels(each),
            ...(each.role === "control-plane" ? { "node-role.kubernetes.io/control-plane": "" } : {}),
          },
          annotations: {
            [keys.ready]: "true",
            [keys.revision]: agentRevision({ ...agents, agent: AGENT_VERSION }),
            ...Object.fromEntries(KUBERNETES_SOFTWARE.map((one) => [keys.current(one), `v${VERSION}`])),
          },
        },
        spec: { taints: each.taints },
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          nodeInfo: { kubeletVersion: `v${VERSION}` },
          addresses: [{ type: "InternalIP", address: each.internalAddress }],
        },
      });
  }

  interface Seen {
    /** Of each resource that changes, what is said of it. */
    changed: Map<string, string[]>;
    steps: string[];
    /** What is printed besides. */
    remarks: string[];
    refusals: string[];
  }

  /** What the handlers say, with what they print. */
  async function look(olds: Resources, news: Resources): Promise<Seen> {
    const seen: Seen = { changed: new Map(), steps: [], remarks: [], refusals: [] };
    const print = console.log;
    for (const [name, { key, inputs }] of news) {
      const { check, diff } = handlers[key as keyof typeof handlers] as Required<Handlers>;
      const recorded = olds.get(name)?.inputs ?? {};
      const printed: string[] = [];
      console.log = (line: string) => void printed.push(line.slice(line.indexOf(": ") + 2));
      try {
        const { inputs: checked = {}, failures = [] } = (await check(recorded, inputs)) as {
          inputs?: Inputs;
          failures?: { property: string; reason: string }[];
        };
        const { steps = [] } = checked;
        const remarks = printed.filter((line) => !steps.includes(line));
        seen.steps.push(...steps);
        seen.remarks.push(...remarks);
        seen.refusals.push(...failures.map(({ property, reason }) => `${property} ${reason}`));
        const outputs = {
          ...recorded,
          ...STARTED,
          nodes: (checked.machines ?? []).map((each) => ({ name: each.name })),
        };
        const { changes = true } = olds.has(name) ? await diff("id", outputs, checked) : { changes: true };
        if (changes) seen.changed.set(name, [...steps, ...remarks]);
        news.set(name, { key, inputs: checked });
      } finally {
        console.log = print;
      }
    }
    return seen;
  }

  const names = (line: string, machineName: string) =>
    new RegExp(`(^|[^\\w-])${machineName}([^\\w-]|$)`).test(line);

  async function assertSaid(base: Args, edit: Edit): Promise<void> {
    const before = await resourcesOf(base);
    putNodes(before);
    // as the state has them after an up: with what check adds
    await look(new Map(), before);
    const second = await look(before, new Map(before));
    assert.deepEqual([...second.changed.keys()], [], "a second up changes something");
    const after = await resourcesOf(edit.apply(base));
    const { changed, steps, remarks, refusals } = await look(before, after);
    const said = [...steps, ...remarks, ...refusals];
    assert.doesNotMatch(said.join("\n"), /hunter2/);
    if (edit.refused !== undefined)
      assert.ok(
        refusals.some((words) => words.includes(edit.refused!)),
        `not refused: ${JSON.stringify(said)}`,
      );
    if (refusals.length > 0) return;
    // the endpoint is made by the preparation of each machine, so that its resource does nothing at first
    const isNew = (name: string) => !before.has(name) && !name.endsWith("endpoint");
    for (const [name, words] of changed)
      assert.ok(words.length > 0 || isNew(name), `${name} changes without a word`);
    const removed = [...before].flatMap(([name, { inputs }]) =>
      after.has(name) ? [] : (inputs.machines ?? []),
    );
    const affected = [...removed.map(({ name }) => name), ...(edit.machines?.(base) ?? [])];
    const relevant = edit.isRecorded ? said : [...steps, ...refusals];
    for (const name of affected)
      assert.ok(
        relevant.some((line) => names(line, name)),
        `nothing of ${name} in ${JSON.stringify(said)}`,
      );
    assert.ok(edit.later ?? edit.machines ?? said.length > 0, "nothing is said");
  }

  for (const [at, edit] of EDITS.entries())
    it(`says on which machine what happens, or refuses: ${edit.what}`, () =>
      fc.assert(
        fc.asyncProperty(cluster, (base) => assertSaid(base, edit)),
        { numRuns: SCENARIOS, seed: SEED + at, endOnFailure: true },
      ));
});
