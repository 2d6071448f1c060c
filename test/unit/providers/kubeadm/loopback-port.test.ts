import assert from "node:assert/strict";
import type { Outputs, StateResources } from "../../../../lib/pulumi/state";
import {
  loopbackPort,
  loopbackPortIn,
  recordPort,
} from "../../../../providers/kubeadm/plan/endpoint/loopback-port";
import { loopbackPortIssue } from "../../../../lib/validation/ports";

const COMMAND = "command:remote:Command";
const INIT = "pulumi-nodejs:dynamic/foresail:ClusterInit";
const EARLIER = "base64 -d | gunzip | bash -s";

const urn = (type: string, name: string) => `urn:pulumi:test::demo::${type}::${name}`;
const stateOf = (...resources: [type: string, name: string, outputs: Outputs][]): StateResources =>
  Object.fromEntries(resources.map(([type, name, outputs]) => [urn(type, name), { type, outputs }]));

const prepared = (name: string, port?: number): [string, string, Outputs] => [
  COMMAND,
  name,
  { create: port === undefined ? EARLIER : `${EARLIER} ${recordPort(port)}`, stdin: "H4sI" },
];
const initialized = (endpoint?: object): [string, string, Outputs] => [
  INIT,
  "prod-init",
  { specification: { name: "prod", ...(endpoint && { endpoint }) } },
];

describe("the port of a loopback endpoint that the configuration does not name", () => {
  const cases: [title: string, state: StateResources, port: number][] = [
    ["a new stack", {}, 7445],
    ["a stack with the machines' host keys alone", stateOf(["foresail:HostKey", "prod-cp-1-key", {}]), 7445],
    ["a cluster of an earlier release", stateOf(initialized({ loopback: { port: 8443 } })), 8443],
    ["a cluster that was made with another port", stateOf(initialized({ loopback: { port: 9001 } })), 9001],
    ["a cluster whose state names no port", stateOf(initialized()), 8443],
    ["machines that an earlier release prepared", stateOf(prepared("prod-w-1-prepare")), 8443],
    ["machines prepared before an interrupt", stateOf(prepared("prod-w-1-prepare", 7445)), 7445],
    ["machines prepared for another port", stateOf(prepared("prod-cp-1-prepare-2", 9001)), 9001],
    [
      "a cluster of an earlier release with a machine prepared for it since",
      stateOf(prepared("prod-w-1-prepare", 7445), initialized({ loopback: { port: 8443 } })),
      8443,
    ],
    [
      "another cluster's machines",
      stateOf(prepared("dev-w-1-prepare"), prepared("prod-b-w-1-prepare")),
      7445,
    ],
    ["another command", stateOf([COMMAND, "prod-w-1-report", { create: "report" }]), 7445],
  ];
  for (const [title, state, port] of cases)
    it(`is ${port} for ${title}`, () => assert.equal(loopbackPort("prod", ["cp-1", "w-1"], state), port));

  it("is free on every node", () => assert.equal(loopbackPortIssue(loopbackPort("prod", [], {})), undefined));
});

describe("the port of a loopback endpoint in the outputs of a stack", () => {
  const cases: [endpoint: unknown, port: number | undefined][] = [
    ["127.0.0.1:7445", 7445],
    ["lb.example.com:6443", undefined],
    ["10.127.0.0.1:6443", undefined],
    ["127.0.0.1:", undefined],
    ["", undefined],
    [undefined, undefined],
    [{ host: "127.0.0.1:7445" }, undefined],
  ];
  for (const [endpoint, port] of cases)
    it(`is ${port} in ${JSON.stringify(endpoint)}`, () => assert.equal(loopbackPortIn(endpoint), port));
});
