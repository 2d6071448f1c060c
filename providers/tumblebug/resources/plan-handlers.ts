import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { spreadLines } from "../plan/labels";
import { unmetTumblebug } from "../plan/requirements";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { tumblebugPlanSteps } from "../plan/steps";
import { IN_PREVIEW, withServer } from "./server";
import type { FoundOnServer, TumblebugPlanInputs as Inputs, TumblebugPlanOutputs as Outputs } from "./plan";
import { readPlanFacts } from "./plan-facts";

/** Inputs that diff compares. The server's objects of names are left out, because they affect new objects only. */
const DESIRED = [
  "namespace",
  "createNamespace",
  "infrastructure",
  "connections",
  "slots",
  "loadBalancer",
  "allowMock",
  "objects",
] as const;

const nameOf = ({ infrastructure }: Inputs) => `TumblebugPlan ${infrastructure}`;

const isSame = (olds: Partial<Inputs>, news: Inputs): boolean =>
  DESIRED.every((key) => isDeepStrictEqual(olds[key], news[key]));

/** Returns a random owner tag. */
const newMark = () => randomBytes(6).toString("hex");

function spreadOf({ slots }: Inputs, { connections }: FoundOnServer): string[] {
  return spreadLines(
    slots.flatMap(({ machine, connection }) => {
      const at = connections[connection];
      return at ? [{ machine, at }] : [];
    }),
  );
}

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, { refusals, ...news }: Inputs) {
    if (refusals) return { inputs: news, failures: refusals };
    for (const line of [...news.steps, ...news.later, ...news.remarks]) report(nameOf(news), line);
    if (!isKnown(news)) return { inputs: news, failures: [] };
    const earlier =
      olds.found && olds.objects && olds.namespace === news.namespace
        ? { found: olds.found, objects: olds.objects, isSame: isSame(olds, news) }
        : undefined;
    try {
      const { facts, found } = await withServer(
        nameOf(news),
        news.server,
        (tumblebug) => readPlanFacts(tumblebug, news, earlier),
        IN_PREVIEW,
      );
      const spread = spreadOf(news, found);
      for (const line of spread) report(nameOf(news), line);
      return { inputs: { ...news, found, spread }, failures: unmetTumblebug(news, facts) };
    } catch (error) {
      const { message, next } = error as Error & { next?: string };
      const reason = next === undefined ? message : `${message}\n  next: ${next}`;
      if (!earlier?.isSame) return { inputs: news, failures: [{ property: "tumblebug.address", reason }] };
      report(
        nameOf(news),
        tumblebugPlanSteps.format({ kind: "unchecked", what: "the server", why: message }),
      );
      return {
        inputs: { ...news, found: earlier.found, spread: spreadOf(news, earlier.found) },
        failures: [],
      };
    }
  },

  diff(_id, olds: Outputs, news: Inputs) {
    const changes = !isSame(olds, news) || !isDeepStrictEqual(olds.server, news.server);
    return Promise.resolve({ changes });
  },

  create: (inputs: Inputs) =>
    Promise.resolve({
      id: `${inputs.namespace}/${inputs.infrastructure}`,
      outs: { ...inputs, mark: inputs.mark ?? newMark() },
    }),

  update: (_id, olds: Outputs, news: Inputs) => Promise.resolve({ outs: { ...news, mark: olds.mark } }),
};
