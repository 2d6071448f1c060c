import assert from "node:assert/strict";
import {
  addonEntry,
  controlPlanePhase,
  controlPlaneVersion,
  nodeEntry,
  clusterPhase,
  type ClusterStatus,
  phaseAt,
  timestamp,
} from "../../../../providers/azimuth/plan/status";
import { recordChange, type ClusterObjects } from "../../../../providers/azimuth/plan/record";

const ready: ClusterStatus = {
  leasePhase: "Active",
  networkingPhase: "Provisioned",
  controlPlanePhase: "Ready",
};
const node = (role: string, phase: string, kubeletVersion = "1.36.3") => ({ role, phase, kubeletVersion });
const nodes = (...all: ReturnType<typeof node>[]) =>
  Object.fromEntries(all.map((each, index) => [`n${index}`, each]));

describe("phase of a cluster", () => {
  const mixed = nodes(node("control-plane", "Ready"), node("control-plane", "Ready", "1.36.4"));
  const cases: [string, ClusterStatus, boolean, string][] = [
    ["is ready without any node or addon", ready, true, "Ready"],
    ...["Creating", "Pending", "Starting", "Unknown"].map(
      (leasePhase): [string, ClusterStatus, boolean, string] => [
        `waits for a lease that is ${leasePhase}`,
        { ...ready, leasePhase },
        true,
        "Pending",
      ],
    ),
    ...["Terminating", "Terminated", "Deleting"].map(
      (leasePhase): [string, ClusterStatus, boolean, string] => [
        `suffers from a lease that is ${leasePhase}`,
        { ...ready, leasePhase },
        true,
        "Unhealthy",
      ],
    ),
    ["fails with its lease", { ...ready, leasePhase: "Error", networkingPhase: "Deleting" }, true, "Failed"],
    ["lets a lease be updated", { ...ready, leasePhase: "Updating" }, true, "Ready"],
    ["looks at no lease without one", { ...ready, leasePhase: "Error" }, false, "Ready"],
    ["has no network yet", { ...ready, networkingPhase: "Provisioning" }, true, "Reconciling"],
    ["is being deleted", { ...ready, networkingPhase: "Deleting" }, true, "Deleting"],
    ["failed in the network", { ...ready, networkingPhase: "Failed" }, true, "Failed"],
    ["does not know of a network", { leasePhase: "Active" }, true, "Pending"],
    ["scales its control plane", { ...ready, controlPlanePhase: "ScalingUp" }, true, "Reconciling"],
    [
      "upgrades a control plane that scales with two versions",
      { ...ready, controlPlanePhase: "ScalingUp", nodes: mixed },
      true,
      "Upgrading",
    ],
    ["has a failed control plane", { ...ready, controlPlanePhase: "Failed" }, true, "Failed"],
    ["knows of no control plane", { ...ready, controlPlanePhase: "Unknown" }, true, "Pending"],
    [
      "upgrades workers with two versions, although one is unhealthy",
      { ...ready, nodes: nodes(node("worker", "Ready"), node("worker", "Unhealthy", "1.36.4")) },
      true,
      "Upgrading",
    ],
    [
      "reconciles while a node comes, although an addon failed",
      { ...ready, nodes: nodes(node("worker", "Provisioning")), addons: { a: { phase: "Failed" } } },
      true,
      "Reconciling",
    ],
    [
      "reconciles while an addon comes",
      { ...ready, addons: { a: { phase: "Installing" } } },
      true,
      "Reconciling",
    ],
    ["is unhealthy with its control plane", { ...ready, controlPlanePhase: "Unhealthy" }, true, "Unhealthy"],
    ["is unhealthy with a node", { ...ready, nodes: nodes(node("worker", "Failed")) }, true, "Unhealthy"],
    ["is unhealthy with an addon", { ...ready, addons: { a: { phase: "Unknown" } } }, true, "Unhealthy"],
  ];
  for (const [title, status, leased, wanted] of cases)
    it(`${title}: ${wanted}`, () => assert.equal(clusterPhase(status, leased), wanted));

  const now = Date.parse("2026-11-21T12:00:00Z");
  it("counts as unhealthy after half an hour in transition", () => {
    const since = (seconds: number) => timestamp(now - seconds * 1000);
    const onTheWay = { ...ready, networkingPhase: "Provisioning" };
    const at = (status: ClusterStatus) => phaseAt(status, true, now);
    assert.deepEqual(at({ ...onTheWay, lastUpdated: since(1800) }), {
      phase: "Reconciling",
      lastUpdated: since(1800),
    });
    assert.equal(at({ ...onTheWay, lastUpdated: since(1801) }).phase, "Unhealthy");
    assert.deepEqual(at(onTheWay), { phase: "Reconciling", lastUpdated: "2026-11-21T12:00:00.000000+00:00" });
    assert.deepEqual(at({ ...ready, lastUpdated: since(9000) }), { phase: "Ready", lastUpdated: undefined });
    assert.equal(at({ ...ready, networkingPhase: "Deleting", lastUpdated: since(9000) }).phase, "Deleting");
  });
});

describe("entries of a cluster's record", () => {
  const machine = (phase: string, healthy = "True") => ({
    metadata: {
      name: "demo-w-1",
      creationTimestamp: "2026-03-02T09:24:50Z",
      labels: { "capi.stackhpc.com/component": "worker", "capi.stackhpc.com/node-group": "workers" },
    },
    spec: { version: "v1.36.3" },
    status: {
      phase,
      addresses: [
        { type: "ExternalIP", address: "1.2.3.4" },
        { type: "InternalIP", address: "192.168.3.40" },
      ],
      conditions: [{ type: "NodeHealthy", status: healthy }],
    },
  });

  it("describe a Machine", () => {
    assert.deepEqual(nodeEntry(machine("Running"), "vm.large"), {
      role: "worker",
      phase: "Ready",
      size: "vm.large",
      ip: "192.168.3.40",
      ips: ["192.168.3.40"],
      kubeletVersion: "1.36.3",
      nodeGroup: "workers",
      created: "2026-03-02T09:24:50+00:00",
    });
  });

  const phases: [string, string, string][] = [
    ["Running", "False", "Unhealthy"],
    ["Provisioned", "True", "Provisioning"],
    ["Updating", "True", "Provisioning"],
    ["Deleting", "True", "Deleting"],
    ["Failed", "True", "Failed"],
    ["Strange", "True", "Unknown"],
  ];
  for (const [phase, healthy, wanted] of phases)
    it(`call a Machine that is ${phase} (healthy: ${healthy}) ${wanted}`, () =>
      assert.equal(nodeEntry(machine(phase, healthy)).phase, wanted));

  it("call a role that is not known Unknown", () => assert.equal(nodeEntry({}).role, "Unknown"));

  it("describe addons", () => {
    assert.deepEqual(addonEntry({ status: { phase: "Deployed", revision: 2 } }), {
      phase: "Deployed",
      revision: 2,
    });
    assert.equal(addonEntry({}).phase, "Unknown");
    const flux = (...conditions: object[]) =>
      addonEntry({ kind: "Kustomization", status: { observedGeneration: 3, conditions } });
    assert.deepEqual(flux({ type: "Ready", status: "True" }), { phase: "Deployed", revision: 3 });
    assert.equal(flux({ type: "Ready", status: "Unknown" }).phase, "Failed");
    assert.equal(flux({ type: "Reconciling", status: "True" }).phase, "Pending");
    assert.equal(flux().phase, "Unknown");
  });

  const controlPlanes: [string, object[], string][] = [
    ["nothing", [], "Pending"],
    [
      "Ready and healthy",
      [
        { type: "Ready", status: "True" },
        { type: "ControlPlaneComponentsHealthy", status: "True" },
      ],
      "Ready",
    ],
    ["Ready alone", [{ type: "Ready", status: "True" }], "Unhealthy"],
    ...(
      [
        ["ScalingUp", "ScalingUp"],
        ["WaitingForKubeadmInit", "ScalingUp"],
        ["ScalingDown", "ScalingDown"],
        ["RollingUpdateInProgress", "Upgrading"],
        ["Deleting", "Deleting"],
        ["Else", "Unhealthy"],
      ] as const
    ).map(([reason, wanted]): [string, object[], string] => [
      reason,
      [{ type: "Ready", status: "False", reason }],
      wanted,
    ]),
  ];
  for (const [title, conditions, wanted] of controlPlanes)
    it(`call a control plane that says ${title} ${wanted}`, () =>
      assert.equal(controlPlanePhase({ status: { conditions } }), wanted));

  it("report the observed version before the desired one", () => {
    assert.equal(
      controlPlaneVersion({ spec: { version: "v1.36.4" }, status: { version: "v1.36.3" } }),
      "1.36.3",
    );
    assert.equal(controlPlaneVersion({ spec: { version: "v1.36.4" } }), "1.36.4");
  });
});

describe("a cluster's record and its objects", () => {
  const machine = {
    metadata: { name: "w-1", labels: { "capi.stackhpc.com/component": "worker" } },
    status: { phase: "Running", conditions: [{ type: "NodeHealthy", status: "True" }] },
  };
  const addon = {
    metadata: { labels: { "capi.stackhpc.com/component": "cni-calico" } },
    status: { phase: "Deployed", revision: 1 },
  };
  const objects: ClusterObjects = { machines: [machine], addons: [addon], networkingPhase: "Provisioned" };
  const options = { leased: false, now: 0 };
  const agreeing: ClusterStatus = {
    phase: "Pending",
    networkingPhase: "Provisioned",
    nodeCount: 1,
    nodes: { "w-1": { role: "worker", phase: "Ready" } },
    addonCount: 1,
    addons: { "cni-calico": { phase: "Deployed", revision: 1 } },
  };

  it("that agree need no change", () => assert.equal(recordChange(agreeing, objects, options), undefined));

  it("are reconciled: stale entries are removed, missing ones added, and others' fields kept", () => {
    const change = recordChange(
      { ...agreeing, nodes: { old: { role: "worker", phase: "Ready" } }, services: { s: {} } },
      objects,
      options,
    );
    assert.deepEqual(change?.patch["nodes"], { old: null, "w-1": { role: "worker", phase: "Ready" } });
    assert.equal("services" in change.patch, false);
    assert.equal(change?.isDue, true);
    assert.deepEqual(change?.lines.slice(0, 2), [
      "node old: is gone, taken out of the record",
      "node w-1: Ready",
    ]);
  });

  it("differ only in something new, which needs no run", () => {
    const change = recordChange({ ...agreeing, nodes: {}, nodeCount: 0 }, objects, options);
    assert.equal(change?.isDue, false);
    assert.equal(change?.patch["nodeCount"], 1);
  });

  it("keep the flavor that another writer recorded", () => {
    const sized = { ...agreeing, nodes: { "w-1": { role: "worker", phase: "Pending", size: "vm.large" } } };
    assert.deepEqual(recordChange(sized, objects, options)?.patch["nodes"], {
      "w-1": { role: "worker", phase: "Ready", size: "vm.large" },
    });
  });

  it("lose the time of a transition when the cluster is Ready or Failed, which needs no run", () => {
    const conditions = ["Ready", "ControlPlaneComponentsHealthy"].map((type) => ({ type, status: "True" }));
    const ended = { ...agreeing, phase: "Ready", controlPlanePhase: "Ready", lastUpdated: timestamp(0) };
    const change = recordChange(ended, { ...objects, controlPlane: { status: { conditions } } }, options);
    assert.deepEqual(change, {
      patch: { lastUpdated: null },
      lines: [`lastUpdated: ${timestamp(0)} → none`],
      isDue: false,
    });
    const failed = recordChange(
      { ...ended, phase: "Failed" },
      { ...objects, networkingPhase: "Failed" },
      options,
    );
    assert.equal(failed?.patch["lastUpdated"], null);
    const still = recordChange({ ...ended, phase: "Pending" }, objects, options);
    assert.equal("lastUpdated" in (still?.patch ?? {}), false, "a transition that lasts");
  });

  it("lose the phases of a cluster and a control plane that are gone", () => {
    const change = recordChange(
      { ...agreeing, controlPlanePhase: "Ready", kubernetesVersion: "1.36.3" },
      { machines: [], addons: [] },
      options,
    );
    assert.equal(change?.isDue, true);
    for (const field of ["networkingPhase", "controlPlanePhase", "kubernetesVersion", "nodeCount"])
      assert.equal(change?.patch[field], null, field);
  });
});
