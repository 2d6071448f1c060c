import { isDeepStrictEqual } from "node:util";
import { describeFailure, PartialFailure } from "../failure";
import type { Handlers } from "../handler-types";
import { allInParallel } from "../kubeadm/all-in-parallel";
import { report } from "../kubeadm/machines-session";
import { isKnown } from "../unknown";
import { withServer, type ServerInputs } from "./server";

interface Inputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  machines: string[];
  leaving: Record<string, string>;
  timeoutSeconds: number;
  /** What the state has in its output of that name, for check alone. */
  left?: Record<string, string>;
  /** Made by check. */
  steps?: string[];
}

interface Outputs extends Inputs {
  /** Machine → VM that could not be deleted yet. */
  left: Record<string, string>;
}

/** What an earlier run had, and could not delete. */
type Earlier = Partial<Pick<Inputs, "machines" | "left">>;

const RESOURCE = "removal of VMs";

/** Machine → VM that is to go in this run: those that were wanted until now, and those that an earlier run left. */
function leavers(olds: Earlier, news: Inputs): Record<string, string> {
  const before = olds.machines;
  const all = { ...olds.left, ...(isKnown(news.leaving) ? news.leaving : {}) };
  return Object.fromEntries(
    Object.entries(all).filter(
      ([machine]) =>
        !news.machines.includes(machine) &&
        (before === undefined || before.includes(machine) || Object.hasOwn(olds.left ?? {}, machine)),
    ),
  );
}

export const handlers: Handlers = {
  check(olds: Partial<Inputs>, { left = {}, ...news }: Inputs) {
    const steps = Object.entries(leavers({ ...olds, left }, news)).map(
      ([machine, vm]) => `${machine}: delete its VM ${vm}, now that it has left the cluster`,
    );
    for (const line of steps) report(RESOURCE, line);
    return Promise.resolve({ inputs: { ...news, steps }, failures: [] });
  },

  diff(_id, olds: Outputs, news: Inputs) {
    const changes =
      (news.steps ?? []).length > 0 ||
      (["server", "machines"] as const).some((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes });
  },

  async create(inputs: Inputs) {
    const id = `${inputs.namespace}/${inputs.infrastructure}`;
    return { id, outs: await remove(id, {}, inputs) };
  },

  async update(id, olds: Outputs, news: Inputs) {
    return { outs: await remove(id, olds, news) };
  },

  // on destroy the MCIS goes as a whole, and its record says what is left
  delete: () => Promise.resolve(),
};

async function remove(id: string, olds: Earlier, news: Inputs): Promise<Outputs> {
  const going = Object.entries(leavers(olds, news));
  if (going.length === 0) return { ...news, left: {} };
  const left: Record<string, string> = Object.fromEntries(going);
  const failures: string[] = [];
  try {
    await withServer(
      RESOURCE,
      news.server,
      ({ infrastructures }) =>
        allInParallel(going, async ([machine, vm]) => {
          try {
            await infrastructures.deleteMachine(news.namespace, news.infrastructure, vm);
            delete left[machine];
            report(RESOURCE, `${machine}: its VM ${vm} is deleted`);
          } catch (error) {
            failures.push(describeFailure({ resource: machine, step: `delete its VM ${vm}` }, error));
          }
        }),
      { longSeconds: news.timeoutSeconds },
    );
  } catch (error) {
    failures.push(describeFailure({ resource: RESOURCE, step: "reach the server" }, error));
  }
  const outputs = { ...news, left };
  if (failures.length === 0) return outputs;
  const error = new Error(failures.sort().join("\n"));
  throw new PartialFailure(id, outputs, { resource: RESOURCE, step: "delete VMs" }, error);
}
