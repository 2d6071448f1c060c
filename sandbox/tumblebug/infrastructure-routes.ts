import type { RoutesContext } from "./routes-context";
import { BAD_NAME, NAME } from "./cloud-routes";
import { ok, type Asked, type Route } from "./router";
import { newUid, type StoredInfrastructure, type StoredMachine, type StoredNamespace } from "./state";
import { dropRecords, terminateAll } from "./terminations";
import {
  Refusal,
  sorted,
  summary,
  textOf,
  type Does,
  type GroupRequest,
  type Scene,
  type Wire,
} from "./wire";

const BUSY: readonly string[] = ["Creating", "Terminating"];

/** Routes for whole MCIS or infras. */
export function infrastructureRoutes(context: RoutesContext): Route[] {
  const { state, wire, lifecycle } = context;
  const folder = `/ns/:ns/${wire.infrastructure}`;
  return [
    {
      method: "GET",
      path: folder,
      handle: (asked) => {
        const { infrastructures } = sceneOf(context, asked).namespace;
        return asked.query.get("option") === "id"
          ? ok({ output: infrastructures.map(({ id }) => id) })
          : ok({
              [wire.infrastructure]: infrastructures.map((each) =>
                wire.showInfrastructure(each, sceneOf(context, asked)),
              ),
            });
      },
    },
    {
      method: "GET",
      path: `${folder}/:id`,
      handle: async (asked) => {
        const option = asked.query.get("option") ?? "";
        const found = infrastructureOf(context, asked, option === "status" ? "status" : "read");
        if (option === "id") return ok({ output: found.machines.map(({ id }) => id).sort() });
        await lifecycle.confirm(found);
        return option === "status"
          ? ok({ status: wire.showStatus(found, sceneOf(context, asked)) })
          : ok(wire.showInfrastructure(found, sceneOf(context, asked)));
      },
    },
    {
      method: "GET",
      path: `/ns/:ns/${wire.checkInfrastructure}/:id`,
      handle: ({ params }) =>
        ok({ exists: state.infrastructure(params["ns"] ?? "", params["id"] ?? "") !== undefined }),
    },
    { method: "POST", path: folder, handle: (asked) => create(context, asked) },
    {
      method: "GET",
      path: `/ns/:ns/control/${wire.infrastructure}/:id`,
      handle: (asked) => control(context, asked),
    },
    { method: "DELETE", path: `${folder}/:id`, handle: (asked) => remove(context, asked) },
  ];
}

/** Returns the namespace and infrastructure of a request. */
export function sceneOf({ state, clouds }: RoutesContext, { params }: Asked): Scene {
  return {
    namespace: state.namespace(params["ns"] ?? "") as StoredNamespace,
    connections: clouds.connections,
  };
}

/** @throws Refusal when there is none */
export function infrastructureOf(
  { state, wire }: RoutesContext,
  { params }: Asked,
  does: Does,
): StoredInfrastructure {
  const namespace = params["ns"] ?? "";
  const found = state.infrastructure(namespace, params["id"] ?? "");
  if (found === undefined)
    throw wire.missing("infrastructure", params["id"] ?? "", does, `/ns/${namespace}/${wire.infrastructure}`);
  return found;
}

/** Records the VMs of a group, before checking whether they can be created. */
export function record(infrastructure: StoredInfrastructure, group: GroupRequest): StoredMachine[] {
  const { name, size, ...rest } = group;
  const made = Array.from({ length: Math.max(1, size) }, (): StoredMachine => {
    const number = (infrastructure.lastNumbers[name] ?? 0) + 1;
    infrastructure.lastNumbers[name] = number;
    return {
      ...rest,
      id: `${name}-${number}`,
      uid: newUid(),
      group: name,
      status: "Creating",
      targetStatus: "Running",
      targetAction: "Create",
      systemMessage: "",
      isMade: false,
      hasEnded: false,
      createdTime: "",
      publicAddress: "",
      privateAddress: "",
      sshPort: 22,
    };
  });
  infrastructure.machines.push(...made);
  return made;
}

/** Returns the newer server's error when none of the VMs of a request could be created: the message of one of them. */
export function firstFailure(made: readonly StoredMachine[]): string | undefined {
  const [first] = made;
  if (first === undefined || made.some(({ status }) => status !== "Failed")) return undefined;
  return `VM ${first.id}: ${first.systemMessage}`;
}

async function create(context: RoutesContext, asked: Asked) {
  const { state, wire, lifecycle } = context;
  const { namespace } = sceneOf(context, asked);
  const id = textOf(asked.body, "name");
  if (!NAME.test(id)) throw wire.invalid(BAD_NAME);
  if (state.infrastructure(namespace.id, id) !== undefined)
    throw wire.existing("infrastructure", id, namespace.id);
  const infrastructure: StoredInfrastructure = {
    id,
    uid: newUid(),
    description: textOf(asked.body, "description"),
    label: asked.body["label"] ?? "",
    targetStatus: "Running",
    targetAction: "Create",
    lastNumbers: {},
    machines: [],
    balancers: [],
  };
  // the record comes first: an error from here on leaves it, and the next creation reports that it exists
  namespace.infrastructures.push(infrastructure);
  const made = wire.readGroups(asked.body).flatMap((group) => record(infrastructure, group));
  state.save();
  await lifecycle.create(namespace.id, infrastructure, made);
  const failure = firstFailure([...made].reverse());
  if (wire.generation === "infra" && failure !== undefined)
    throw new Refusal(
      500,
      `Infra '${id}' creation failed: all ${made.length} VMs failed to create.\n\nError: ${failure}`,
    );
  return ok(wire.showInfrastructure(infrastructure, sceneOf(context, asked)), wire.created("infrastructure"));
}

async function control(context: RoutesContext, asked: Asked) {
  const { wire, lifecycle } = context;
  const namespace = asked.params["ns"] ?? "";
  const found = infrastructureOf(context, asked, "use");
  const action = asked.query.get("action") ?? "";
  switch (action) {
    case "terminate": {
      if (found.machines.length === 0)
        return ok({ message: `No ${wire.machineTitle} to terminate in the ${wire.title}` });
      await lifecycle.confirm(found);
      if (asked.query.get("force") !== "true") refuseTransition(found, action, wire);
      await terminateAll(context, namespace, found);
      return ok({ message: `Terminated the ${wire.title}` });
    }
    case "refine":
      if (found.machines.length === 0) return ok({ message: `No ${wire.machineTitle} in the ${wire.title}` });
      await refine(context, namespace, found);
      return ok({ message: `Refined the ${wire.title}` });
    default:
      throw new Refusal(400, `'action' should be one of these: suspend, resume, reboot, terminate, refine`);
  }
}

/** Removes failed VMs one after another. */
async function refine(context: RoutesContext, namespace: string, found: StoredInfrastructure): Promise<void> {
  const { lifecycle, durations, wire } = context;
  await lifecycle.confirm(found);
  const bad = found.machines.filter(({ status }) => status === "Failed" || status === "Undefined");
  if (wire.generation === "mcis") await lifecycle.rest(durations.removal * bad.length);
  await dropRecords(context, namespace, found, bad);
}

function refuseTransition(found: StoredInfrastructure, action: string, wire: Wire): void {
  const isOf = (statuses: readonly string[]) =>
    found.machines.some(({ status }) => statuses.includes(status));
  const isMcis = wire.generation === "mcis";
  const state = summary(found, isMcis);
  if (isOf(isMcis ? BUSY : ["Creating"]))
    throw new Refusal(500, `${action} is not allowed for ${wire.title} under ${state}`);
  if (isMcis && state.startsWith("Terminated"))
    throw new Refusal(500, `${action} is not allowed for ${state} MCIS`);
}

async function remove(context: RoutesContext, asked: Asked) {
  const { state, wire, lifecycle, balancers, durations } = context;
  const { namespace } = sceneOf(context, asked);
  const found = infrastructureOf(context, asked, "delete");
  const option = asked.query.get("option");
  const isMcis = wire.generation === "mcis";
  await lifecycle.confirm(found);
  if (option === "terminate" && !summary(found, isMcis).startsWith("Terminated")) {
    await refine(context, namespace.id, found);
    await terminateAll(context, namespace.id, found);
    await lifecycle.rest(durations.removal);
    await lifecycle.confirm(found);
  }
  if (option !== "force") refuseDeletion(found, wire);
  const shown = wire.showDeletion({ ...found, machines: sorted(found.machines) });
  // running VMs stay in the cloud, as with the real server
  const over = found.machines.filter(({ isMade, hasEnded }) => !isMade || hasEnded);
  await lifecycle.discard(namespace.id, found, over);
  for (const { group } of found.balancers) await balancers.close(namespace.id, found.id, group);
  namespace.infrastructures = namespace.infrastructures.filter((each) => each !== found);
  state.save();
  return ok(shown);
}

/** Only VMs with one common final status are deleted; a mix of failed and terminated ones is not. */
function refuseDeletion(found: StoredInfrastructure, wire: Wire): void {
  const isMcis = wire.generation === "mcis";
  const state = summary(found, isMcis);
  if (state === "" || /^(Terminated|Undefined|Failed|Empty)/.test(state)) return;
  if (isMcis)
    throw new Refusal(
      500,
      `MCIS ${found.id} is ${state} and not Terminated/Undefined/Failed, Deletion is not allowed ` +
        "(use option=force for force deletion)",
    );
  throw new Refusal(
    500,
    state.includes("Terminating")
      ? `Infra ${found.id} is still ${state} — termination is in progress. Please retry deletion in a few minutes`
      : `Infra ${found.id} is ${state}, which is not a deletable status ` +
          "(Terminated/Undefined/Failed/Preparing/Prepared/Empty). Use option=force for forced deletion",
  );
}
