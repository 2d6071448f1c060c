import { setTimeout as pause } from "node:timers/promises";
import type { Cloud as CloudClient } from "../client";
import { serverFaultAdvice } from "../plan/server-fault";
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { engineSignal } from "../../../lib/process/parent-watch";
import { leftoverLine, leftoversOf, type Leftovers } from "../plan/leftovers";
import { cloudPlanSteps } from "../plan/steps";
import { findNamed, type UnmetRequirement } from "../plan/unmet-requirement";
import { unmetCloud, type CloudFacts } from "../plan/requirements";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import type { CloudPlanInputs as Inputs, FoundInCloud } from "./cloud-plan";

/** Deadline of each call to the cloud during check. */
const PREVIEW_SECONDS = 20;

const nameOf = ({ cluster }: Inputs) => `CloudPlan ${cluster}`;

/** Reads ids, unmet requirements and leftovers from the cloud. Returns an error message if the cloud can't be read. */
async function askCloud(
  news: Inputs,
): Promise<{ found: FoundInCloud; unmet: UnmetRequirement[]; leftovers: Leftovers } | string> {
  const { Cloud, readCloudFacts, readMarkedObjects } = await import("../client/index.js");
  let cloud: CloudClient | undefined;
  try {
    cloud = await Cloud.open(news, { seconds: PREVIEW_SECONDS });
    const pools = [...new Set(news.servers.map(({ pool }) => pool))];
    const servers = `^(${pools.join("|")})-[0-9]+-[0-9a-z]+$`;
    const { mark, securityGroups = [], loadBalancer, ownCredential = false } = news;
    const [facts, marked] = await Promise.all([
      readCloudFacts(cloud, {
        servers,
        floatingIps: news.floatingIps,
        rootVolumes: news.servers.some(({ rootVolume }) => rootVolume !== undefined),
      }),
      mark === undefined
        ? []
        : readMarkedObjects(cloud, {
            mark,
            servers: "-[0-9]+-[0-9a-z]+$",
            securityGroups,
            loadBalancer,
            ownCredential,
          }),
    ]);
    const known = new Set(news.known);
    // A failed server that is not in the state is a leftover, which this run deletes.
    const failed = facts.failed.filter(({ id }) => known.has(id));
    return {
      found: findAll(news, facts, cloud.configuration),
      unmet: unmetCloud(news, { ...facts, failed }),
      leftovers: leftoversOf(marked, known),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    cloud?.close();
  }
}

function findAll(
  { servers, externalNetwork }: Inputs,
  facts: CloudFacts,
  { authUrl, region }: { authUrl: string; region?: string },
): FoundInCloud {
  const ids = (what: string, desired: string[], items: { id: string; name: string }[]) =>
    Object.fromEntries(
      [...new Set(desired)].sort().flatMap((word) => {
        const item = findNamed(what, word, items);
        return typeof item === "string" ? [] : [[word, item.id]];
      }),
    );
  const network =
    externalNetwork === undefined ? undefined : findNamed("network", externalNetwork, facts.externalNetworks);
  return {
    images: ids(
      "image",
      servers.map(({ image }) => image),
      facts.images,
    ),
    flavors: ids(
      "flavor",
      servers.map(({ flavor }) => flavor),
      facts.flavors,
    ),
    ...(network && typeof network !== "string" ? { externalNetworkId: network.id } : {}),
    authUrl,
    ...(region === undefined ? {} : { region }),
  };
}

/** Inputs that diff compares. Lines and the ids of names are left out, because ids affect new machines only. */
const DESIRED = [
  "cluster",
  "cloud",
  "region",
  "servers",
  "externalNetwork",
  "loadBalancer",
  "volumes",
] as const;

/** Returns a random owner tag. */
const newMark = () => randomBytes(6).toString("hex");

/** Deletes objects that an interrupted run created and did not record. */
async function deleteLeftovers(inputs: Inputs): Promise<void> {
  const { leftovers = [] } = inputs;
  if (leftovers.length === 0) return;
  const { Cloud, deleteObject } = await import("../client/index.js");
  const engine = engineSignal();
  const progress = (line: string) => report(nameOf(inputs), line);
  const cloud = await Cloud.open(inputs, { progress, signal: engine.signal });
  try {
    for (const object of leftovers) {
      await deleteObject(cloud, object, { progress, signal: engine.signal });
      progress(`deleted the ${object.kind} ${object.name || object.id}`);
    }
  } finally {
    engine.stop();
    cloud.close();
  }
}

/** Watches new servers in the background while the rest of the run creates them. */
function watchArrivals(inputs: Inputs): void {
  const { cloud, region, arriving } = inputs;
  void watchServerFaults({
    ...(cloud === undefined ? {} : { cloud }),
    ...(region === undefined ? {} : { region }),
    arriving,
    say: (line) => report(nameOf(inputs), line),
  });
}

interface ServerFaultWatch {
  cloud?: string;
  region?: string;
  /** Names of the servers that the run creates. */
  arriving: readonly string[];
  /** Prints a message. */
  say: (line: string) => void;
  /** Interval. @default 1000, because the run may end a moment after Pulumi's provider sees a failure */
  lookMilliseconds?: number;
}

const ASK_SECONDS = 20;
/** Deadline of the watch. Pulumi's OpenStack provider also gives up after 30 minutes. */
const LONGEST_MILLISECONDS = 30 * 60_000;

/**
 * Watches new servers in the background and reports why one fails, because Pulumi's provider reports only state ERROR.
 * Ends when all servers are active or failed, or with the engine. Errors of the watch are ignored, and it does not keep
 * the process running.
 */
export async function watchServerFaults(watch: ServerFaultWatch): Promise<void> {
  if (watch.arriving.length === 0) return;
  const { Cloud } = await import("../client/index.js");
  const engine = engineSignal();
  const missing = new Set(watch.arriving);
  const deadline = Date.now() + LONGEST_MILLISECONDS;
  let cloud: CloudClient | undefined;
  try {
    while (missing.size > 0 && Date.now() < deadline && !engine.signal.aborted) {
      await pause(watch.lookMilliseconds ?? 1000, undefined, { ref: false, signal: engine.signal });
      try {
        cloud ??= await Cloud.open(watch, { seconds: ASK_SECONDS, signal: engine.signal });
        await look(cloud, missing, watch.say);
      } catch {
        // Other resources report that the cloud does not answer.
      }
    }
  } catch {
    // The engine has ended.
  } finally {
    engine.stop();
    cloud?.close();
  }
}

async function look(cloud: CloudClient, missing: Set<string>, say: (line: string) => void): Promise<void> {
  const { listServers, serverFault } = await import("../client/index.js");
  for (const { id, name, status } of await listServers(cloud, [...missing])) {
    if (status === "ERROR") say(serverFaultAdvice(name, await serverFault(cloud, id)));
    if (status === "ERROR" || status === "ACTIVE") missing.delete(name);
  }
}

/**
 * Checks the cloud before any change, so that the preview reports unmet requirements with their configuration property.
 * Also reports the machines that this run creates and deletes, leftovers of an interrupted run, and the remaining runs.
 */
export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, { known, securityGroups, refusals, ...news }: Inputs) {
    if (refusals) return { inputs: news, failures: refusals };
    if (!isKnown(news)) return { inputs: news, failures: [] };
    const answer = await askCloud({ ...news, known: known ?? [], securityGroups: securityGroups ?? [] });
    if (typeof answer === "string") {
      for (const line of [...news.steps, ...news.later]) report(nameOf(news), line);
      if (olds.found === undefined)
        return { inputs: news, failures: [{ property: "openstack.cloud", reason: answer }] };
      report(nameOf(news), cloudPlanSteps.format({ kind: "unchecked", what: "the cloud", why: answer }));
      return { inputs: { ...news, found: olds.found }, failures: [] };
    }
    const { found, unmet, leftovers } = answer;
    const steps = [...leftovers.deleted.map(leftoverLine), ...news.steps];
    for (const line of [...leftovers.kept, ...steps, ...news.later]) report(nameOf(news), line);
    const inputs = {
      ...news,
      found,
      steps,
      ...(leftovers.deleted.length > 0 ? { leftovers: leftovers.deleted } : {}),
    };
    return { inputs, failures: unmet };
  },

  diff(_id, olds: Inputs, news: Inputs) {
    // The cloud provider in the cluster gets the region.
    const differs =
      olds.found?.region !== news.found?.region ||
      DESIRED.some((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes: differs || news.steps.length > 0 });
  },

  create(inputs: Inputs) {
    watchArrivals(inputs);
    return Promise.resolve({ id: inputs.cluster, outs: { ...inputs, mark: inputs.mark ?? newMark() } });
  },

  async update(_id, _olds: Inputs, news: Inputs) {
    await deleteLeftovers(news);
    watchArrivals(news);
    return { outs: { ...news, mark: news.mark ?? newMark() } };
  },
};
