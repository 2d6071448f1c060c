import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { engineSignal } from "../../../lib/process/parent-watch";
import { leftoverLine, leftoversOf, type Leftovers, type MarkedObject } from "../plan/leftovers";
import { findNamed, type UnmetRequirement } from "../plan/unmet-requirement";
import { unmetCloud, type CloudFacts } from "../plan/requirements";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { watchServerFaults } from "./server-fault-watch";
import type { CloudPlanArgs, FoundInCloud } from "./cloud-plan";

/** `known` and `securityGroups` are for check alone. */
interface Inputs
  extends
    Omit<CloudPlanArgs, "known" | "securityGroups">,
    Partial<Pick<CloudPlanArgs, "known" | "securityGroups">> {
  /** Made by check. */
  found?: FoundInCloud;
  /** Made by check: what a run that was cut off made and did not record. */
  leftovers?: MarkedObject[];
}

/** How long a preview waits for the cloud. */
const PREVIEW_SECONDS = 20;

const nameOf = ({ cluster }: Inputs) => `CloudPlan ${cluster}`;

/** What the cloud has, what is missing there for this run, and what is too much; or why it could not be asked. */
async function askCloud(
  news: Inputs,
): Promise<{ found: FoundInCloud; lacks: UnmetRequirement[]; leftovers: Leftovers } | string> {
  const { Cloud, readCloudFacts, readMarkedObjects } = await import("../client/index.js");
  let cloud: InstanceType<typeof Cloud> | undefined;
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
    // what is on no record is a leftover, and goes by itself
    const failed = facts.stillborn.filter(({ id }) => known.has(id));
    return {
      found: findAll(news, facts, cloud.configuration),
      lacks: unmetCloud(news, { ...facts, stillborn: failed }),
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
      [...new Set(desired)].sort().flatMap((wish) => {
        const item = findNamed(what, wish, items);
        return typeof item === "string" ? [] : [[wish, item.id]];
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
      "flavour",
      servers.map(({ flavor }) => flavor),
      facts.flavors,
    ),
    ...(network && typeof network !== "string" ? { externalNetworkId: network.id } : {}),
    authUrl,
    ...(region === undefined ? {} : { region }),
  };
}

/** What is compared: not the lines, and not what the names mean, which only new machines take. */
const DESIRED = [
  "cluster",
  "cloud",
  "region",
  "servers",
  "externalNetwork",
  "loadBalancer",
  "volumes",
] as const;

/** A word that no other stack has. */
const newMark = () => randomBytes(6).toString("hex");

/** Deletes what a run that was cut off made and did not record. */
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

/** Goes on beside the rest of the run, which has the servers made. */
function watchArrivals(inputs: Inputs): void {
  const { cloud, region, arriving } = inputs;
  void watchServerFaults({
    ...(cloud === undefined ? {} : { cloud }),
    ...(region === undefined ? {} : { region }),
    arriving,
    say: (line) => report(nameOf(inputs), line),
  });
}

/**
 * Looks at the cloud before anything is made, so that an impossible wish is said in the preview with the place in the
 * configuration; says which machines come and go in this run, what a cut-off run left that has to go first, and what
 * the next runs do.
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
      report(nameOf(news), `the cloud could not be read, so nothing of it was checked: ${answer}`);
      return { inputs: { ...news, found: olds.found }, failures: [] };
    }
    const { found, lacks: unmet, leftovers } = answer;
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
    // the cluster's own programs are told the region
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
