import assert from "node:assert/strict";
import { RawTumblebug } from "./requests";

const CONNECTION = "aws-ap-northeast-2";

describe("the pretended Tumblebug of today", () => {
  let server: RawTumblebug;

  before(async () => {
    server = await RawTumblebug.open("infra");
    await server.ask("POST", "/ns", { name: "ns1" });
  });
  after(() => server.close());

  const network = (name: string, more: object = {}) => ({
    name,
    connectionName: CONNECTION,
    cidrBlock: "10.0.0.0/16",
    subnetInfoList: [{ name: "s1", ipv4_CIDR: "10.0.0.0/24", zone: "ap-northeast-2a" }],
    ...more,
  });
  const rows: readonly [
    says: string,
    ask: [method: string, path: string, body?: unknown],
    status: number,
    text: RegExp | string,
  ][] = [
    ["readiness", ["GET", "/readyz"], 200, /"ready":true,"initialized":true/],
    ["a namespace's check", ["GET", "/checkNs/ns1"], 200, "true"],
    ["an absent namespace", ["GET", "/ns/ns9/infra/k1"], 404, '{"message":"Not valid namespace"}'],
    [
      "a connection",
      ["GET", `/connConfig/${CONNECTION}`],
      200,
      /"configName":"aws-ap-northeast-2","providerName":"aws".*"assignedRegion":"ap-northeast-2","assignedZone":"ap-northeast-2a"/,
    ],
    ["no connection", ["GET", "/connConfig/x"], 500, /Cannot find/],
    [
      "a machine type",
      ["POST", "/lookupSpec", { connectionName: CONNECTION, cspResourceId: "t3.medium" }],
      200,
      /"VCpu":\{"Count":"2","ClockGHz":"2\.5"\},"MemSizeMib":"4096"/,
    ],
    [
      "a vNet on a connection of another name",
      ["POST", "/ns/ns1/resources/vNet", network("v0", { connectionName: "x" })],
      500,
      /does not exist/,
    ],
    [
      "a vNet without subnets",
      ["POST", "/ns/ns1/resources/vNet", network("v0", { subnetInfoList: [] })],
      400,
      /at least one subnet is required/,
    ],
    [
      "a vNet of no block",
      ["POST", "/ns/ns1/resources/vNet", network("v0", { cidrBlock: "all" })],
      400,
      /invalid CIDR/,
    ],
    [
      "a new vNet: the one creation with 201",
      ["POST", "/ns/ns1/resources/vNet", network("v1")],
      201,
      /"ipv4_CIDR":"10\.0\.0\.0\/24","zone":"ap-northeast-2a"/,
    ],
    ["the vNet again", ["POST", "/ns/ns1/resources/vNet", network("v1")], 409, /already exists/],
    ["no vNet", ["GET", "/ns/ns1/resources/vNet/v9"], 404, /does not exist/],
    ["a vNet with subnets", ["DELETE", "/ns/ns1/resources/vNet/v1"], 500, /has 1 subnet\(s\)/],
    [
      "a security group",
      [
        "POST",
        "/ns/ns1/resources/securityGroup",
        {
          name: "g1",
          connectionName: CONNECTION,
          vNetId: "v1",
          firewallRules: [{ Ports: "22,900-1000", Protocol: "TCP", Direction: "inbound", CIDR: "0.0.0.0/0" }],
        },
      ],
      200,
      /"vNetId":"v1","firewallRules":\[\{"Port":"22","Protocol":"TCP".*\{"Port":"900-1000"/,
    ],
    [
      "no security group",
      ["GET", "/ns/ns1/resources/securityGroup/g9"],
      400,
      /Failed to find securityGroup g9/,
    ],
    [
      "a vNet that others use",
      ["DELETE", "/ns/ns1/resources/vNet/v1?action=withsubnets"],
      500,
      /Associated with/,
    ],
    [
      "a spec",
      [
        "POST",
        "/ns/ns1/resources/spec",
        { name: "t1", connectionName: CONNECTION, cspSpecName: "t3.medium" },
      ],
      200,
      /"id":"t1".*"vCPU":2,"memoryGiB":4/,
    ],
    ["no spec", ["GET", "/ns/ns1/resources/spec/t9"], 500, /Failed to find/],
    [
      "an image, under the cloud's name",
      [
        "POST",
        "/ns/ns1/resources/image?action=registerWithId",
        { name: "ignored", connectionName: CONNECTION, cspImageName: "debian-12" },
      ],
      200,
      /"id":"debian-12"/,
    ],
    [
      "a key",
      ["POST", "/ns/ns1/resources/sshKey", { name: "k1", connectionName: CONNECTION, username: "u" }],
      200,
      /"verifiedUsername":"u"/,
    ],
    ["no infra", ["GET", "/ns/ns1/infra/m9"], 500, '{"message":"The infra m9 does not exist."}'],
    ["no infra, by the check", ["GET", "/ns/ns1/checkInfra/m9"], 200, '{"exists":false}'],
    [
      "an infra",
      [
        "POST",
        "/ns/ns1/infra",
        {
          name: "m1",
          installMonAgent: "no",
          nodeGroups: [
            {
              ...{
                name: "w-1",
                nodeGroupSize: 1,
                connectionName: CONNECTION,
                specId: "t1",
                cspImageName: "debian-12",
              },
              ...{
                vNetId: "v1",
                subnetId: "s1",
                securityGroupIds: ["g1"],
                sshKeyId: "k1",
                nodeUserName: "u",
              },
            },
          ],
        },
      ],
      200,
      /"systemMessage":null.*"node":\[\{.*"id":"w-1-1".*"nodeGroupId":"w-1","status":"Running".*"region":\{"region":"ap-northeast-2","zone":"ap-northeast-2a"\}.*"sshPort":22.*"newNodeList":\["w-1-1"\]/,
    ],
    [
      "the infra again",
      ["POST", "/ns/ns1/infra", { name: "m1" }],
      500,
      /Infra 'm1' already exists in namespace 'ns1'/,
    ],
    [
      "a security group that nodes use",
      ["DELETE", "/ns/ns1/resources/securityGroup/g1"],
      500,
      /Associated with/,
    ],
    ["an infra that runs", ["DELETE", "/ns/ns1/infra/m1"], 500, /is Running:1 \(R:1\/1\) and not Terminated/],
    ["a node", ["GET", "/ns/ns1/infra/m1/node/w-1-1"], 200, /"nodeUserName":"u"/],
    ["no node", ["DELETE", "/ns/ns1/infra/m1/node/w-9"], 400, /does not exist/],
    [
      "the end of all",
      ["DELETE", "/ns/ns1/infra/m1?option=terminate"],
      200,
      '{"output":["[Done] Node: w-1-1","[Done] Infra: m1"]}',
    ],
    ["the security group then", ["DELETE", "/ns/ns1/resources/securityGroup/g1"], 200, /has been deleted/],
  ];
  for (const [says, ask, status, text] of rows)
    it(`answers ${status}: ${says}`, async () => {
      const answer = await server.ask(...ask);
      if (typeof text === "string") assert.equal(answer.text.trim(), text);
      else assert.match(answer.text, text);
      assert.equal(answer.status, status);
    });
});
