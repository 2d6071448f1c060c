import assert from "node:assert/strict";
import { mergeNodes, readiness } from "../../../sandbox/node-status";
import { countResources } from "../../../sandbox/state-file";
import { formatStatus, gatherStatus } from "../../../sandbox/status";

const live = (name: string, ready: { status: string; reason?: string; message?: string }, labels = {}) => ({
  metadata: { name, labels },
  status: { conditions: [{ type: "Ready", ...ready }], nodeInfo: { kubeletVersion: "v1.36.3" } },
});
const recorded = [
  { name: "cp-1", role: "control-plane" },
  { name: "w-1", role: "worker" },
];

describe("a node's status", () => {
  const rows: [string, Parameters<typeof readiness>[0], string][] = [
    ["is Ready in one word", live("w-1", { status: "True", reason: "KubeletReady" }), "Ready"],
    [
      "is the reason and the message when it is not",
      live("w-1", { status: "False", reason: "KubeletNotReady", message: "no network" }),
      "KubeletNotReady: no network",
    ],
    ["says so when no reason is given", live("w-1", { status: "Unknown" }), "Ready is Unknown"],
    ["says so before the kubelet reported", { status: {} }, "NotReady: its kubelet has not reported yet"],
  ];
  for (const [name, node, expected] of rows) it(name, () => assert.equal(readiness(node), expected));
});

describe("configured and live nodes side by side", () => {
  it("show each configured node with the version its kubelet reports", () => {
    assert.deepEqual(
      mergeNodes(recorded, [live("w-1", { status: "True" }), live("cp-1", { status: "True" })]),
      [
        { name: "cp-1", role: "control-plane", version: "v1.36.3", status: "Ready" },
        { name: "w-1", role: "worker", version: "v1.36.3", status: "Ready" },
      ],
    );
  });
  it("show a configured node that has not joined", () => {
    const [, worker] = mergeNodes(recorded, [live("cp-1", { status: "True" })]);
    assert.deepEqual(worker, {
      name: "w-1",
      role: "worker",
      version: null,
      status: "not a member of the cluster",
    });
  });
  it("show a node that is not configured with the role of its label", () => {
    const label = { "node-role.kubernetes.io/control-plane": "" };
    const merged = mergeNodes([], [live("cp-9", { status: "True" }, label), live("w-9", { status: "True" })]);
    assert.deepEqual(
      merged.map(({ name, role }) => [name, role]),
      [
        ["cp-9", "control-plane"],
        ["w-9", "worker"],
      ],
    );
  });
  it("show why when the cluster can't be read", () => {
    assert.deepEqual(
      mergeNodes(recorded, "the API does not answer").map(({ status }) => status),
      ["the API does not answer", "the API does not answer"],
    );
  });
});

describe("the status of the sandbox", () => {
  it("is empty lists and the variables when there is no system", async () => {
    const { stacks, clusters, environment } = await gatherStatus([], "/cache/home");
    assert.deepEqual({ stacks, clusters }, { stacks: [], clusters: [] });
    assert.deepEqual(Object.keys(environment), [
      "PULUMI_HOME",
      "PULUMI_BACKEND_URL",
      "PULUMI_CONFIG_PASSPHRASE_FILE",
    ]);
  });

  it("is a table for people, and lines for a shell", () => {
    const text = formatStatus({
      stacks: [{ name: "sandbox-ssh", system: "ssh", resources: 9 }],
      clusters: [
        {
          name: "sandbox",
          system: "ssh",
          stack: "sandbox-ssh",
          kubeconfig: null,
          nodes: mergeNodes(recorded, "the cluster is not created yet"),
        },
      ],
      environment: { PULUMI_HOME: "/it's/here" },
    });
    assert.match(text, /^stack sandbox-ssh \(system ssh\), 9 resources$/m);
    assert.match(text, /^ {2}w-1 {3}worker {9}- {2}the cluster is not created yet$/m);
    assert.match(text, /^ {2}export PULUMI_HOME='\/it'\\''s\/here'$/m);
  });

  it("counts the resources of a checkpoint, and none in one that is new", () => {
    assert.equal(countResources('{"version":3,"checkpoint":{"latest":{"resources":[{},{}]}}}'), 2);
    assert.equal(countResources('{"version":3,"checkpoint":{}}'), 0);
  });
});
