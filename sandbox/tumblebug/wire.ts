import type {
  StoredBalancer,
  StoredConnection,
  StoredInfrastructure,
  StoredMachine,
  StoredResource,
  StoredResourceKind,
} from "./state";

/** A request to the server is refused with this answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly status: number,
    /** wrapped as `{"message": …}`; or the bare text of an answer that is no JSON */
    readonly words: string,
    readonly isBare = false,
  ) {
    super(words);
  }
}

export type Body = Readonly<Record<string, unknown>>;

/** What a request for VMs of one group says. */
export type GroupRequest = Omit<
  StoredMachine,
  | "id"
  | "uid"
  | "group"
  | "status"
  | "targetStatus"
  | "targetAction"
  | "systemMessage"
  | "publicAddress"
  | "privateAddress"
  | "sshPort"
> & { readonly name: string; readonly size: number };

export interface BalancerRequest {
  readonly group: string;
  readonly type: string;
  readonly scope: string;
  readonly port: number;
  readonly targetPort: number;
}

/** A kind of thing in the words of refusals. */
export type Thing = StoredResourceKind | "mcis" | "machine" | "nlb" | "connection";

/** The words and numbers of one generation of the API. */
export interface Wire {
  readonly generation: "mcis" | "infra";
  /** "mcis" or "infra"; "vm" or "node"; "subgroup" or "nodegroup" */
  readonly infrastructure: string;
  readonly machine: string;
  readonly group: string;
  readonly checkInfrastructure: string;
  readonly checkMachine: string;
  /** of a creation that went well */
  created(kind: Thing): number;
  /** requests a second, of all clients */
  readonly perSecond: number;
  /** whether deleting something that others use is refused by the server itself */
  readonly checksAssociations: boolean;

  missing(kind: Thing, id: string, does: "read" | "delete"): Refusal;
  existing(kind: Thing, id: string, namespace: string): Refusal;
  /** an answer of CB-Spider that the server hands on */
  relayed(words: string): Refusal;
  invalid(words: string): Refusal;

  readResource(
    kind: StoredResourceKind,
    body: Body,
  ): Omit<StoredResource, "kind" | "cloudId" | "uid" | "publicKey" | "privateKey" | "vcpus" | "mebibytes">;
  showResource(resource: StoredResource, namespace: string, users: readonly string[]): Body;
  showConnection(connection: StoredConnection): Body;
  showCloudSpec(spec: { name: string; region: string; vcpus: number; mebibytes: number }): Body;
  readCloudSpecName(body: Body): string;
  showCloudImage(image: { name: string; guestOs: string }): Body;
  readCloudImageName(body: Body): string;

  readGroups(body: Body): GroupRequest[];
  readGroup(body: Body): GroupRequest;
  readGrowth(body: Body): number;
  showInfrastructure(
    infrastructure: StoredInfrastructure,
    connections: readonly StoredConnection[],
    fresh: readonly string[],
  ): Body;
  showStatus(infrastructure: StoredInfrastructure): Body;
  showMachine(machine: StoredMachine, connections: readonly StoredConnection[]): Body;
  showDeletion(infrastructure: StoredInfrastructure): Body;

  readBalancer(body: Body): BalancerRequest;
  readBalancerMachines(body: Body): string[];
  showBalancer(balancer: StoredBalancer, connection: string): Body;
}

/** The state of all VMs as the server sums it up: "Running:3 (R:3/3)", "Partial-Failed:1 (R:2/3)". */
export function summary({ machines }: StoredInfrastructure): string {
  if (machines.length === 0) return "";
  const counts = new Map<string, number>();
  for (const { status } of machines) counts.set(status, (counts.get(status) ?? 0) + 1);
  const [[status, count] = ["", 0]] = [...counts].sort((a, b) => b[1] - a[1]);
  const odd = [...counts].find(([each]) => each === "Failed") ?? [status, count];
  const partly = counts.size > 1 ? odd : [status, count];
  const running = counts.get("Running") ?? 0;
  return `${counts.size > 1 ? "Partial-" : ""}${partly[0]}:${partly[1]} (R:${running}/${machines.length})`;
}

/** VMs in the order in which the server lists them: by their names' letters, so that "-10" comes before "-2". */
export function sorted(machines: readonly StoredMachine[]): StoredMachine[] {
  return [...machines].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Text of a body's field; "" when it has none. */
export function textOf(body: Body, field: string): string {
  const value = body[field];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** Objects in a body's list. */
export function listOf(body: Body, field: string): Body[] {
  const value = body[field];
  return Array.isArray(value) ? (value as Body[]) : [];
}

/** Names in a body's list. */
export function namesOf(body: Body, field: string): string[] {
  const value = body[field];
  return Array.isArray(value) ? value.map(String) : [];
}

/** An object in a body's field. */
export function objectOf(body: Body, field: string): Body {
  const value = body[field];
  return typeof value === "object" && value !== null ? (value as Body) : {};
}
