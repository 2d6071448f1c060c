import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { infrastructureOf, record, type Ground } from "./infrastructure-routes";
import { ok, type Asked, type Route } from "./router";
import type { StoredBalancer, StoredMachine } from "./state";
import { Refusal } from "./wire";

/** For how long today's server waits for a VM's end before it asks to come back. */
const PATIENCE_MILLISECONDS = 9000;

/** Single VMs, groups of them, and the load balancers of groups. */
export function machineRoutes(ground: Ground): Route[] {
  const { wire, state, clouds } = ground;
  const infrastructure = `/ns/:ns/${wire.infrastructure}/:id`;
  const machine = `${infrastructure}/${wire.machine}`;
  return [
    {
      method: "POST",
      path: machine,
      handle: (asked) => add(ground, asked, wire.readGroup(asked.body)),
    },
    {
      method: "POST",
      path: `${infrastructure}/${wire.group}/:group`,
      handle: (asked) => {
        const group = asked.params["group"] ?? "";
        const found = infrastructureOf(ground, asked, "delete");
        const like = found.machines.find((each) => each.group === group);
        if (like === undefined) throw wire.invalid(`The ${wire.group} ${group} does not exist.`);
        return add(ground, asked, { ...like, name: group, size: wire.readGrowth(asked.body) });
      },
    },
    {
      method: "GET",
      path: `${machine}/:machine`,
      handle: (asked) => {
        const found = machineOf(ground, asked, "read");
        return asked.query.get("option") === "idsInDetail"
          ? ok({
              idInTb: found.id,
              idInSp: `${asked.params["ns"]}-${asked.params["id"]}-${found.id}`,
              idInCsp: `i-${found.uid}`,
              nameInCsp: found.id,
            })
          : ok(wire.showMachine(found, clouds.connections));
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
    { method: "DELETE", path: `${machine}/:machine`, handle: (asked) => remove(ground, asked) },
    ...balancerRoutes(ground, `${infrastructure}/nlb`),
  ];
}

function machineOf(ground: Ground, asked: Asked, does: "read" | "delete"): StoredMachine {
  const id = asked.params["machine"] ?? "";
  const infrastructure = ground.state.infrastructure(asked.params["ns"] ?? "", asked.params["id"] ?? "");
  const found = infrastructure?.machines.find((each) => each.id === id);
  if (found === undefined) throw ground.wire.missing("machine", id, does);
  return found;
}

async function add(ground: Ground, asked: Asked, group: Parameters<typeof record>[3]) {
  const { state, wire, clouds, lifecycle } = ground;
  const namespace = asked.params["ns"] ?? "";
  const found = infrastructureOf(ground, asked, "delete");
  const made = record(ground, namespace, found, group);
  state.save();
  await lifecycle.create(namespace, found, made);
  const fresh = made.map(({ id }) => id);
  return ok(wire.showInfrastructure(found, clouds.connections, fresh), wire.created("mcis"));
}

async function remove(ground: Ground, asked: Asked) {
  const { state, wire, lifecycle } = ground;
  const namespace = asked.params["ns"] ?? "";
  const machine = machineOf(ground, asked, "delete");
  const found = infrastructureOf(ground, asked, "delete");
  if (asked.query.get("option") !== "force" && machine.status !== "Failed") {
    const ending = lifecycle.beginTermination(namespace, found, [machine]);
    await (wire.generation === "infra" ? Promise.race([ending, pause(PATIENCE_MILLISECONDS)]) : ending);
    if (machine.status !== "Terminated")
      throw wire.generation === "infra"
        ? new Refusal(
            400,
            `node ${machine.id} not yet confirmed terminated (status=${machine.status}); retry shortly`,
          )
        : wire.missing("machine", machine.id, "delete");
  }
  await lifecycle.discard(namespace, found, [machine]);
  found.machines = found.machines.filter((each) => each !== machine);
  for (const balancer of found.balancers)
    balancer.machines = balancer.machines.filter((id) => id !== machine.id);
  state.save();
  return ok({ message: "Deleted the VM info" });
}

function balancerRoutes(ground: Ground, folder: string): Route[] {
  const { wire, state, balancers, balancerAddress } = ground;
  const balancerOf = (asked: Asked): StoredBalancer => {
    const group = asked.params["group"] ?? "";
    const found = infrastructureOf(ground, asked, "read").balancers.find((each) => each.group === group);
    if (found === undefined) throw wire.missing("nlb", group, "read");
    return found;
  };
  const show = (asked: Asked, balancer: StoredBalancer) => {
    const { machines } = infrastructureOf(ground, asked, "read");
    const member = machines.find(({ group }) => group === balancer.group);
    return wire.showBalancer(balancer, member?.connection ?? "");
  };
  const change = (asked: Asked, next: (ids: string[], named: string[]) => string[]) => {
    const balancer = balancerOf(asked);
    balancer.machines = next(balancer.machines, wire.readBalancerMachines(asked.body));
    state.save();
    return ok(show(asked, balancer));
  };
  return [
    {
      method: "GET",
      path: folder,
      handle: (asked) => {
        const found = infrastructureOf(ground, asked, "read").balancers;
        return asked.query.get("option") === "id"
          ? ok({ output: found.map(({ group }) => group) })
          : ok({ nlb: found.map((each) => show(asked, each)) });
      },
    },
    { method: "GET", path: `${folder}/:group`, handle: (asked) => ok(show(asked, balancerOf(asked))) },
    {
      method: "POST",
      path: folder,
      handle: async (asked) => {
        const found = infrastructureOf(ground, asked, "delete");
        const wanted = wire.readBalancer(asked.body);
        if (found.balancers.some(({ group }) => group === wanted.group))
          throw wire.existing("nlb", wanted.group, asked.params["ns"] ?? "");
        const members = found.machines.filter(({ group }) => group === wanted.group);
        if (members.length === 0) throw wire.invalid(`Failed to find VMs of ${wanted.group}`);
        const balancer: StoredBalancer = {
          ...wanted,
          uid: randomBytes(10).toString("hex"),
          address: await balancerAddress(),
          machines: members.map(({ id }) => id),
        };
        await balancers.open(asked.params["ns"] ?? "", found.id, balancer).catch((error: unknown) => {
          throw wire.relayed(error instanceof Error ? error.message : String(error));
        });
        found.balancers.push(balancer);
        state.save();
        return ok(show(asked, balancer), wire.created("nlb"));
      },
    },
    {
      method: "DELETE",
      path: `${folder}/:group`,
      handle: async (asked) => {
        const balancer = balancerOf(asked);
        const found = infrastructureOf(ground, asked, "delete");
        await balancers.close(asked.params["ns"] ?? "", found.id, balancer.group);
        found.balancers = found.balancers.filter((each) => each !== balancer);
        state.save();
        return ok({ message: `The NLB ${balancer.group} has been deleted` });
      },
    },
    {
      method: "POST",
      path: `${folder}/:group/${wire.machine}`,
      handle: (asked) => change(asked, (ids, named) => [...new Set([...ids, ...named])]),
    },
    {
      method: "DELETE",
      path: `${folder}/:group/${wire.machine}`,
      handle: (asked) => change(asked, (ids, named) => ids.filter((id) => !named.includes(id))),
    },
  ];
}
