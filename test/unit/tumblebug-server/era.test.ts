import assert from "node:assert/strict";
import { RawTumblebug } from "./requests";

const CONNECTION = "aws-ap-northeast-2";

describe("the pretended Tumblebug of release 0.7", () => {
  let server: RawTumblebug;

  before(async () => {
    server = await RawTumblebug.open("mcis");
    await server.ask("POST", "/ns", { name: "ns1" });
  });
  after(() => server.close());

  const rows: readonly [
    says: string,
    ask: [method: string, path: string, body?: unknown],
    status: number,
    text: RegExp | string,
  ][] = [
    ["health", ["GET", "/health"], 200, /"API server of CB-Tumblebug is alive"/],
    ["no readiness", ["GET", "/readyz"], 404, /"Not Found"/],
    [
      "a namespace again",
      ["POST", "/ns", { name: "ns1" }],
      400,
      /CreateNs\(\); The namespace ns1 already exists\./,
    ],
    ["a namespace", ["GET", "/ns/ns1"], 200, '{"id":"ns1","name":"ns1","description":""}'],
    ["an absent namespace", ["GET", "/ns/ns9/mcis/k1"], 404, '{"message":"Not valid namespace"}'],
    [
      "a connection",
      ["GET", `/connConfig/${CONNECTION}`],
      200,
      /"ConfigName":"aws-ap-northeast-2","ProviderName":"AWS".*"RegionName":"aws-ap-northeast-2"/,
    ],
    [
      "no connection",
      ["GET", "/connConfig/x"],
      404,
      /^\{"message":"connection config 'x' does not exist!"\}$/,
    ],
    [
      "a region",
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
      "a machine type, with numbers as text",
      ["POST", "/lookupSpec", { connectionName: CONNECTION, cspSpecName: "t3.medium" }],
      200,
      /"VCpu":\{"Count":"2","Clock":"2\.5"\},"Mem":"4096","Gpu":null/,
    ],
    [
      "images",
      ["POST", "/lookupImages", { connectionName: CONNECTION }],
      200,
      /"image":\[\{"IId":\{"NameId":/,
    ],
    [
      "a new vNet",
      [
        "POST",
        "/ns/ns1/resources/vNet",
        {
          name: "v1",
          connectionName: CONNECTION,
          cidrBlock: "10.0.0.0/16",
          subnetInfoList: [{ Name: "s1", IPv4_CIDR: "10.0.0.0/24" }],
        },
      ],
      201,
      /"subnetInfoList":\[\{"Id":"s1","Name":"s1","IPv4_CIDR":"10\.0\.0\.0\/24".*"cspVNetId":"vnet-/,
    ],
    [
      "the vNet again",
      ["POST", "/ns/ns1/resources/vNet", { name: "v1", connectionName: CONNECTION }],
      500,
      '{"message":"The vNet v1 already exists."}',
    ],
    ["no vNet", ["GET", "/ns/ns1/resources/vNet/v9"], 404, '{"message":"Failed to find vNet v9"}'],
    [
      "no vNet to delete",
      ["DELETE", "/ns/ns1/resources/vNet/v9"],
      500,
      '{"message":"The vNet v9 does not exist."}',
    ],
    ["the vNets' names", ["GET", "/ns/ns1/resources/vNet?option=id"], 200, '{"output":["v1"]}'],
    ["the check", ["GET", "/ns/ns1/checkResource/vNet/v1"], 200, '{"exists":true}'],
    [
      "a security group without its vNet",
      ["POST", "/ns/ns1/resources/securityGroup", { name: "g1", connectionName: CONNECTION, vNetId: "v9" }],
      500,
      /Failed to find vNet v9/,
    ],
    [
      "a security group, whose vNet comes back in CB-Spider's words",
      [
        "POST",
        "/ns/ns1/resources/securityGroup",
        {
          name: "g1",
          connectionName: CONNECTION,
          vNetId: "v1",
          firewallRules: [{ FromPort: "22", ToPort: "22", IPProtocol: "tcp", Direction: "inbound" }],
        },
      ],
      201,
      /"vNetId":"ns1-v1","firewallRules":\[\{"FromPort":"22".*"CIDR":"0\.0\.0\.0\/0"\}\]/,
    ],
    [
      "a vNet that a security group needs: the cloud's refusal in a message in a message",
      ["DELETE", "/ns/ns1/resources/vNet/v1"],
      500,
      /^\{"message":"\{\\"message\\":\\"DependencyViolation.*\\"\}\\n"\}$/m,
    ],
    [
      "an image without an action",
      ["POST", "/ns/ns1/resources/image", { name: "i1", connectionName: CONNECTION }],
      500,
      /You must specify/,
    ],
    [
      "an image",
      [
        "POST",
        "/ns/ns1/resources/image?action=registerWithInfo",
        { name: "i1", connectionName: CONNECTION, cspImageId: "any" },
      ],
      201,
      /"id":"i1".*"cspImageId":"any"/,
    ],
    [
      "a key, with its private half at every read",
      ["POST", "/ns/ns1/resources/sshKey", { name: "k1", connectionName: CONNECTION, username: "cb-user" }],
      201,
      /"privateKey":"-----BEGIN/,
    ],
    ["no MCIS", ["GET", "/ns/ns1/mcis/m9"], 404, '{"message":"The mcis m9 does not exist."}'],
    ["no MCIS to end", ["GET", "/ns/ns1/control/mcis/m9?action=terminate"], 500, /does not exist/],
    ["no MCIS to delete", ["DELETE", "/ns/ns1/mcis/m9"], 500, /does not exist/],
    ["no MCIS, by the check", ["GET", "/ns/ns1/checkMcis/m9"], 200, '{"exists":false}'],
    [
      "an MCIS that refers to nothing",
      ["POST", "/ns/ns1/mcis", { name: "m1", vm: [{ name: "w-1", vNetId: "v9" }] }],
      500,
      /Failed to find vNet v9/,
    ],
    [
      "the MCIS whose creation failed, and left a record",
      ["GET", "/ns/ns1/mcis/m1"],
      200,
      /"targetAction":"Create"/,
    ],
    [
      "the MCIS again",
      ["POST", "/ns/ns1/mcis", { name: "m1" }],
      500,
      '{"message":"The mcis m1 already exists."}',
    ],
    ["an unknown action", ["GET", "/ns/ns1/control/mcis/m1?action=dance"], 400, /one of these/],
    [
      "the deletion of an MCIS without VMs",
      ["DELETE", "/ns/ns1/mcis/m1"],
      200,
      '{"output":["MCIS: m1 [Done]"]}',
    ],
    ["a namespace that is not empty", ["DELETE", "/ns/ns1"], 400, /is not empty/],
  ];
  for (const [says, ask, status, text] of rows)
    it(`answers ${status}: ${says}`, async () => {
      const answer = await server.ask(...ask);
      if (typeof text === "string") assert.equal(answer.text.trim(), text);
      else assert.match(answer.text, text);
      assert.equal(answer.status, status);
    });

  it("refuses a wrong password", async () => {
    const answer = await server.ask("GET", "/health", undefined, "wrong");
    assert.deepEqual([answer.status, answer.text.trim()], [401, '{"message":"Unauthorized"}']);
  });

  it("allows 2 reads of an MCIS and 20 requests a second", async () => {
    const limited = await RawTumblebug.open("mcis", { limits: true });
    await limited.ask("POST", "/ns", { name: "ns1" });
    const statuses = async (path: string, count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, () => limited.ask("GET", path)));
      return answers.filter(({ status }) => status === 429);
    };
    const refused = await statuses("/ns/ns1/mcis/m1", 4);
    assert.equal(refused.length, 2);
    assert.equal(refused[0]?.text.trim(), '{"message":"rate limit exceeded"}');
    assert.ok((await statuses("/health", 40)).length >= 15);
    await limited.close();
  });
});
