import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { engineSignal } from "../../../lib/process/parent-watch";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { isKnown } from "../../../lib/unknown";
import { Cloud } from "../client/cloud";
import type { CloudConfiguration } from "../client/cloud-configuration";
import { CloudRefusal } from "../client/errors";
import { listServers, readCloudFacts, serverFault, setServerMetadata } from "../client/facts";
import { deleteObject, readMarkedObjects } from "../client/marked-objects";
import { stoppedServers } from "../plan/changed-in-cloud";
import { changedMetadata } from "../plan/lost-metadata";
import { leftoverLine, leftoversOf } from "../plan/leftovers";
import type { CloudFacts, CloudRef, Named } from "../plan/cloud-facts";
import { withoutLeftovers } from "../plan/new-objects";
import { findNamed, serverFaultAdvice, unmetCloud } from "../plan/requirements";
import { givenProviderIssues } from "../plan/provider-settings";
import { cloudPlanSteps } from "../plan/steps";
import type { CloudPlanInputs as Inputs, FoundInCloud } from "./declarations";
import { ASK_SECONDS } from "./stopped-machines";
import { messageOf } from "../../../lib/error-message";

const nameOf = ({ cluster }: Inputs) => `CloudPlan ${cluster}`;

const UNVERIFIED =
  "warning: TLS certificates of the cloud are not verified (`verify: false` in clouds.yaml, or OS_INSECURE), so " +
  "anyone who intercepts the connection gets the credentials; name the cloud's authority as `cacert` instead";

/** Reads ids, unmet requirements and leftovers from the cloud. Warns if the cloud is not verified. */
async function askCloud({ givenProvider, ...news }: Inputs) {
  const { mark, servers, floatingIps, securityGroups = [], loadBalancer, ownCredential = false } = news;
  const { serverIds = {}, networkObjects = [], objects } = news;
  const made = servers.filter(({ name }) => news.arriving.includes(name));
  return Cloud.use(news, { seconds: ASK_SECONDS }, async (cloud) => {
    if (!cloud.configuration.verify) report(nameOf(news), UNVERIFIED);
    const pools = [...new Set(servers.map(({ pool }) => pool))];
    const [facts, marked] = await Promise.all([
      readCloudFacts(cloud, {
        servers: `^(${pools.join("|")})-[0-9]+-[0-9a-z]+$`,
        cluster: news.cluster,
        serverIds,
        networkObjects,
        withRootVolume: servers.flatMap(({ name, rootVolume }) => (rootVolume ? [name] : [])),
        images: [...new Set(made.map(({ image }) => image))],
        flavors: [...new Set(made.map(({ flavor }) => flavor))],
        newNetworkObjects: floatingIps > 0 || Object.values(objects ?? {}).some((count) => count > 0),
      }),
      mark === undefined
        ? []
        : readMarkedObjects(cloud, { mark, securityGroups, loadBalancer, ownCredential }),
    ]);
    const known = new Set(news.known);
    // A failed server that is not in the state is a leftover, which this run deletes.
    const failed = facts.failed.filter(({ id }) => known.has(id));
    const leftovers = leftoversOf(marked, known);
    const network = facts.network && withoutLeftovers(facts.network, leftovers.deleted);
    return {
      found: findAll(news, facts, cloud.configuration),
      unmet: [
        ...(givenProvider ? givenProviderIssues(givenProvider, cloud.configuration) : []),
        ...unmetCloud(news, { ...facts, failed, ...(network ? { network } : {}) }),
      ],
      stopped: stoppedServers(facts, serverIds, news.leaving),
      changed: changedMetadata(news.metadata ?? [], facts.metadata),
      leftovers,
    };
  });
}

function findAll(
  { servers, externalNetwork }: Inputs,
  { images, flavors, externalNetworks }: CloudFacts,
  { authUrl, region }: CloudConfiguration,
): FoundInCloud {
  const idsOf = (key: "image" | "flavor", items: Named[]) => {
    const words = [...new Set(servers.map((server) => server[key]))].sort();
    const found = words.map((word) => [word, findNamed(key, word, items)] as const);
    return Object.fromEntries(
      found.flatMap(([word, item]) => (typeof item === "string" ? [] : [[word, item.id]])),
    );
  };
  const network =
    externalNetwork === undefined ? "" : findNamed("network", externalNetwork, externalNetworks);
  return {
    images: idsOf("image", images),
    flavors: idsOf("flavor", flavors),
    ...(typeof network === "string" ? {} : { externalNetworkId: network.id }),
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

/** Returns the outputs of a run, with a random owner tag if the cluster has none. */
const outputsOf = (inputs: Inputs) => ({ ...inputs, mark: inputs.mark ?? randomBytes(6).toString("hex") });

/** Deletes objects that an interrupted run created and did not record. */
async function deleteLeftovers(inputs: Inputs): Promise<void> {
  const { leftovers = [] } = inputs;
  if (leftovers.length === 0) return;
  await withCloud(inputs, async (cloud, options) => {
    for (const object of leftovers) {
      await deleteObject(cloud, object, options);
      options.progress(`deleted the ${object.kind} ${object.name || object.id}`);
    }
  });
}

/** Changes something in the cloud, until the engine ends. */
async function withCloud(
  inputs: Inputs,
  work: (cloud: Cloud, options: { progress: (line: string) => void; signal: AbortSignal }) => Promise<void>,
): Promise<void> {
  const engine = engineSignal();
  const options = { progress: (line: string) => report(nameOf(inputs), line), signal: engine.signal };
  try {
    await Cloud.use(inputs, options, (cloud) => work(cloud, options));
  } finally {
    engine.stop();
  }
}

/** Gives servers the metadata again that someone removed or changed in the cloud. */
async function restoreMetadata(inputs: Inputs): Promise<void> {
  const { restored = [] } = inputs;
  if (restored.length === 0) return;
  await withCloud(inputs, async (cloud, { progress }) => {
    for (const { machine, server, metadata } of restored) {
      await setServerMetadata(cloud, server, metadata);
      progress(`${machine}: restored the metadata of its server`);
    }
  });
}

/** Watches new servers in the background while the rest of the run creates them. */
function watchArrivals(inputs: Inputs): void {
  const { cloud, region, arriving } = inputs;
  void watchServerFaults({ cloud, region }, arriving, (line) => report(nameOf(inputs), line));
}

/** Deadline of the watch. Pulumi's OpenStack provider also gives up after 30 minutes. */
const LONGEST_MILLISECONDS = 30 * 60_000;

/**
 * Watches new servers in the background and reports why one fails, because Pulumi's provider reports only state ERROR.
 * Ends when all servers are active or failed, or with the engine. Errors of the watch are ignored, and it does not keep
 * the process running.
 *
 * @param arriving names of the servers that the run creates
 * @param say prints a message
 * @param lookMilliseconds interval; short, because the run may end a moment after Pulumi's provider sees a failure
 */
export async function watchServerFaults(
  ref: CloudRef,
  arriving: readonly string[],
  say: (line: string) => void,
  lookMilliseconds = 1000,
): Promise<void> {
  if (arriving.length === 0) return;
  const engine = engineSignal();
  const { signal } = engine;
  const missing = new Set(arriving);
  const deadline = Date.now() + LONGEST_MILLISECONDS;
  const isDue = () => missing.size > 0 && Date.now() < deadline && !signal.aborted;
  const wait = () => pause(lookMilliseconds, undefined, { ref: false, signal });
  try {
    while (isDue()) {
      await wait();
      // Other resources report that the cloud does not answer.
      await Cloud.use(ref, { seconds: ASK_SECONDS, signal }, async (cloud) => {
        for (; isDue(); await wait()) await look(cloud, missing, say);
      }).catch(() => undefined);
    }
  } catch {
    // The engine has ended.
  } finally {
    engine.stop();
  }
}

async function look(cloud: Cloud, missing: Set<string>, say: (line: string) => void): Promise<void> {
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
  async check(olds: Partial<Inputs>, given: Inputs) {
    const {
      // of its fields, a preview may know some only
      givenProvider,
      known = [],
      metadata = [],
      serverIds = {},
      networkObjects = [],
      securityGroups = [],
      objects,
      refusals,
      ...news
    } = given;
    if (refusals) return { inputs: news, failures: refusals };
    if (!isKnown(news)) return { inputs: news, failures: [] };
    const say = (lines: readonly string[]) => lines.forEach((line) => report(nameOf(news), line));
    let answer: Awaited<ReturnType<typeof askCloud>>;
    try {
      answer = await askCloud({
        ...news,
        known,
        metadata,
        serverIds,
        networkObjects,
        securityGroups,
        ...(objects ? { objects } : {}),
        ...(givenProvider ? { givenProvider } : {}),
      });
    } catch (error) {
      const why = messageOf(error);
      say([...news.steps, ...news.later]);
      const { found } = olds;
      // Every other call of the run would be refused, too.
      const isLoginRefused = error instanceof CloudRefusal && error.code === "AuthenticationRefused";
      if (found === undefined || isLoginRefused)
        return { inputs: news, failures: [{ property: "openstack.cloud", reason: why }] };
      say([cloudPlanSteps.format({ kind: "unchecked", what: "the cloud", why })]);
      return { inputs: { ...news, found }, failures: [] };
    }
    const { deleted, kept } = answer.leftovers;
    const { changed } = answer;
    const restore = changed.map(({ machine, metadata: lost }) =>
      cloudPlanSteps.format({ kind: "restoreMetadata", machine, keys: Object.keys(lost) }),
    );
    const steps = [...deleted.map(leftoverLine), ...restore, ...news.steps];
    say([...kept, ...answer.stopped, ...steps, ...news.later]);
    const leftovers = deleted.length > 0 ? { leftovers: deleted } : {};
    const restored = changed.length > 0 ? { restored: changed } : {};
    return {
      inputs: { ...news, found: answer.found, steps, ...leftovers, ...restored },
      failures: answer.unmet,
    };
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
    return Promise.resolve({ id: inputs.cluster, outs: outputsOf(inputs) });
  },

  async update(_id, _olds: Inputs, news: Inputs) {
    await deleteLeftovers(news);
    await restoreMetadata(news);
    watchArrivals(news);
    return { outs: outputsOf(news) };
  },
};
