import assert from "node:assert/strict";
import {
  spreadLines,
  topologyLabels,
  unmetTumblebug,
  type TumblebugFacts,
  type DesiredTumblebug,
} from "../../../../providers/tumblebug/plan/requirements";
import { wantedSlots, type MachineGroup } from "../../../../providers/tumblebug/plan/groups";
import type { CloudSpec } from "../../../../providers/tumblebug/plan/model";

const AWS = { provider: "aws", region: "ap-northeast-2", zone: "ap-northeast-2a" };
const spec = (over: Partial<CloudSpec> = {}): CloudSpec => ({
  ...{ name: "t3.medium", region: "r", vcpus: 2, memoryMebibytes: 4096 },
  ...over,
});
const group = (name: string, over: Partial<MachineGroup> = {}): MachineGroup => ({
  ...{ name, role: name === "cp" ? "control-plane" : "worker", connection: "aws", replicas: 1 },
  ...{ spec: "t3.medium", image: "debian", labels: {}, taints: [] },
  ...over,
});
const desired = (over: Partial<DesiredTumblebug> = {}): DesiredTumblebug => ({
  ...{
    namespace: "ns1",
    createNamespace: false,
    infrastructure: "k1",
    loadBalancer: false,
    allowMock: false,
  },
  connections: [{ name: "aws", vNet: "k1-aws-vpc", cidr: "10.21.3.0/24" }],
  slots: wantedSlots([group("cp"), group("w", { replicas: 2 })]),
  ...over,
});
const facts = (over: Partial<TumblebugFacts> = {}): TumblebugFacts => ({
  ...{
    namespaceExists: true,
    connections: { aws: AWS },
    specs: { "aws t3.medium": spec() },
    images: {},
    vNets: [],
  },
  ...over,
});
const two = [
  { name: "aws", vNet: "k1-aws-vpc", cidr: "10.21.3.0/24" },
  { name: "gcp", vNet: "k1-gcp-vpc", cidr: "10.21.4.0/24" },
];

describe("unmet requirements of a server", () => {
  it("are none when everything exists", () => {
    assert.deepEqual(unmetTumblebug(desired(), facts()), []);
  });

  it("do not include a load balancer where the cloud has one", () => {
    for (const [provider, region] of [
      ["aws", "r"],
      ["ncpvpc", "SGN"],
      ["ncpvpc", "jpn-1"],
    ] as const) {
      const there = { aws: { provider, region, zone: "z" } };
      assert.deepEqual(unmetTumblebug(desired({ loadBalancer: true }), facts({ connections: there })), []);
    }
  });

  const table: [
    what: string,
    property: string,
    words: RegExp,
    facts: Partial<TumblebugFacts>,
    desired?: Partial<DesiredTumblebug>,
  ][] = [
    [
      "no namespace",
      "namespace",
      /no namespace "ns1"; create it, or set `createNamespace: true`$/,
      { namespaceExists: false },
    ],
    [
      "an MCIS of others",
      "infrastructure",
      /did not create \(Running:3\).*\(AlreadyExistMCISFailedReason\)$/,
      { infrastructure: { status: "Running:3", isOurs: false } },
    ],
    [
      "an MCIS of another stack",
      "infrastructure",
      /belongs to the stack organization\/foresail\/prod: choose another.*can't be taken over/,
      {
        infrastructure: {
          status: "Running:3",
          isOurs: false,
          madeBy: "the stack organization/foresail/prod",
        },
      },
    ],
    [
      "no connection of the control planes",
      "connections.aws",
      /no connection "aws".*\(GetControlPlaneConnectionInfoFailedReason\)$/,
      { connections: { aws: undefined } },
    ],
    [
      "no connection of workers",
      "connections.gcp",
      /\(GetWorkerConnectionInfoFailedReason\)$/,
      { connections: { aws: AWS, gcp: undefined } },
      { connections: two },
    ],
    [
      "an unknown cloud",
      "connections.aws",
      /the unknown cloud "awss".*"aws".*\(InvalidMCIRReason\)$/,
      { connections: { aws: { ...AWS, provider: "awss" } } },
    ],
    [
      "a region that the server does not have",
      "connections.aws",
      /no region "aws-tokyo" of the connection "aws"; register it there \(InvalidMCIRReason\)$/,
      { connections: { aws: { ...AWS, region: "", zone: "", missingRegion: "aws-tokyo" } } },
    ],
    [
      "a simulated cloud",
      "connections.aws",
      /simulated cloud \("mock"\)/,
      { connections: { aws: { ...AWS, provider: "mock" } } },
    ],
    [
      "no machine type",
      "groups.cp.spec",
      /no machine type "t3.medium" \(InvalidMCIRReason\)$/,
      { specs: { "aws t3.medium": undefined } },
    ],
    [
      "a machine type without numbers",
      "groups.cp.spec",
      /does not report the cores/,
      { specs: { "aws t3.medium": spec({ vcpus: undefined }) } },
    ],
    [
      "too few cores for a control plane",
      "groups.cp.spec",
      /has 1 vCPU, and a control plane needs 2/,
      { specs: { "aws t3.medium": spec({ vcpus: 1 }) } },
    ],
    [
      "too little memory",
      "groups.cp.spec",
      /has 2047 MiB of memory, and a node needs 2 GiB/,
      { specs: { "aws t3.medium": spec({ memoryMebibytes: 2047 }) } },
    ],
    [
      "no image",
      "groups.cp.image",
      /no image "debian" \(InvalidMCIRReason\)$/,
      { images: { "aws debian": false } },
    ],
    [
      "a name that is too long for the cloud",
      "groups.cp.name",
      /"ns1-abcdefghijklmnopqrstuvwxyz-cp-1-1" in the cloud, 37 characters, and ncpvpc allows 30/,
      { connections: { aws: { ...AWS, provider: "ncpvpc" } } },
      { infrastructure: "abcdefghijklmnopqrstuvwxyz", slots: wantedSlots([group("cp")]) },
    ],
    [
      "a VNet of others with another block",
      "connections.aws.cidr",
      /exists and has the block 10.9.0.0\/16; set `cidr: 10.9.0.0\/16`/,
      { vNets: [{ name: "k1-aws-vpc", connection: "aws", cidr: "10.9.0.0/16", isOurs: false }] },
    ],
    [
      "VNets that share addresses",
      "connections.gcp.cidr",
      /overlaps that of the connection "aws".*; choose a block of its own \(InvalidMCIRReason\)$/,
      {
        connections: { aws: AWS, gcp: { ...AWS, provider: "gcp" } },
        vNets: [{ name: "k1-gcp-vpc", connection: "gcp", cidr: "10.21.3.0/25", isOurs: true }],
      },
      { connections: two },
    ],
    [
      "a load balancer that the cloud has not",
      "endpoint.nlb",
      /create a load balancer in the cloud "ibm".*\(CreateNLBFailedReason\)$/,
      { connections: { aws: { ...AWS, provider: "ibm" } } },
      { loadBalancer: true },
    ],
    [
      "a load balancer that the cloud has in other regions",
      "endpoint.nlb",
      /in the cloud "ncpvpc" outside the regions SGN and JPN.*\(CreateNLBFailedReason\)$/,
      { connections: { aws: { provider: "ncpvpc", region: "KR", zone: "KR-1" } } },
      { loadBalancer: true },
    ],
  ];
  for (const [what, property, words, there, asked] of table)
    it(`include ${what}, once, with the property and the reason`, () => {
      const unmet = unmetTumblebug(desired(asked), facts(there));
      const [first] = unmet.filter(
        (unmetRequirement) => unmetRequirement.property === `tumblebug.${property}`,
      );
      assert.ok(first, JSON.stringify(unmet));
      assert.match(first.reason, words);
    });

  it("treat clouds that were registered at run time as their kind", () => {
    const at = (provider: string) => facts({ connections: { aws: { ...AWS, provider } } });
    for (const provider of ["openstack-site01", "aws-gov", "nhncloud-1"])
      assert.deepEqual(unmetTumblebug(desired(), at(provider)), []);
    const one = (provider: string, asked = {}) =>
      unmetTumblebug(desired(asked), at(provider))[0]?.reason ?? "";
    assert.match(one("mock-site01"), /simulated cloud/);
    assert.deepEqual(unmetTumblebug(desired({ allowMock: true }), at("mock-site01")), []);
    assert.match(one("ibm-site01", { loadBalancer: true }), /create a load balancer/);
    const long = { infrastructure: "abcdefghijklmnopqrstuvwxyz", slots: wantedSlots([group("cp")]) };
    assert.match(one("ncp-site01", long), /allows 30/);
    for (const provider of ["openstacksite01", "site01", "mocks", ""])
      assert.match(one(provider), /unknown cloud/);
  });

  it("allow one core for a worker, a simulated cloud for tests, and the stack's own MCIS", () => {
    const worker = desired({ slots: wantedSlots([group("w")]) });
    assert.deepEqual(unmetTumblebug(worker, facts({ specs: { "aws t3.medium": spec({ vcpus: 1 }) } })), []);
    const mock = facts({ connections: { aws: { ...AWS, provider: "mock" } } });
    assert.deepEqual(unmetTumblebug(desired({ allowMock: true }), mock), []);
    const own = facts({ infrastructure: { status: "Running:3", isOurs: true } });
    assert.deepEqual(unmetTumblebug(desired(), own), []);
  });
});

describe("locations of machines", () => {
  it("are set on their Nodes by the well-known labels, as far as a cloud reports it", () => {
    assert.deepEqual(topologyLabels({ ...AWS, zone: "" }), {
      "topology.kubernetes.io/region": "ap-northeast-2",
      "topology.cloud-barista.github.io/csp": "aws",
    });
    assert.equal(topologyLabels(AWS)["topology.kubernetes.io/zone"], "ap-northeast-2a");
  });

  it("are one line per location", () => {
    const gcp = { provider: "gcp", region: "asia-northeast1", zone: "" };
    const slots = [
      { machine: "cp-1", connection: "aws" },
      { machine: "w-1", connection: "gcp" },
      { machine: "w-2", connection: "aws" },
      { machine: "w-3", connection: "unknown" },
    ];
    assert.deepEqual(spreadLines(slots, { aws: AWS, gcp }), [
      "aws ap-northeast-2 ap-northeast-2a: cp-1, w-2",
      "gcp asia-northeast1: w-1",
    ]);
  });
});
