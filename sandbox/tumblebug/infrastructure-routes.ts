import { randomBytes } from "node:crypto";
import type { Balancers } from "./balancers";
import { BAD_NAME, NAME } from "./cloud-routes";
import type { PretendedClouds } from "./clouds";
import type { Lifecycle } from "./lifecycle";
import { machineRoutes } from "./machine-routes";
import { ok, type Asked, type Route } from "./router";
import type { State, StoredInfrastructure, StoredMachine, StoredNamespace } from "./state";
import { Refusal, summary, textOf, type GroupRequest, type Wire } from "./wire";

/** What the routes of VMs work with. */
export interface Ground {
  readonly state: State;
  readonly clouds: PretendedClouds;
  readonly wire: Wire;
  readonly lifecycle: Lifecycle;
  readonly balancers: Balancers;
  readonly balancerAddress: () => Promise<string>;
}

const BUSY: readonly string[] = ["Creating", "Terminating"];
const ENDED: readonly string[] = ["Terminated", "Failed", "Undefined"];

/** MCIS, or infras, with all that happens to them as a whole. */
export function infrastructureRoutes(ground: Ground): Route[] {
  const { state, clouds, wire } = ground;
  const folder = `/ns/:ns/${wire.infrastructure}`;
  const show = (found: StoredInfrastructure, fresh: readonly string[] = []) =>
    wire.showInfrastructure(found, clouds.connections, fresh);
  return [
    {
      method: "GET",
      path: folder,
      handle: ({ params, query }) => {
        const { infrastructures } = state.namespace(params["ns"] ?? "") as StoredNamespace;
        return query.get("option") === "id"
          ? ok({ output: infrastructures.map(({ id }) => id) })
          : ok({ [wire.infrastructure]: infrastructures.map((each) => show(each)) });
      },
    },
    {
      method: "GET",
      path: `${folder}/:id`,
      handle: (asked) => {
        const found = infrastructureOf(ground, asked, "read");
        switch (asked.query.get("option") ?? "") {
          case "status":
            return ok({ status: wire.showStatus(found) });
          case "id":
            return ok({ output: found.machines.map(({ id }) => id).sort() });
          default:
            return ok(show(found));
        }
      },
    },
    {
      method: "GET",
      path: `/ns/:ns/${wire.checkInfrastructure}/:id`,
      handle: ({ params }) =>
        ok({ exists: state.infrastructure(params["ns"] ?? "", params["id"] ?? "") !== undefined }),
    },
    { method: "POST", path: folder, handle: (asked) => create(ground, asked) },
    {
      method: "GET",
      path: `/ns/:ns/control/${wire.infrastructure}/:id`,
      handle: (asked) => control(ground, asked),
    },
    { method: "DELETE", path: `${folder}/:id`, handle: (asked) => remove(ground, asked) },
    ...machineRoutes(ground),
  ];
}

/** @throws Refusal when there is none */
export function infrastructureOf(
  { state, wire }: Ground,
  { params }: Asked,
  does: "read" | "delete",
): StoredInfrastructure {
  const found = state.infrastructure(params["ns"] ?? "", params["id"] ?? "");
  if (found === undefined) throw wire.missing("mcis", params["id"] ?? "", does);
  return found;
}

/** Puts VMs of a group on record. @throws Refusal when what they are to be made from is missing */
export function record(
  { state, wire, clouds }: Ground,
  namespace: string,
  infrastructure: StoredInfrastructure,
  group: GroupRequest,
): StoredMachine[] {
  const needed = [
    ["vNet", group.vNet],
    ["sshKey", group.sshKey],
    // today's server looks in the cloud
    ...(wire.generation === "mcis" ? [["image", group.image] as const] : []),
    ["spec", group.spec],
    ...group.securityGroups.map((id) => ["securityGroup", id] as const),
  ] as const;
  for (const [kind, id] of needed)
    if (state.resource(namespace, kind, id) === undefined) throw wire.invalid(`Failed to find ${kind} ${id}`);
  if (wire.generation === "infra" && clouds.image(group.image) === undefined)
    throw wire.invalid(`The imageKey ${group.image} not found by any of ID, CspImageName, GuestOS`);
  const subnets = state.resource(namespace, "vNet", group.vNet)?.subnets ?? [];
  if (!subnets.some(({ name }) => name === group.subnet))
    throw wire.invalid(`Failed to find subnet ${group.subnet} in vNet ${group.vNet}`);
  const { name, size, ...rest } = group;
  const made = Array.from({ length: Math.max(1, size) }, (): StoredMachine => {
    const number = (infrastructure.lastNumbers[name] ?? 0) + 1;
    infrastructure.lastNumbers[name] = number;
    return {
      ...rest,
      id: `${name}-${number}`,
      uid: randomBytes(10).toString("hex"),
      group: name,
      status: "Creating",
      targetStatus: "Running",
      targetAction: "Create",
      systemMessage: "",
      publicAddress: "",
      privateAddress: "",
      sshPort: 22,
    };
  });
  infrastructure.machines.push(...made);
  return made;
}

async function create(ground: Ground, { params, body }: Asked) {
  const { state, clouds, wire, lifecycle } = ground;
  const namespace = state.namespace(params["ns"] ?? "") as StoredNamespace;
  const id = textOf(body, "name");
  if (!NAME.test(id)) throw wire.invalid(BAD_NAME);
  if (state.infrastructure(namespace.id, id) !== undefined) throw wire.existing("mcis", id, namespace.id);
  const infrastructure: StoredInfrastructure = {
    id,
    uid: randomBytes(10).toString("hex"),
    description: textOf(body, "description"),
    label: body["label"] ?? "",
    targetStatus: "Running",
    targetAction: "Create",
    systemMessages: [],
    lastNumbers: {},
    machines: [],
    balancers: [],
  };
  // first the record: an error from here on leaves it, and the next creation says that it exists
  namespace.infrastructures.push(infrastructure);
  state.save();
  const made = wire.readGroups(body).flatMap((group) => record(ground, namespace.id, infrastructure, group));
  state.save();
  await lifecycle.create(namespace.id, infrastructure, made);
  const isFailed = made.length > 0 && made.every(({ status }) => status === "Failed");
  if (wire.generation === "infra" && isFailed) {
    infrastructure.systemMessages.push(...made.map((each) => `${each.id}: ${each.systemMessage}`));
    state.save();
    throw new Refusal(500, `all nodes failed: ${infrastructure.systemMessages.join("; ")}`);
  }
  const fresh = made.map((machine) => machine.id);
  return ok(wire.showInfrastructure(infrastructure, clouds.connections, fresh), wire.created("mcis"));
}

async function control(ground: Ground, asked: Asked) {
  const { state, wire, lifecycle } = ground;
  const namespace = asked.params["ns"] ?? "";
  const found = infrastructureOf(ground, asked, "delete");
  const action = asked.query.get("action") ?? "";
  const title = wire.generation === "mcis" ? "MCIS" : "Infra";
  switch (action) {
    case "terminate": {
      if (found.machines.length === 0) return ok({ message: `No VM to terminate in the ${title}` });
      if (asked.query.get("force") !== "true") refuseTransition(found, action, wire);
      // it ends behind the answer; what goes wrong with it is told by the lifecycle
      lifecycle.beginTermination(namespace, found, found.machines).catch(() => undefined);
      return ok({ message: `Terminated the ${title}` });
    }
    case "refine": {
      const bad = found.machines.filter(({ status }) => status === "Failed" || status === "Undefined");
      await lifecycle.discard(namespace, found, bad);
      found.machines = found.machines.filter((machine) => !bad.includes(machine));
      state.save();
      return ok({ message: `Refined the ${title}` });
    }
    default:
      throw new Refusal(400, `'action' should be one of these: suspend, resume, reboot, terminate, refine`);
  }
}

function refuseTransition(found: StoredInfrastructure, action: string, wire: Wire): void {
  if (
    found.machines.some(({ status }) => status === "Creating") ||
    (wire.generation === "mcis" && isBusy(found))
  )
    throw new Refusal(500, `${action} is not allowed for MCIS under ${summary(found)}`);
  const isEnded = found.machines.every(({ status }) => status === "Terminated");
  if (wire.generation === "mcis" && isEnded)
    throw new Refusal(500, `${action} is not allowed for ${summary(found)} MCIS`);
}

function isBusy({ machines }: StoredInfrastructure): boolean {
  return machines.some(({ status }) => BUSY.includes(status));
}

async function remove(ground: Ground, asked: Asked) {
  const { state, wire, lifecycle, balancers } = ground;
  const namespace = asked.params["ns"] ?? "";
  const found = infrastructureOf(ground, asked, "delete");
  const option = asked.query.get("option");
  const { machines } = found;
  if (option === "terminate") await lifecycle.beginTermination(namespace, found, machines);
  if (option !== "force" && !machines.every(({ status }) => ENDED.includes(status)))
    throw new Refusal(
      500,
      `${wire.generation === "mcis" ? "MCIS" : "Infra"} ${found.id} is ${summary(found)} and not ` +
        "Terminated/Undefined/Failed, Deletion is not allowed (use option=force for force deletion)",
    );
  await lifecycle.discard(namespace, found, machines);
  for (const { group } of found.balancers) await balancers.close(namespace, found.id, group);
  const inside = state.namespace(namespace) as StoredNamespace;
  inside.infrastructures = inside.infrastructures.filter((each) => each !== found);
  state.save();
  return ok(wire.showDeletion(found));
}
