import { firstFailure, infrastructureOf, record, sceneOf } from "./infrastructure-routes";
import type { RoutesContext } from "./routes-context";
import { ok, type Asked, type Route } from "./router";
import type { StoredMachine } from "./state";
import { dropRecords } from "./terminations";
import { Refusal, type Does } from "./wire";

/** Routes for single VMs and groups of them. */
export function machineRoutes(context: RoutesContext): Route[] {
  const { wire, state, lifecycle } = context;
  const infrastructure = `/ns/:ns/${wire.infrastructure}/:id`;
  const machine = `${infrastructure}/${wire.machine}`;
  return [
    {
      method: "POST",
      path: machine,
      handle: (asked) => add(context, asked, wire.readGroup(asked.body)),
    },
    {
      method: "POST",
      path: `${infrastructure}/${wire.group}/:group`,
      handle: (asked) => {
        const group = asked.params["group"] ?? "";
        const found = infrastructureOf(context, asked, "use");
        const like = found.machines.find((each) => each.group === group);
        if (like === undefined) throw wire.invalid(`The ${wire.group} ${group} does not exist.`);
        return add(context, asked, { ...like, name: group, size: wire.readGrowth(asked.body) });
      },
    },
    {
      method: "GET",
      path: `${machine}/:machine`,
      handle: async (asked) => {
        const found = machineOf(context, asked, "read");
        const inside = infrastructureOf(context, asked, "read");
        if (asked.query.get("option") === "idsInDetail")
          return ok({
            idInTb: found.id,
            idInSp: `${asked.params["ns"]}-${asked.params["id"]}-${found.id}`,
            idInCsp: found.uid,
            nameInCsp: found.id,
          });
        await lifecycle.confirm(inside);
        return ok(wire.showMachine(found, inside, sceneOf(context, asked)));
      },
    },
    {
      method: "GET",
      path: `${infrastructure}/${wire.checkMachine}/:machine`,
      handle: ({ params }) => {
        const found = state.infrastructure(params["ns"] ?? "", params["id"] ?? "");
        return ok({ exists: found?.machines.some(({ id }) => id === params["machine"]) ?? false });
      },
    },
    { method: "DELETE", path: `${machine}/:machine`, handle: (asked) => remove(context, asked) },
  ];
}

function machineOf({ state, wire }: RoutesContext, { params }: Asked, does: Does): StoredMachine {
  const [namespace = "", infrastructure = "", id = ""] = [params["ns"], params["id"], params["machine"]];
  const inside = state.infrastructure(namespace, infrastructure);
  const found = inside?.machines.find((each) => each.id === id);
  const folder = `/ns/${namespace}/${wire.infrastructure}/${infrastructure}/${wire.machine}`;
  if (found === undefined) throw wire.missing("machine", id, does, folder);
  return found;
}

async function add(context: RoutesContext, asked: Asked, group: Parameters<typeof record>[1]) {
  const { state, wire, lifecycle } = context;
  const found = infrastructureOf(context, asked, "use");
  // 0.7.0 drops the label of an added VM
  const made = record(found, wire.generation === "mcis" ? { ...group, label: "" } : group);
  state.save();
  await lifecycle.create(asked.params["ns"] ?? "", found, made);
  const failure = firstFailure(made);
  if (wire.generation === "infra" && failure !== undefined) throw new Refusal(500, failure);
  const fresh = made.map(({ id }) => id);
  return ok(wire.showInfrastructure(found, sceneOf(context, asked), fresh), wire.created("infrastructure"));
}

/** Ends a VM and removes its record. The response to any error says only that it failed. */
async function remove(context: RoutesContext, asked: Asked) {
  const { wire, lifecycle, durations } = context;
  const namespace = asked.params["ns"] ?? "";
  const machine = machineOf(context, asked, "delete");
  const found = infrastructureOf(context, asked, "delete");
  const isForced = asked.query.get("option") === "force";
  const isMcis = wire.generation === "mcis";
  if (isMcis || (machine.isMade && !machine.hasEnded && !isForced)) {
    // the cloud of 0.7.0, as recorded, ends a single VM at once
    await lifecycle.endMachines(namespace, found, [machine], isMcis ? 0 : 1);
    await lifecycle.rest(durations.removal);
    if (machine.isMade && !machine.hasEnded && !isForced)
      throw wire.missing("machine", machine.id, "delete", "");
  }
  await dropRecords(context, namespace, found, [machine]);
  return ok({ message: `Deleted the ${wire.machineTitle} info` });
}
