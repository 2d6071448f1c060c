import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { type NewObject, refOf } from "../../../../lib/kubernetes/objects";
import { ResourcePaths } from "../../../../lib/kubernetes/resource-paths";
import { wantedLabels } from "../../../../providers/kubeadm/plan/membership/nodes";
import type { Machine } from "../../../../providers/kubeadm/plan/cluster/machine";
import { agentRevision, type DesiredAgent } from "../../../../providers/kubeadm/plan/rollout/node-agents";
import { annotationKeys, KUBERNETES_SOFTWARE } from "../../../../providers/kubeadm/plan/rollout/annotations";
import { AGENT_VERSION } from "../../../../providers/kubeadm/machine/node-agent";
import type { Owner } from "../../../../lib/ownership/owner";
import { ownerObject } from "../../../../providers/kubeadm/plan/facts/owner-record";
import { rememberRead } from "../../../../providers/kubeadm/resources/facts/reading";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { handlers } from "../../../../providers/handlers";
import { removeFolder } from "../../../engine/compiled-clone";
import { putClusterVersion } from "../../../simulation/fake-agents";
import { TestAuthority } from "../../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../../support/kubernetes-server";
import { type Args, cluster, type Edit, EDITS, VERSION } from "./edits";

/** On how many clusters each edit is tried. `FORESAIL_SCENARIOS=100` draws a hundred. */
const SCENARIOS = Number(process.env.FORESAIL_SCENARIOS ?? 1);
const SEED = Number(process.env.FORESAIL_SEED ?? 1);
/** The kinds whose steps say what happens on machines. */
const KINDS = [
  ...["ClusterInit", "NodeGroup", "LoopbackEndpoint", "NodeAgents", "NodeRollout"],
  ...["EncryptionKey", "ReaderAccount"],
];
const STACK_ID = "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42";
const STARTED = { members: [], nodes: [], pending: [], version: VERSION };

/** Resources that get the configuration from the ClusterInit. */
const GIVEN = ["kubeadm/ReaderAccount", "kubeadm/NodeAgents", "kubeadm/NodeRollout"];

type Inputs = Record<string, unknown> & { machines?: Machine[]; steps?: string[] };
type Resources = Map<string, { key: string; inputs: Inputs }>;

describe("the truth of a preview of any edit", function () {
  this.timeout(10_000 + SCENARIOS * 10_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-edits-"));
  const authority = new TestAuthority(folder);
  const server = new TestKubernetesServer(authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));
  let registered: Resources = new Map();
  let KubeadmCluster: typeof import("../../../../components/kubeadm/kubeadm-cluster").KubeadmCluster;

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
          const id = kind === "StackIdentity" ? STACK_ID : `${name}-id`;
          return { id, state: { ...(inputs as object), nodes: [], healthy: "cp-1", admin } };
        },
      },
      "project",
      "stack",
      false,
    );
    ({ KubeadmCluster } = await import("../../../../components/kubeadm/kubeadm-cluster.js"));
  });
  after(async () => {
    await server.close();
    removeFolder(folder);
  });

  /** The inputs of each resource of a cluster, by its name, as the engine passes them. */
  async function resourcesOf(args: Args): Promise<Resources> {
    registered = new Map();
    const made = new KubeadmCluster("demo", args);
    await new Promise((resolve) => pulumi.all([made.nodes, made.kubeconfig, made.version]).apply(resolve));
    // resources that nothing else reads are registered a moment later
    await new Promise((resolve) => setTimeout(resolve, 20));
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

  const ownedBy = (resources: Resources) =>
    resources.get("demo-init")!.inputs as unknown as { owner: Owner; machines: Machine[] };

  /** The cluster as an `up` leaves it. */
  function putNodes(resources: Resources): void {
    server.store.objects.clear();
    putClusterVersion(server.store, VERSION);
    const { owner, machines } = ownedBy(resources);
    server.store.put("/api/v1/namespaces/kube-system/configmaps/foresail-owner", ownerObject(owner));
    // the machines of the test answer no SSH
    rememberRead("demo", { names: machines.map(({ name }) => name), unnamed: [] });
    const agents = resources.get("demo-node-agents")!.inputs as unknown as DesiredAgent & {
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
            [keys.revision]: agentRevision(each, { ...agents, agent: AGENT_VERSION }),
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

  /** What a run keeps in the cluster. */
  async function putKept(resources: Resources): Promise<void> {
    const paths = new ResourcePaths(() => Promise.reject(new Error("every kind is known")));
    for (const { inputs } of resources.values())
      for (const object of (inputs["objects"] ?? []) as NewObject[])
        server.store.put(await paths.ofObject(refOf(object)), object);
  }

  interface Seen {
    /** The lines of each resource that changes. */
    changed: Map<string, string[]>;
    steps: string[];
    /** What is printed besides. */
    remarks: string[];
    refusals: string[];
  }

  /** The lines of the handlers, with what they print. */
  async function look(olds: Resources, news: Resources): Promise<Seen> {
    const seen: Seen = { changed: new Map(), steps: [], remarks: [], refusals: [] };
    const print = console.log;
    let configuration: unknown;
    for (const [name, { key, inputs: registered }] of news) {
      // as the engine passes an output on
      const inputs = GIVEN.includes(key) ? { ...registered, configuration } : registered;
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
        if (key === "kubeadm/ClusterInit") configuration = checked["configuration"];
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
    await putKept(before);
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
    if (edit.accepted) assert.deepEqual(refusals, []);
    if (refusals.length > 0) return;
    // the endpoint is made by the preparation of each machine, so that its resource does nothing at first
    const isNew = (name: string) => !before.has(name) && !name.endsWith("endpoint");
    for (const [name, words] of changed)
      assert.ok(words.length > 0 || isNew(name), `${name} changes without a line`);
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

  it("lists a changed configuration on every machine, also when the first run ended before its rollout was in the state", () =>
    fc.assert(
      fc.asyncProperty(cluster, async (base) => {
        const before = await resourcesOf(base);
        putNodes(before);
        await look(new Map(), before);
        await putKept(before);
        for (const [name, { key }] of before) if (GIVEN.includes(key)) before.delete(name);
        const after = await resourcesOf({ ...base, files: [{ path: "/etc/issue", content: "other" }] });
        const { steps } = await look(before, after);
        for (const { name } of base.machines)
          assert.ok(
            steps.some((line) => line.startsWith(`${name}: configuration `)),
            `nothing of ${name} in ${JSON.stringify(steps)}`,
          );
      }),
      { numRuns: SCENARIOS, seed: SEED, endOnFailure: true },
    ));

  for (const [at, edit] of EDITS.entries())
    it(`lists what happens on which machine, or refuses: ${edit.what}`, () =>
      fc.assert(
        fc.asyncProperty(cluster, (base) => assertSaid(base, edit)),
        { numRuns: SCENARIOS, seed: SEED + at, endOnFailure: true },
      ));
});
