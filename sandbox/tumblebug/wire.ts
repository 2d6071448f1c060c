import type {
  StoredBalancer,
  StoredConnection,
  StoredInfrastructure,
  StoredMachine,
  StoredNamespace,
  StoredResource,
  StoredResourceKind,
} from "./state";

/** Thrown to reject a request with this response. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly status: number,
    /** wrapped as `{"message": …}`; or the plain text of a response that is not JSON */
    readonly words: string,
    readonly isBare = false,
  ) {
    super(words);
  }
}

export type Body = Readonly<Record<string, unknown>>;

/** A request for VMs of one group. */
export type GroupRequest = Pick<
  StoredMachine,
  | "connection"
  | "spec"
  | "image"
  | "cloudImage"
  | "vNet"
  | "subnet"
  | "securityGroups"
  | "sshKey"
  | "user"
  | "rootDiskType"
  | "rootDiskSize"
  | "label"
  | "description"
> & { readonly name: string; readonly size: number };

interface BalancerRequest {
  readonly group: string;
  readonly type: string;
  readonly scope: string;
  readonly port: number;
  readonly targetPort: number;
}

/** A kind of object as error messages name it. */
type Thing = StoredResourceKind | "infrastructure" | "machine" | "balancer" | "connection";

/** The operation of a request on an object: "status" is the short read of an infrastructure, "use" any other change. */
export type Does = "read" | "status" | "delete" | "use";

/** The location of an object, and the names in it. */
export interface Scene {
  readonly namespace: StoredNamespace;
  readonly connections: readonly StoredConnection[];
}

/** The texts and numbers of one generation of the API. */
export interface Wire {
  readonly generation: "mcis" | "infra";
  /** "mcis" or "infra"; "vm" or "node"; "subgroup" or "nodegroup" */
  readonly infrastructure: string;
  readonly machine: string;
  readonly group: string;
  readonly checkInfrastructure: string;
  readonly checkMachine: string;
  /** in messages: "MCIS" or "Infra", "VM" or "Node" */
  readonly title: string;
  readonly machineTitle: string;
  /** of a creation that succeeded */
  created(kind: Thing): number;
  /** requests a second, of all clients */
  readonly perSecond: number;

  /** @param folder the path of what contains the object, such as "/ns/n/infra/i" */
  missing(kind: Thing, id: string, does: Does, folder: string): Refusal;
  existing(kind: Thing, id: string, namespace: string): Refusal;
  /** the part of an error of CB-Spider, or of the cloud behind it, that the server passes on */
  relay(words: string, spiderPath: string): string;
  /** error for a machine type or image that the cloud does not have */
  notInCloud(kind: "spec" | "image", name: string, does: "lookup" | "register"): Refusal;
  invalid(words: string): Refusal;

  showNamespace(namespace: StoredNamespace): Body;
  readResource(
    kind: StoredResourceKind,
    body: Body,
  ): Omit<
    StoredResource,
    "kind" | "cloudId" | "uid" | "createdTime" | "publicKey" | "privateKey" | "vcpus" | "mebibytes"
  >;
  showResource(resource: StoredResource, scene: Scene, users: readonly string[]): Body;
  /** the answer to a change of a security group's rules */
  showRuleChange(shown: Body, did: "added" | "deleted"): Body;
  showConnection(connection: StoredConnection): Body;
  showCloudSpec(spec: { name: string; region: string; vcpus: number; mebibytes: number }): Body;
  readCloudSpecName(body: Body): string;
  showCloudImage(image: { name: string; guestOs: string }): Body;
  readCloudImageName(body: Body): string;

  readGroups(body: Body): GroupRequest[];
  readGroup(body: Body): GroupRequest;
  readGrowth(body: Body): number;
  /** @param fresh the VMs that the request added */
  showInfrastructure(infrastructure: StoredInfrastructure, scene: Scene, fresh?: readonly string[]): Body;
  showStatus(infrastructure: StoredInfrastructure, scene: Scene): Body;
  showMachine(machine: StoredMachine, infrastructure: StoredInfrastructure, scene: Scene): Body;
  showDeletion(infrastructure: StoredInfrastructure): Body;

  readBalancer(body: Body): BalancerRequest;
  readBalancerMachines(body: Body): string[];
  showBalancer(balancer: StoredBalancer, connection: StoredConnection | undefined, scene: Scene): Body;
}

const COUNTED = ["Failed", "Suspended", "Running", "Terminated", "Creating", "Terminating", "Undefined"];

/**
 * Returns the state of all VMs as the server summarizes it: "Running:3 (R:3/3)", "Partial-Running:6 (R:6/7)".
 * @param isFailureFirst whether failed VMs determine the state even in the minority, as in 0.7.0
 */
export function summary({ machines }: StoredInfrastructure, isFailureFirst: boolean): string {
  if (machines.length === 0) return isFailureFirst ? "" : "Empty";
  const count = (status: string) => machines.filter((each) => each.status === status).length;
  const most = COUNTED.reduce((best, each) => (count(each) > count(best) ? each : best));
  const named = isFailureFirst && count("Failed") > 0 ? "Failed" : most;
  const partly = count(named) === machines.length ? "" : "Partial-";
  return `${partly}${named}:${count(named)} (R:${count("Running")}/${machines.length})`;
}

/** Returns how many VMs are in each state. @param names as the generation counts them, without "count" */
export function statusCount({ machines }: StoredInfrastructure, names: readonly string[]): Body {
  return Object.fromEntries([
    ["countTotal", machines.length],
    ...names.map((name) => [`count${name}`, machines.filter(({ status }) => status === name).length]),
  ]) as Body;
}

/** Returns VMs in the server's order: alphabetically by name, so that "-10" comes before "-2". */
export function sorted(machines: readonly StoredMachine[]): StoredMachine[] {
  return [...machines].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns the text of a body's field; "" when it has none. */
export function textOf(body: Body, field: string): string {
  const value = body[field];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** Returns the objects in a body's list. */
export function listOf(body: Body, field: string): Body[] {
  const value = body[field];
  return Array.isArray(value) ? (value as Body[]) : [];
}

/** Returns the names in a body's list. */
export function namesOf(body: Body, field: string): string[] {
  const value = body[field];
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns the object in a body's field. */
export function objectOf(body: Body, field: string): Body {
  const value = body[field];
  return typeof value === "object" && value !== null ? (value as Body) : {};
}
