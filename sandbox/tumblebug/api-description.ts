/** Fields of a group of VMs in all releases of the generation `infra`. */
const GROUP_FIELDS = (
  "connectionName cspResourceId dataDiskIds description imageId label name nodeGroupSize nodeUserName " +
  "nodeUserPassword rootDiskSize rootDiskType securityGroupIds specId sshKeyId subnetId vNetId"
).split(" ");

/** What each release added. */
const ADDED = { "0.12.8": [], "0.13.0": ["cspImageName", "subnetIds"] } as const;

/** Returns the part of a server's description of its API, in the format of Swagger 2, that tells releases apart. */
export function describeApi(release: keyof typeof ADDED): object {
  const body = {
    in: "body",
    name: "infraReq",
    required: true,
    schema: { $ref: "#/definitions/model.InfraReq" },
  };
  const groups = { type: "array", items: { $ref: "#/definitions/model.CreateNodeGroupReq" } };
  const fields = [...GROUP_FIELDS, ...ADDED[release]].sort();
  return {
    swagger: "2.0",
    info: { title: "CB-Tumblebug REST API", version: "latest" },
    basePath: "/tumblebug",
    paths: { "/ns/{nsId}/infra": { post: { parameters: [{ in: "path", name: "nsId" }, body] } } },
    definitions: {
      "model.InfraReq": { type: "object", properties: { name: { type: "string" }, nodeGroups: groups } },
      "model.CreateNodeGroupReq": {
        type: "object",
        properties: Object.fromEntries(fields.map((name) => [name, {}])),
      },
    },
  };
}
