import { isDeepStrictEqual } from "node:util";
import { tumblebugMcisSteps } from "../plan/steps";
import { isDead, lostLines, machineLines, planMachines, type LiveVm } from "../plan/machine-plan";
import { machineVm } from "../plan/machine-vm";
import { ReasonedError } from "../plan/reasons";
import { describeFailure, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { withServer } from "./server";
import { deleteMcis } from "./tumblebug-mcis-delete";
import { convergeMcis } from "./tumblebug-mcis-converge";
import { mcisName, type McisInputs, type McisOutputs, type Recorded } from "./tumblebug-mcis-inputs";

/** Deadline of each call to the server during check. */
const PREVIEW_SECONDS = 15;

/** Reads the VMs; `live` is undefined if the MCIS does not exist. Returns an error message if the read fails. */
async function tryToRead(inputs: McisInputs): Promise<{ live: LiveVm[] | undefined } | string> {
  try {
    return await withServer(
      mcisName(inputs),
      inputs.server,
      async ({ infrastructures }) => {
        const found = await infrastructures.read(inputs.namespace, inputs.infrastructure);
        return { live: found && [...found.machines] };
      },
      { seconds: PREVIEW_SECONDS },
    );
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const recordedOf = ({ vms, leaving }: McisOutputs): Recorded => ({ vms, leaving });

const vmNames = ({ vms }: Recorded) =>
  Object.fromEntries(Object.entries(vms).map(([machine, { vm }]) => [machine, vm]));

/** Returns the recorded VMs as running VMs. */
const asRecorded = (recorded: Recorded): LiveVm[] =>
  [...Object.values(vmNames(recorded)), ...Object.values(recorded.leaving)].map((name) => ({
    name,
    group: "",
    status: "Running",
    targetAction: "None",
    systemMessage: "",
    publicAddress: "",
    privateAddress: "",
    spec: "",
  }));

/** Inputs that can't change while there are machines. */
const FIXED = ["namespace", "infrastructure"] as const;

export const handlers: Handlers = {
  async check(olds: Partial<McisInputs>, { recorded = { vms: {}, leaving: {} }, ...news }: McisInputs) {
    if (!isKnown([news.slots, news.server]))
      return {
        inputs: {
          ...news,
          steps: [tumblebugMcisSteps.format({ kind: "unknown", until: "the server is read" })],
        },
        failures: [],
      };
    const answer = await tryToRead(news);
    const live = typeof answer === "string" ? asRecorded(recorded) : answer.live;
    const plan = planMachines({
      slots: news.slots,
      recorded: vmNames(recorded),
      leaving: recorded.leaving,
      live,
    });
    const steps = machineLines(plan);
    if (typeof answer === "string" && steps.length > 0)
      steps.unshift(tumblebugMcisSteps.format({ kind: "recorded", what: "the server", why: answer }));
    for (const line of steps) report(mcisName(news), line);
    const known = Object.fromEntries(
      Object.keys(plan.kept).flatMap((machine) => {
        const vm = recorded.vms[machine];
        return vm ? [[machine, vm]] : [];
      }),
    );
    const failures = [
      ...FIXED.flatMap((property) =>
        olds[property] === undefined || olds[property] === news[property]
          ? []
          : [{ property, reason: `can't become "${news[property]}": set it back, or make a new stack` }],
      ),
      ...lostLines(plan).map((reason) => ({ property: "tumblebug.replace", reason })),
    ];
    return { inputs: { ...news, steps, known, leaving: plan.leaving }, failures };
  },

  diff(_id, olds: McisOutputs, news: McisInputs) {
    const changes =
      (news.steps ?? []).length > 0 ||
      olds.failure !== undefined ||
      (["server", "slots"] as const).some((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes });
  },

  async create(inputs: McisInputs) {
    const id = `${inputs.namespace}/${inputs.infrastructure}`;
    return { id, outs: await converge(id, { vms: {}, leaving: {} }, inputs, "create") };
  },

  async update(id, olds: McisOutputs, news: McisInputs) {
    return { outs: await converge(id, recordedOf(olds), news, "make what is missing") };
  },

  async read(id, outputs: McisOutputs) {
    const found = await withServer(mcisName(outputs), outputs.server, ({ infrastructures }) =>
      infrastructures.read(outputs.namespace, outputs.infrastructure),
    );
    // A lost VM stays recorded, because its Node must still be removed.
    const vms = Object.fromEntries(
      Object.entries(outputs.vms).map(([machine, recorded]) => {
        const vm = found?.machines.find(({ name }) => name === recorded.vm);
        const usable = vm && !isDead(vm) && vm.publicAddress !== undefined;
        return [machine, usable ? machineVm(vm, outputs.user) : recorded];
      }),
    );
    return { id, props: { ...outputs, vms } };
  },

  async delete(_id, outputs: McisOutputs) {
    const resource = mcisName(outputs);
    const { timeoutSeconds: seconds } = outputs;
    try {
      await withServer(
        resource,
        outputs.server,
        (tumblebug, signal) =>
          deleteMcis(tumblebug, outputs, { seconds, signal, progress: (line) => report(resource, line) }),
        { longSeconds: seconds },
      );
    } catch (error) {
      throw new Error(describeFailure({ resource, step: "delete" }, error), {
        cause: error,
      });
    }
  },
};

async function converge(
  id: string,
  recorded: Recorded,
  inputs: McisInputs,
  step: string,
): Promise<McisOutputs> {
  const resource = mcisName(inputs);
  let converged;
  try {
    converged = await withServer(
      resource,
      inputs.server,
      (tumblebug, signal) => convergeMcis(tumblebug, recorded, inputs, signal),
      { longSeconds: inputs.timeoutSeconds },
    );
  } catch (error) {
    throw new Error(describeFailure({ resource, step }, error), { cause: error });
  }
  const { outputs, failure, begun } = converged;
  if (!failure) return outputs;
  const { message, code, next } = failure as Error & { code?: string; next?: string };
  const reasoned =
    failure instanceof ReasonedError ? failure : new ReasonedError("CreateMCISFailedReason", message, next);
  const context = { resource, step: step + (code === undefined ? "" : ` (${code})`) };
  if (!begun && Object.keys(recorded.vms).length === 0)
    throw new Error(describeFailure({ resource, step }, reasoned), { cause: failure });
  const failed = { ...outputs, failure: { reason: reasoned.code, message } };
  throw new PartialFailure(
    id,
    failed,
    failure instanceof ReasonedError ? { resource, step } : context,
    reasoned,
  );
}
