import { REF } from "./clouds";
import { infraFields, showDeletion, showInfrastructure, showMachine, showStatus } from "./infra-machines";
import { infraResources, showConnection } from "./infra-resources";
import { readersOf, showBalancer } from "./shared-wire";
import { Refusal, type Wire } from "./wire";

/** The API of 0.12.6 and later, as recorded from 0.13: infras, nodes, node groups; 400, 404 or 500 for what is missing. */
export const infraWire: Wire = {
  generation: "infra",
  infrastructure: "infra",
  machine: "node",
  group: "nodegroup",
  checkInfrastructure: "checkInfra",
  checkMachine: "checkNode",
  title: "Infra",
  machineTitle: "Node",
  created: (kind) => (kind === "vNet" ? 201 : 200),
  perSecond: 50,

  missing: (kind, id, does, folder) => {
    switch (kind) {
      case "vNet":
        return new Refusal(404, `does not exist, vNet: ${id}`);
      case "infrastructure":
        return does === "status"
          ? new Refusal(400, `Not found [${folder}/${id}]`)
          : new Refusal(500, `The infra ${id} does not exist.`);
      case "machine":
        return does === "delete"
          ? new Refusal(400, "Failed to delete the Node info")
          : new Refusal(500, `no Node found (ID: ${folder}/${id})`);
      case "balancer":
        return new Refusal(500, `The ${does === "use" ? "nlb" : "NLB"} ${id} does not exist.`);
      case "connection":
        return new Refusal(500, `Cannot find the model.ConnConfig /connection/${id}`);
      case "image":
      case "spec":
      case "securityGroup":
      case "sshKey":
        if (does === "delete") return new Refusal(500, `The ${kind} ${id} does not exist.`);
        if (kind === "image") return new Refusal(500, imageKeyNotFound(id));
        if (kind === "spec") return new Refusal(500, specKeyNotFound(id));
        return new Refusal(400, `Failed to find ${kind} ${id}`);
    }
  },
  existing: (kind, id, namespace) => {
    if (kind === "vNet") return new Refusal(409, `already exists, vNet: ${id}`);
    if (kind === "infrastructure")
      return new Refusal(500, `Infra '${id}' already exists in namespace '${namespace}'`);
    if (kind === "image")
      return new Refusal(
        500,
        'ERROR: duplicate key value violates unique constraint "image_infos_pkey" (SQLSTATE 23505)',
      );
    return new Refusal(500, `The ${kind === "balancer" ? "nlb" : kind} ${id} already exists.`);
  },
  relay,
  notInCloud: (kind, name) =>
    new Refusal(
      500,
      kind === "spec"
        ? relay(`${name} VMSpec does not exist!!`, `vmspec/${name}`)
        : `image '${name}' not found in both regular and custom images: ` +
            relay(`${name} image does not exist!!`, `vmimage/${name}`),
    ),
  invalid: (words) => new Refusal(400, words),

  showNamespace: ({ id, description }) => ({ resourceType: "", id, name: id, description }),
  ...infraResources,
  showRuleChange: (shown, did) => ({
    id: shown["id"],
    name: shown["name"],
    success: true,
    message: `Successfully ${did === "added" ? "added new" : "deleted specified"} firewall rules`,
    updated: shown,
    previous: shown,
  }),
  showCloudSpec: ({ name, region, vcpus, mebibytes }) => ({
    Region: region,
    Name: name,
    VCpu: { Count: String(vcpus), ClockGHz: "2.5" },
    MemSizeMib: String(mebibytes),
    DiskSizeGB: "-1",
  }),
  showCloudImage: ({ name, guestOs }) => ({
    IId: { NameId: name, SystemId: name },
    Name: name,
    OSArchitecture: "x86_64",
    OSPlatform: "Linux/UNIX",
    OSDistribution: guestOs,
    OSDiskType: "gp3",
    OSDiskSizeGB: "35",
    ImageStatus: "Available",
  }),

  ...readersOf(infraFields),
  showInfrastructure,
  showStatus,
  showMachine,
  showDeletion,

  showBalancer: (balancer, connection) => ({
    ...showBalancer(infraFields, balancer, connection),
    resourceType: "",
    cspResourceName: balancer.uid,
    cspResourceId: balancer.uid,
    connectionConfig: connection === undefined ? {} : showConnection(connection),
    location: REF.infra,
  }),
};

/**
 * Returns the server's message for an image that it does not find; according to the recording also for a registered
 * one.
 */
export function imageKeyNotFound(id: string): string {
  return `The imageKey ${id} not found by any of ID, CspImageName, GuestOS`;
}

export function specKeyNotFound(id: string): string {
  return `The specKey ${id} not found by any of ID, CspSpecName`;
}

function relay(words: string, spiderPath: string): string {
  return `${words} (from 127.0.0.1:1024/spider/${spiderPath} (500 Internal Server Error))`;
}
