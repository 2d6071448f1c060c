import { REF } from "./clouds";
import { mcisFields, showDeletion, showInfrastructure, showMachine, showStatus } from "./mcis-machines";
import { mcisResources } from "./mcis-resources";
import { readersOf, showBalancer } from "./shared-wire";
import { Refusal, type Wire } from "./wire";

/** The API of CB-Tumblebug 0.7.0: MCIS, VMs, sub groups; 500 for what exists and for what is missing at a deletion. */
export const mcisWire: Wire = {
  generation: "mcis",
  infrastructure: "mcis",
  machine: "vm",
  group: "subgroup",
  checkInfrastructure: "checkMcis",
  checkMachine: "checkVm",
  title: "MCIS",
  machineTitle: "VM",
  created: () => 201,
  perSecond: 20,

  missing: (kind, id, does, folder) => {
    const status = does === "read" ? 404 : 500;
    if (kind === "connection") return new Refusal(404, `${id}: does not exist!`);
    if (kind === "balancer" && does === "read") return new Refusal(404, `Failed to find the NLB ${id}`);
    if (kind === "balancer")
      return new Refusal(500, `The ${does === "use" ? "nlb" : "NLB"} ${id} does not exist.`);
    if (kind === "machine" && does === "delete") return new Refusal(500, "Failed to delete the VM info");
    if (kind === "machine") return new Refusal(404, `The vm ${id} does not exist.`);
    if (does === "status") return new Refusal(500, `Not found [${folder}/${id}]`);
    if (kind === "infrastructure") return new Refusal(status, `The mcis ${id} does not exist.`);
    return new Refusal(
      status,
      does === "read" ? `Failed to find ${kind} ${id}` : `The ${kind} ${id} does not exist.`,
    );
  },
  existing: (kind, id) => {
    const named = kind === "balancer" ? "nlb" : kind === "infrastructure" ? "mcis" : kind;
    return new Refusal(500, `The ${named} ${id} already exists.`);
  },
  relay,
  notInCloud: (kind, name, does) => {
    const words = `${name} ${kind === "spec" ? "VMSpec" : "image"} does not exist!!`;
    if (does === "lookup") return new Refusal(404, words);
    return new Refusal(
      500,
      `${kind === "spec" ? "Error duing lookup spec from CB-Spider: " : ""}${relay(words)}`,
    );
  },
  invalid: (words) => new Refusal(500, words),

  showNamespace: ({ id, description }) => ({ id, name: id, description }),
  ...mcisResources,
  showRuleChange: (shown) => shown,
  showCloudSpec: ({ name, region, vcpus, mebibytes }) => ({
    Region: region,
    Name: name,
    VCpu: { Count: String(vcpus), Clock: "2.5" },
    Mem: String(mebibytes),
    Gpu: null,
    KeyValueList: null,
  }),
  showCloudImage: ({ name, guestOs }) => ({
    Name: "",
    IId: { NameId: name, SystemId: name },
    GuestOS: guestOs,
    Status: "AVAILABLE",
    KeyValueList: null,
  }),

  ...readersOf(mcisFields),
  showInfrastructure,
  showStatus,
  showMachine,
  showDeletion,

  showBalancer: (balancer, connection, { namespace }) => ({
    ...showBalancer(mcisFields, balancer, connection),
    cspNLBId: `${namespace.id}-${balancer.group}-${balancer.uid}`,
    cspNLBName: `${namespace.id}-${balancer.group}`,
    location: {
      ...REF.mcis,
      cloudType: connection?.provider ?? "",
      nativeRegion: connection?.region ?? "",
    },
  }),
};

function relay(words: string): string {
  return `${JSON.stringify({ message: words })}\n`;
}
