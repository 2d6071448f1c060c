import { isDeepStrictEqual } from "node:util";
import {
  cloudLacks,
  findNamed,
  type CloudFacts,
  type CloudWish,
  type Lack,
} from "../../core/openstack/requirements";
import type { Handlers } from "../handler-types";
import { report } from "../kubeadm/machines-session";
import { isKnown } from "../unknown";

interface Inputs extends CloudWish {
  cluster: string;
  cloud?: string;
  region?: string;
  /** What this run does to the machines, a line each. */
  steps: string[];
  /** Machines whose servers this run deletes; nothing else may be deleted. */
  leaving: string[];
  /** What the next runs do. */
  later: string[];
  /** Made by check. */
  found?: Found;
}

/** What the names of the configuration mean in this cloud. */
interface Found {
  /** Name or id as it was written → id. */
  images: Record<string, string>;
  flavors: Record<string, string>;
  externalNetworkId?: string;
  authUrl: string;
}

/** How long a preview waits for the cloud. */
const PREVIEW_SECONDS = 20;

const nameOf = ({ cluster }: Inputs) => `CloudPlan ${cluster}`;

/** What the cloud has, and what is missing there for this run; or why it could not be asked. */
async function askCloud(news: Inputs): Promise<{ found: Found; lacks: Lack[] } | string> {
  const { Cloud, readCloudFacts } = await import("../../clients/openstack/index.js");
  let cloud: InstanceType<typeof Cloud> | undefined;
  try {
    cloud = await Cloud.open(news, { seconds: PREVIEW_SECONDS });
    const pools = [...new Set(news.servers.map(({ pool }) => pool))];
    const facts = await readCloudFacts(cloud, { servers: `^(${pools.join("|")})-[0-9]+-[0-9a-z]+$` });
    return { found: findAll(news, facts, cloud.configuration.authUrl), lacks: cloudLacks(news, facts) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    cloud?.close();
  }
}

function findAll({ servers, externalNetwork }: Inputs, facts: CloudFacts, authUrl: string): Found {
  const ids = (what: string, wishes: string[], items: { id: string; name: string }[]) =>
    Object.fromEntries(
      [...new Set(wishes)].sort().flatMap((wish) => {
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
  };
}

/** What is compared: not the lines, and not what the names mean, which only new machines take. */
const WISHES = ["cluster", "cloud", "region", "servers", "externalNetwork", "loadBalancer"] as const;

/**
 * Looks at the cloud before anything is made, so that an impossible wish is said in the preview with the place in the
 * configuration; says which machines come and go in this run, and what is left for the next ones.
 */
export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, news: Inputs) {
    if (!isKnown(news)) return { inputs: news, failures: [] };
    for (const line of news.steps) report(nameOf(news), line);
    for (const line of news.later) report(nameOf(news), line);
    const answer = await askCloud(news);
    if (typeof answer !== "string")
      return { inputs: { ...news, found: answer.found }, failures: answer.lacks };
    if (olds.found === undefined)
      return { inputs: news, failures: [{ property: "openstack.cloud", reason: answer }] };
    report(nameOf(news), `the cloud could not be read, so nothing of it was checked: ${answer}`);
    return { inputs: { ...news, found: olds.found }, failures: [] };
  },

  diff(_id, olds: Inputs, news: Inputs) {
    const differs = WISHES.some((key) => !isDeepStrictEqual(olds[key], news[key]));
    return Promise.resolve({ changes: differs || news.steps.length > 0 });
  },

  create: (inputs: Inputs) => Promise.resolve({ id: inputs.cluster, outs: inputs }),

  update: (_id, _olds: Inputs, news: Inputs) => Promise.resolve({ outs: news }),
};
