import assert from "node:assert/strict";
import type { Generation } from "../../../../providers/tumblebug/plan/model";
import { RawTumblebug } from "./requests";

const CONNECTION = "aws-ap-northeast-2";

const network = (more: object = {}) => ({
  name: "v0",
  connectionName: CONNECTION,
  cidrBlock: "10.0.0.0/16",
  subnetInfoList: [{ name: "s1", ipv4_CIDR: "10.0.0.0/24", zone: "ap-northeast-2a" }],
  ...more,
});

type Row = readonly [
  says: string,
  ask: [method: string, path: string, body?: unknown],
  status: number,
  text: RegExp | string,
];

/** What no recording has, by the public sources of the releases. */
const ROWS: Readonly<Record<Generation, readonly Row[]>> = {
  mcis: [
    ["health", ["GET", "/health"], 200, /"API server of CB-Tumblebug is alive"/],
    ["no readiness", ["GET", "/readyz"], 404, /"Not Found"/],
    [
      "a region with its zone",
      ["GET", "/region/aws-ap-northeast-2"],
      200,
      /"KeyValueInfoList":\[\{"Key":"Region","Value":"ap-northeast-2"\},\{"Key":"Zone","Value":"ap-northeast-2a"\}\]/,
    ],
    [
      "a region of Azure",
      ["GET", "/region/azure-koreacentral"],
      200,
      /"Key":"location".*"Key":"ResourceGroup"/,
    ],
    [
      "an image without an action",
      ["POST", "/ns/ns1/resources/image", { name: "i1", connectionName: CONNECTION }],
      500,
      /You must specify/,
    ],
    [
      "an MCIS whose VM refers to nothing: a success, and the VM has failed",
      ["POST", "/ns/ns1/mcis", { name: "m1", vm: [{ name: "w-1", vNetId: "v9" }] }],
      201,
      /"status":"Failed:1 \(R:0\/1\)".*"id":"w-1-1".*"status":"Failed"/,
    ],
    ["an unknown action", ["GET", "/ns/ns1/control/mcis/m1?action=dance"], 400, /one of these/],
    [
      "the deletion of an MCIS whose VMs have all failed",
      ["DELETE", "/ns/ns1/mcis/m1"],
      200,
      '{"output":["VM: w-1-1 [Done]","SubGroup: w-1 [Done]","MCIS: m1 [Done]"]}',
    ],
    ["the deletion of an empty namespace", ["DELETE", "/ns/ns1"], 200, /has been deleted/],
  ],
  infra: [
    ["readiness", ["GET", "/readyz"], 200, /"ready":true,"initialized":true/],
    ["a namespace's check", ["GET", "/checkNs/ns1"], 200, "true"],
    [
      "a vNet without subnets",
      ["POST", "/ns/ns1/resources/vNet", network({ subnetInfoList: [] })],
      400,
      /at least one subnet is required/,
    ],
    [
      "a vNet of no block",
      ["POST", "/ns/ns1/resources/vNet", network({ cidrBlock: "all" })],
      400,
      /invalid CIDR/,
    ],
    [
      "a vNet whose subnet has a zone",
      ["POST", "/ns/ns1/resources/vNet", network()],
      201,
      /"ipv4_CIDR":"10\.0\.0\.0\/24","zone":"ap-northeast-2a"/,
    ],
    [
      "the deletion of a vNet without a word on its subnets",
      ["DELETE", "/ns/ns1/resources/vNet/v0"],
      500,
      /has 1 subnet\(s\)/,
    ],
    [
      "several ports in one rule of a security group",
      [
        "POST",
        "/ns/ns1/resources/securityGroup",
        {
          name: "g1",
          connectionName: CONNECTION,
          vNetId: "v0",
          firewallRules: [{ Ports: "22,900-1000", Protocol: "TCP", Direction: "inbound", CIDR: "0.0.0.0/0" }],
        },
      ],
      200,
      /"firewallRules":\[\{"Port":"22","Protocol":"TCP".*\{"Port":"900-1000"/,
    ],
  ],
};

for (const generation of ["mcis", "infra"] as const)
  describe(`The simulated Tumblebug, for requests that were not recorded (${generation})`, () => {
    let server: RawTumblebug;

    before(async () => {
      server = await RawTumblebug.open(generation);
      await server.ask("POST", "/ns", { name: "ns1" });
    });
    after(() => server.close());

    for (const [says, ask, status, text] of ROWS[generation])
      it(`answers ${status}: ${says}`, async () => {
        const answer = await server.ask(...ask);
        if (typeof text === "string") assert.equal(answer.text.trim(), text);
        else assert.match(answer.text, text);
        assert.equal(answer.status, status);
      });
  });

describe("The simulated Tumblebug's limits", () => {
  it("allow 2 reads of an MCIS and 20 requests a second", async () => {
    const limited = await RawTumblebug.open("mcis", { limits: true });
    await limited.ask("POST", "/ns", { name: "ns1" });
    const statuses = async (path: string, count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, () => limited.ask("GET", path)));
      return answers.filter(({ status }) => status === 429);
    };
    const refused = await statuses("/ns/ns1/mcis/m1", 4);
    assert.equal(refused.length, 2);
    assert.equal(refused[0]?.text.trim(), '{"message":"rate limit exceeded"}');
    assert.ok((await statuses("/health", 100)).length >= 15);
    await limited.close();
  });
});

describe("The simulated clouds behind the older server", () => {
  it("refuse to delete a vNet that a security group uses, in a message in a message", async () => {
    const server = await RawTumblebug.open("mcis");
    await server.ask("POST", "/ns", { name: "ns1" });
    const subnetInfoList = [{ Name: "s1", IPv4_CIDR: "10.0.0.0/24" }];
    await server.ask("POST", "/ns/ns1/resources/vNet", network({ name: "v1", subnetInfoList }));
    const group = { name: "g1", connectionName: CONNECTION, vNetId: "v1", firewallRules: [] };
    await server.ask("POST", "/ns/ns1/resources/securityGroup", group);
    const answer = await server.ask("DELETE", "/ns/ns1/resources/vNet/v1");
    assert.equal(answer.status, 500);
    assert.match(answer.text, /^\{"message":"\{\\"message\\":\\"DependencyViolation.*\\"\}\\n"\}$/m);
    await server.close();
  });
});
