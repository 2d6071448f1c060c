import { abandonedVms, withoutVms } from "../plan/abandoned";
import { isDeepStrictEqual } from "node:util";
import { tumblebugMcisSteps } from "../plan/steps";
import {
  isDead,
  lostLines,
  machineLines,
  planMachines,
  stoppedLines,
  strangerLines,
  type LiveVm,
} from "../plan/machine-plan";
import { machineVm } from "../plan/model";
import { ReasonedError } from "../plan/reasons";
import { describeFailure, explained, PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { carriesMark } from "../../../lib/pulumi/marks";
import { isKnown } from "../../../lib/unknown";
import {
  mcisName,
  vmNames,
  type McisInputs,
  type McisOutputs,
  type Recorded,
  type TumblebugVmInputs,
} from "./declarations";
import { actionsPath, assertOwnMcis, convergeMcis, machinesPath } from "./mcis-converge";
import { deleteMcis } from "./mcis-delete";
import { IN_PREVIEW, runStep, withServer } from "./server";
import { messageOf } from "../../../lib/error-message";

const readMcis = (inputs: McisInputs, options?: typeof IN_PREVIEW) =>
  withServer(
    mcisName(inputs),
    inputs.server,
    ({ infrastructures }) => infrastructures.read(inputs.namespace, inputs.infrastructure),
    options,
  );

const asRecorded = (recorded: Recorded): LiveVm[] =>
  [...Object.values(vmNames(recorded.vms)), ...Object.values(recorded.leaving)].map((name) => ({
    name,
    group: "",
    status: "Running",
    targetAction: "None",
    systemMessage: "",
    publicAddress: "",
    cloudId: "",
  }));

/** Inputs that can't change while there are machines. */
const FIXED = ["namespace", "infrastructure"] as const;

const mcis: Handlers = {
  async check(olds: Partial<McisInputs>, { recorded = { vms: {}, leaving: {} }, ...news }: McisInputs) {
    if (!isKnown([news.slots, news.server])) {
      const unknown = tumblebugMcisSteps.format({ kind: "unknown", until: "the server is read" });
      return { inputs: { ...news, steps: [unknown] }, failures: [] };
    }
    let unread: string | undefined;
    let isOwn = false;
    const live = await readMcis(news, IN_PREVIEW).then(
      (found) => {
        isOwn = found !== undefined && carriesMark(found.description, news.mark);
        return found?.machines;
      },
      (error: unknown) => {
        unread = messageOf(error);
        return asRecorded(recorded);
      },
    );
    const { slots } = news;
    const { planned, unused = [], held } = recorded;
    // without `held`, in a program of an earlier release, no VM counts as abandoned
    const abandoned = held === undefined ? [] : abandonedVms(recorded, slots, held, live);
    const { vms, leaving } = withoutVms(recorded, abandoned);
    const listed = [...unused, ...abandoned];
    const all = planMachines({ slots, recorded: vmNames(vms), leaving, planned, listed, live });
    // VMs of another owner are refused, not deleted.
    const plan = isOwn ? all : { ...all, unused: [], strangers: [] };
    const steps = machineLines(plan, news.timeoutSeconds);
    if (unread !== undefined && steps.length > 0)
      steps.unshift(tumblebugMcisSteps.format({ kind: "recorded", what: "the server", why: unread }));
    const remarks = [
      ...stoppedLines(plan, actionsPath(news)),
      ...strangerLines(plan, `/ns/${news.namespace}/${machinesPath(news)}`),
    ];
    for (const line of [...steps, ...remarks]) report(mcisName(news), line);
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
          : [{ property, reason: `can't change to "${news[property]}"; set it back, or create a new stack` }],
      ),
      ...lostLines(plan).map((reason) => ({ property: "tumblebug.replace", reason })),
    ];
    const asked = {
      steps,
      known,
      leaving: plan.leaving,
      unused: plan.unused.map(({ vm }) => vm),
      ...(abandoned.length === 0 ? {} : { abandoned }),
    };
    return { inputs: { ...news, ...asked }, failures };
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
    return { outs: await converge(id, olds, news, "create missing VMs") };
  },

  async read(id, outputs: McisOutputs) {
    const found = await explained({ resource: mcisName(outputs), step: "read its VMs" }, async () => {
      const live = await readMcis(outputs);
      assertOwnMcis(live, outputs);
      return live;
    });
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

  delete(_id, outputs: McisOutputs) {
    const resource = mcisName(outputs);
    const { server, timeoutSeconds: seconds } = outputs;
    const progress = (line: string) => report(resource, line);
    return runStep(
      { resource, step: "delete" },
      server,
      (tumblebug, signal) => deleteMcis(tumblebug, outputs, { seconds, signal, progress }),
      { longSeconds: seconds },
    );
  },
};

async function converge(
  id: string,
  recorded: Recorded,
  inputs: McisInputs,
  step: string,
): Promise<McisOutputs> {
  const resource = mcisName(inputs);
  const { outputs, failure, begun } = await runStep(
    { resource, step },
    inputs.server,
    (tumblebug, signal) => convergeMcis(tumblebug, recorded, inputs, signal),
    { longSeconds: inputs.timeoutSeconds },
  );
  if (!failure) return outputs;
  const reasoned = ReasonedError.from("CreateMCISFailedReason", failure);
  if (!begun && Object.keys(recorded.vms).length === 0)
    throw new Error(describeFailure({ resource, step }, reasoned), { cause: failure });
  const { message, code } = failure as Error & { code?: string };
  const failed = { ...outputs, failure: { reason: reasoned.code, message } };
  const at = reasoned === failure || code === undefined ? step : `${step} (${code})`;
  throw new PartialFailure(id, failed, { resource, step: at }, reasoned);
}

const vm: Handlers = {
  diff(_id, olds: TumblebugVmInputs, news: TumblebugVmInputs) {
    const changes = (["server", "vm"] as const).some((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes });
  },

  create: (inputs: TumblebugVmInputs) => Promise.resolve({ id: inputs.machine, outs: inputs }),

  update: (_id, _olds, news: TumblebugVmInputs) => Promise.resolve({ outs: news }),

  async delete(_id, { server, namespace, infrastructure, machine, vm, timeoutSeconds }: TumblebugVmInputs) {
    const resource = `VM ${vm} of ${machine}`;
    await runStep(
      { resource, step: "delete" },
      server,
      async ({ infrastructures }) => {
        await infrastructures.checkCloudOf(namespace, infrastructure, vm);
        await infrastructures.deleteMachine(namespace, infrastructure, vm);
      },
      { longSeconds: timeoutSeconds },
    );
    report(resource, "is deleted");
  },
};

/** The handlers of a cluster's VMs as a whole, and of each one, by resource type. */
export const handlers = { TumblebugMcis: mcis, TumblebugVm: vm };
