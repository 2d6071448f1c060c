import type { Faults, MachineFault, TumblebugFault } from "./faults";
import type { Lifecycle } from "./lifecycle";
import { ok, type Route } from "./router";
import type { State, StoredResourceKind } from "./state";
import { Refusal, textOf } from "./wire";

/** A handled request, as tests count them. */
export interface PassedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

interface Administered {
  readonly faults: Faults;
  readonly state: State;
  readonly passed: PassedRequest[];
}

/** Routes that no real server has: fault injection, and changes that the server does not notice. */
export function adminRoutes({ faults, state, passed }: Administered, lifecycle: Lifecycle): Route[] {
  return [
    { method: "GET", path: "/sandbox", handle: () => ok({ requests: passed, happened: faults.happened() }) },
    {
      method: "DELETE",
      path: "/sandbox/requests",
      handle: () => {
        passed.length = 0;
        return ok({});
      },
    },
    {
      method: "POST",
      path: "/sandbox/faults",
      handle: ({ body }) => {
        if ("machine" in body) faults.addForMachines(body as unknown as MachineFault);
        else faults.add(body as unknown as TumblebugFault);
        return ok({});
      },
    },
    {
      method: "DELETE",
      path: "/sandbox/faults",
      handle: () => {
        faults.clear();
        return ok({});
      },
    },
    {
      // a VM is suspended or resumed in its cloud
      method: "POST",
      path: "/sandbox/status",
      handle: ({ body }) => {
        const inside = state.infrastructure(textOf(body, "namespace"), textOf(body, "infrastructure"));
        const machine = inside?.machines.find(({ id }) => id === textOf(body, "machine"));
        if (machine === undefined) throw new Refusal(404, "no such VM");
        machine.status = textOf(body, "status") === "Suspended" ? "Suspended" : "Running";
        state.save();
        return ok({});
      },
    },
    {
      // a VM or an object is deleted outside the server
      method: "POST",
      path: "/sandbox/vanish",
      handle: async ({ body }) => {
        const namespace = state.namespace(textOf(body, "namespace"));
        if (namespace === undefined) throw new Refusal(404, "Not valid namespace");
        const infrastructure = state.infrastructure(namespace.id, textOf(body, "infrastructure"));
        const machine = infrastructure?.machines.find(({ id }) => id === textOf(body, "machine"));
        if (infrastructure !== undefined && machine !== undefined) {
          await lifecycle.discard(namespace.id, infrastructure, [machine]);
          machine.status = "Undefined";
          machine.hasEnded = true;
          machine.publicAddress = "";
        } else if (infrastructure !== undefined) {
          await lifecycle.discard(namespace.id, infrastructure, infrastructure.machines);
          namespace.infrastructures = namespace.infrastructures.filter((each) => each !== infrastructure);
        } else {
          const kind = textOf(body, "kind") as StoredResourceKind;
          const id = textOf(body, "id");
          const found = state.resource(namespace.id, kind, id);
          if (found && body["isRecorded"] === true) found.isGone = true;
          else namespace.resources = namespace.resources.filter((each) => each !== found);
        }
        state.save();
        return ok({});
      },
    },
  ];
}
