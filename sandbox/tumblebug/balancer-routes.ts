import { infrastructureOf, sceneOf } from "./infrastructure-routes";
import type { RoutesContext } from "./routes-context";
import { ok, type Asked, type Route } from "./router";
import { newUid, type StoredBalancer } from "./state";
import { Refusal, type Does } from "./wire";

/** The load balancers of groups of VMs. */
export function balancerRoutes(context: RoutesContext): Route[] {
  const { wire, state, balancers, balancerAddress } = context;
  const folder = `/ns/:ns/${wire.infrastructure}/:id/nlb`;
  const balancerOf = (asked: Asked, does: Does): StoredBalancer => {
    const group = asked.params["group"] ?? "";
    const found = infrastructureOf(context, asked, "use").balancers.find((each) => each.group === group);
    if (found === undefined) throw wire.missing("balancer", group, does, folder);
    return found;
  };
  const show = (asked: Asked, balancer: StoredBalancer) => {
    const { machines } = infrastructureOf(context, asked, "use");
    const member = machines.find(({ group }) => group === balancer.group);
    const scene = sceneOf(context, asked);
    const connection = scene.connections.find(({ name }) => name === member?.connection);
    return wire.showBalancer(balancer, connection, scene);
  };
  return [
    {
      method: "GET",
      path: folder,
      handle: (asked) => {
        const found = infrastructureOf(context, asked, "read").balancers;
        return asked.query.get("option") === "id"
          ? ok({ output: found.length === 0 ? null : found.map(({ group }) => group) })
          : ok({ nlb: found.map((each) => show(asked, each)) });
      },
    },
    {
      method: "GET",
      path: `${folder}/:group`,
      handle: (asked) => ok(show(asked, balancerOf(asked, "read"))),
    },
    {
      method: "POST",
      path: folder,
      handle: async (asked) => {
        const namespace = asked.params["ns"] ?? "";
        const found = infrastructureOf(context, asked, "use");
        const wanted = wire.readBalancer(asked.body);
        if (found.balancers.some(({ group }) => group === wanted.group))
          throw wire.existing("balancer", wanted.group, namespace);
        const members = found.machines.filter(({ group }) => group === wanted.group);
        const unmade = members.find(({ isMade }) => !isMade);
        if (unmade !== undefined)
          throw new Refusal(
            500,
            wire.relay(`VM '' does not exist in connection '${unmade.connection}'`, "nlb"),
          );
        if (members.length === 0) throw wire.invalid(`Failed to find VMs of ${wanted.group}`);
        const balancer: StoredBalancer = {
          ...wanted,
          uid: newUid(),
          createdTime: new Date().toISOString(),
          address: await balancerAddress(),
          machines: members.map(({ id }) => id),
        };
        await balancers.open(namespace, found.id, balancer).catch((error: unknown) => {
          throw new Refusal(500, wire.relay(error instanceof Error ? error.message : String(error), "nlb"));
        });
        found.balancers.push(balancer);
        state.save();
        return ok(show(asked, balancer), wire.created("balancer"));
      },
    },
    {
      method: "DELETE",
      path: `${folder}/:group`,
      handle: async (asked) => {
        const balancer = balancerOf(asked, "delete");
        const found = infrastructureOf(context, asked, "use");
        await balancers.close(asked.params["ns"] ?? "", found.id, balancer.group);
        found.balancers = found.balancers.filter((each) => each !== balancer);
        state.save();
        return ok({ message: `The NLB ${balancer.group} has been deleted` });
      },
    },
    {
      method: "POST",
      path: `${folder}/:group/${wire.machine}`,
      handle: (asked) => {
        const balancer = balancerOf(asked, "use");
        const named = wire.readBalancerMachines(asked.body);
        const double = named.find((id) => balancer.machines.includes(id));
        if (double !== undefined) throw refuseMember(context, asked, balancer, "already has", double);
        balancer.machines = [...balancer.machines, ...named];
        state.save();
        return ok(show(asked, balancer));
      },
    },
    {
      method: "DELETE",
      path: `${folder}/:group/${wire.machine}`,
      handle: (asked) => {
        const balancer = balancerOf(asked, "use");
        const named = wire.readBalancerMachines(asked.body);
        const absent = named.find((id) => !balancer.machines.includes(id));
        if (absent !== undefined) throw refuseMember(context, asked, balancer, "does not have", absent);
        balancer.machines = balancer.machines.filter((id) => !named.includes(id));
        state.save();
        return ok({ message: `Removed ${wire.machineTitle}s from the NLB ${balancer.group}` });
      },
    },
  ];
}

/** The cloud rejects adding a member twice and removing an unknown one. */
function refuseMember(
  context: RoutesContext,
  asked: Asked,
  balancer: StoredBalancer,
  verb: "already has" | "does not have",
  member: string,
): Refusal {
  const { wire } = context;
  const { machines } = infrastructureOf(context, asked, "use");
  const [namespace = "", infrastructure = ""] = [asked.params["ns"], asked.params["id"]];
  const isInfra = wire.generation === "infra";
  const inCloud = (id: string) => {
    const uid = machines.find((machine) => machine.id === id)?.uid ?? "";
    const name = isInfra ? uid : `${namespace}-${infrastructure}-${id}-${uid}`;
    return `{${name} ${name}}`;
  };
  const nlb = isInfra ? balancer.uid : `${namespace}-${balancer.group}-${balancer.uid}`;
  const all = balancer.machines.map(inCloud).join(" ");
  const words = `${nlb} NLB ${verb} this VM: ${inCloud(member)}!! #### ${nlb} NLB has [${all}]!!`;
  return new Refusal(500, wire.relay(words, `nlb/${nlb}/vms`));
}
