import assert from "node:assert/strict";
import { ClusterInput } from "../../../../stacks/schema";
import { issuesOf } from "./issues";
import { cluster, reader } from "./valid";

const issues = (rollout: unknown) => issuesOf(reader(cluster({ rollout })));

describe("configuration: version rollouts", () => {
  it("has a default for everything", () => {
    assert.deepEqual(ClusterInput.parse(cluster()).rollout, {
      maxUnavailable: 1,
      pools: {},
      pausedNodes: [],
      intermediateVersions: [],
      soakSeconds: 0,
      nodeTimeoutSeconds: 1200,
      software: {},
      annotations: "alpha.[software].caos.ch",
    });
  });

  it("accepts every setting", () => {
    const rollout = {
      maxUnavailable: "25%",
      pools: { workers: { maxUnavailable: 2, paused: true }, "control-plane": { paused: true } },
      pausedNodes: ["w-1"],
      unreachable: "5%",
      intermediateVersions: ["1.35.4"],
      soakSeconds: 60,
      gate: { url: "https://status.example.com/ready" },
      stopAfter: "06:00",
      nodeTimeoutSeconds: 600,
      software: { containerd: "1.7.24~ds1-6", osPackages: "2026-11" },
      annotations: "[software].example.com",
    };
    assert.deepEqual(issues(rollout), []);
  });

  const COUNT = 'write a number of nodes from 1, or a percentage from "1%" to "100%"';
  const MACHINES = 'write a number of machines from 0, or a percentage from "0%" to "100%"';
  for (const [issue, rollout] of [
    [`maxUnavailable: is 0; ${COUNT}`, { maxUnavailable: 0 }],
    [`maxUnavailable: is 1.5; ${COUNT}`, { maxUnavailable: 1.5 }],
    [`maxUnavailable: is "101%"; ${COUNT}`, { maxUnavailable: "101%" }],
    [
      'maxUnavailable: is neither a number of nodes nor a percentage; write e.g. 2 or "25%"',
      { maxUnavailable: true },
    ],
    [`unreachable: is -1; ${MACHINES}`, { unreachable: -1 }],
    [`unreachable: is "5"; ${MACHINES}`, { unreachable: "5" }],
    [
      'unreachable: is neither a number of machines nor a percentage; write e.g. 2 or "5%"',
      { unreachable: true },
    ],
    [
      'pools.worker: "worker" is not a pool of this cluster; did you mean "workers"?',
      { pools: { worker: {} } },
    ],
    [
      "pools.control-plane.maxUnavailable: can't be set: control planes change one at a time; remove it",
      { pools: { "control-plane": { maxUnavailable: 1 } } },
    ],
    ['pausedNodes[0]: "w-7" is not a machine of this cluster; did you mean "w-1"?', { pausedNodes: ["w-7"] }],
    [
      'stopAfter: "6am" is neither a duration nor a time of day; write e.g. "2h", "1h30m" or "06:00"',
      { stopAfter: "6am" },
    ],
    ["gate: is empty; choose one of url, command", { gate: {} }],
    ["gate: url and command exclude each other; keep one", { gate: { url: "https://a.b", command: "true" } }],
    [
      'intermediateVersions[0]: "v1.35.4" must be written without the "v": "1.35.4"',
      { intermediateVersions: ["v1.35.4"] },
    ],
    [
      'annotations: "caos.ch" must hold [software] once; write e.g. "alpha.[software].caos.ch"',
      { annotations: "caos.ch" },
    ],
    [
      'software.containerd: "1.7; rm" is not a version; write at most 63 letters, digits, dots, dashes, plus signs, colons and tildes, with a letter other than "v" or a digit first',
      { software: { containerd: "1.7; rm" } },
    ],
  ] as const)
    it(`says: ${issue}`, () => {
      assert.deepEqual(issues(rollout), [`cluster.rollout.${issue}`]);
    });
});
