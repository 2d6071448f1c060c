import assert from "node:assert/strict";
import { type StatusFacts, clusterStatus, statusLines } from "../../../cli/status/status";
import { parseCertificates } from "../../../providers/kubeadm/plan/certificates/report";
import { nodeAt } from "../providers/kubeadm/rollout/nodes";

const NOW = new Date("2026-11-27T12:00:00Z");
const certificatesOf = (end: string) => ({
  certificates: parseCertificates(`apiserver=${end} ca=2036-01-01T00:00:00Z`)!,
});

const HEALTHY: StatusFacts = {
  now: NOW,
  cluster: "prod",
  version: "1.36.3",
  warningDays: { renewed: 30, authorities: 180 },
  machines: ["cp-1", "w-1"],
  nodes: [
    nodeAt("w-1", "1.36.3"),
    nodeAt("cp-1", "1.36.3", certificatesOf("2027-11-20T00:00:00Z")),
    nodeAt("x-1", "1.30.0"),
  ],
  etcd: [{ node: "cp-1", ready: true }],
  last: "2026-11-26T10:00:00Z ops@host prod: w-1 1.36.3: done, 31 s",
};

describe("the status of a cluster", () => {
  it("is a table of the configured machines, with etcd, the running change and the last one", () => {
    assert.deepEqual(statusLines(clusterStatus(HEALTHY), NOW), [
      "prod, Kubernetes 1.36.3",
      "",
      "NODE  ROLE           VERSION  STATUS  CERTIFICATES END       DRIFT",
      "cp-1  control-plane  1.36.3   Ready   2027-11-20 (357 days)  -",
      "w-1   worker         1.36.3   Ready   -                      -",
      "",
      "etcd: 1 of 1 member ready",
      "no run changes the cluster",
      "last change: 2026-11-26T10:00:00Z ops@host prod: w-1 1.36.3: done, 31 s",
      "",
      "nothing needs attention",
    ]);
  });

  const problemsOf = (facts: Partial<StatusFacts>) => clusterStatus({ ...HEALTHY, ...facts }).problems;
  const CASES: [string, Partial<StatusFacts>, string[]][] = [
    [
      "a machine without a Node",
      { machines: ["cp-1", "w-1", "w-2"] },
      ["w-2: it is configured and has no Node"],
    ],
    [
      "a node that is not Ready",
      { nodes: [nodeAt("w-1", "1.36.3", { ready: false, reason: "NodeStatusUnknown" })], machines: ["w-1"] },
      ["w-1: not Ready: NodeStatusUnknown"],
    ],
    [
      "another version, and what its agent failed at",
      { nodes: [nodeAt("w-1", "1.35.4", { message: "no space\nleft" })], machines: ["w-1"] },
      [
        "w-1: runs 1.35.4, and 1.36.3 is configured",
        "w-1: the last failure of its node agent: no space left",
      ],
    ],
    [
      "certificates that end within the days of their renewal, and those that have ended",
      {
        machines: ["cp-1", "cp-2"],
        nodes: [
          nodeAt("cp-1", "1.36.3", certificatesOf("2026-12-20T00:00:00Z")),
          nodeAt("cp-2", "1.36.3", certificatesOf("2026-11-20T00:00:00Z")),
        ],
      },
      [
        "cp-1: certificates end on 2026-12-20: apiserver",
        "cp-2: certificates ended on 2026-11-20: apiserver",
      ],
    ],
    [
      "files that others changed",
      {
        nodes: [nodeAt("w-1", "1.36.3", { drift: { hash: "0", paths: ["/etc/motd"], more: 0 } })],
        machines: ["w-1"],
      },
      ["w-1: differs from what foresail wrote: /etc/motd"],
    ],
    [
      "a member of etcd that is not ready",
      { etcd: [{ node: "cp-1", ready: false }] },
      ["cp-1: its member of etcd is not ready"],
    ],
    [
      "a run that was interrupted",
      { nodes: [nodeAt("w-1", "1.36.3", { changesAllowed: true })], machines: ["w-1"] },
      ["w-1: an interrupted run has begun to change it; run `up` again"],
    ],
  ];
  for (const [what, facts, problems] of CASES)
    it(`names ${what}`, () => assert.deepEqual(problemsOf(facts), problems));

  it("does not take a change that goes on for an interrupted one", () => {
    const nodes = [nodeAt("w-1", "1.36.3", { changesAllowed: true, unschedulable: true })];
    const status = clusterStatus({ ...HEALTHY, nodes, machines: ["w-1"], holder: "ops@host (stack prod)" });
    assert.deepEqual(status.problems, []);
    assert.ok(statusLines(status, NOW).includes("changed now by ops@host (stack prod)"));
    assert.match(statusLines(status, NOW)[3] ?? "", /Ready, cordoned, changing/);
  });

  it("shows text from outside on one line, without control characters", () => {
    const nodes = [nodeAt("w-1", "1.36.3", { ready: false, reason: "a\u001b[31m\nb" })];
    const status = clusterStatus({ ...HEALTHY, nodes, machines: ["w-1"], last: "x\u001b[2Jy" });
    assert.ok(statusLines(status, NOW).every((line) => !/\p{Cc}/u.test(line)));
  });
});
