import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { isObject } from "../../lib/json";
import { readGivenFile } from "../../lib/files";
import { readYaml } from "../../lib/yaml";
import { messageOf } from "../../lib/error-message";
import { dnsLabelIssue, nodeNameIssue } from "../../lib/validation/names";
import { readAdoptable } from "../../providers/kubeadm/client/adoptable";
import { inspectMachine } from "../../providers/kubeadm/client/inspected-machine";
import type { AdoptableCluster, AdoptableNode } from "../../providers/kubeadm/plan/adoption/adoption-facts";
import type { MatchedMachine } from "../../providers/kubeadm/plan/adoption/adoption-facts";
import { type AdoptionDraft, draftAdoption } from "../../providers/kubeadm/plan/adoption/adoption-draft";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { chooseContext, findKubeconfig } from "../forecast/kubeconfig";
import { print } from "../terminal/terminal";

export interface AdoptOptions {
  /** default: as kubectl finds it */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** User that logs in over SSH. */
  readonly ssh: string;
  /** File with the private key; the SSH agent without it. */
  readonly key?: string;
  /** "NODE=ADDRESS" or "NODE=ADDRESS:PORT", where SSH does not answer at the internal address. */
  readonly address: readonly string[];
  /** The stack file. */
  readonly write: string;
}

const SECONDS = 20;
const SSH_PORT = 22;
const CLUSTER = "foresail:cluster";

/**
 * Inspects a kubeadm cluster that foresail did not make and writes the stack file that adopts it. Changes nothing in the
 * cluster and on the machines.
 *
 * @returns the exit code
 */
export async function adopt(options: AdoptOptions, say = print): Promise<number> {
  const name = stackName(options.write);
  const file = existingFile(options.write);
  const addresses = new Map(options.address.map(addressOf));
  const chosen = chooseContext(findKubeconfig(options.kubeconfig, options.context), options.context);
  const cluster = await readAdoptable({ kubeconfig: chosen.kubeconfig });
  const unknown = [...addresses.keys()].filter((node) => !cluster.nodes.some((each) => each.name === node));
  if (unknown.length > 0) throw new UsageError(`--address: the cluster has no Node ${unknown.join(", ")}`);
  const found = await inspectAll(cluster, addresses, options);
  const matched = found.flatMap((each) => ("facts" in each ? [each] : []));
  const silent = found.flatMap((each) => ("why" in each ? [each] : []));
  if (silent.length > 0) {
    for (const { node, why } of silent) say(`${node.name}: ${why}`);
    say(
      "nothing was written: each Node's machine has to answer; name its address with --address NODE=ADDRESS[:PORT]",
    );
    return EXIT.failed;
  }
  const apiServer = serverOf(chosen.kubeconfig);
  const draft = draftAdoption({ name, cluster, matched, user: options.ssh, apiServer });
  const content = {
    ...file,
    config: { ...configOf(file), "foresail:system": "ssh", [CLUSTER]: draft.cluster },
  };
  const comments = draft.offers.map((line) => `# ${line}`.trimEnd());
  writeFileSync(
    options.write,
    [stringify(content, { lineWidth: 0 }), ...comments.map((line) => `${line}\n`)].join(""),
  );
  for (const line of summary(matched, draft, options)) say(line);
  return draft.refusals.length > 0 ? EXIT.failed : EXIT.done;
}

type Found = MatchedMachine | { node: AdoptableNode; why: string };

async function inspectAll(
  cluster: AdoptableCluster,
  addresses: ReadonlyMap<string, { address: string; port: number }>,
  { ssh: user, key }: AdoptOptions,
): Promise<Found[]> {
  const privateKey =
    key === undefined
      ? undefined
      : (await readGivenFile(key, "the SSH key", "name it with --key")).toString();
  const access = privateKey === undefined ? { agentSocket: process.env.SSH_AUTH_SOCK } : { privateKey };
  const { nodes, clusterConfiguration, kubelet } = cluster;
  const first = nodes.find(({ controlPlane }) => controlPlane)?.name;
  return Promise.all(
    nodes.map(async (node): Promise<Found> => {
      if (nodeNameIssue(node.name) !== undefined)
        return { node, why: "foresail manages Nodes whose names have at most 63 characters" };
      const where = addresses.get(node.name) ?? { address: node.internalAddress, port: SSH_PORT };
      const { name, internalAddress } = node;
      const role = node.controlPlane ? ("control-plane" as const) : ("worker" as const);
      // without kubeadm's objects it can't be adopted anyway
      const rewritten =
        clusterConfiguration && kubelet
          ? { machine: { name, role, internalAddress }, cluster, addons: name === first }
          : undefined;
      try {
        const inspected = await inspectMachine({ name, user, ...where, ...access }, SECONDS, rewritten);
        return { node, ...where, ...inspected };
      } catch (error) {
        return { node, why: messageOf(error) };
      }
    }),
  );
}

function summary(
  matched: readonly MatchedMachine[],
  { notes, refusals }: AdoptionDraft,
  { write, key }: AdoptOptions,
) {
  const keyFile = key ?? "<private key>";
  return [
    ...matched.map(
      ({ node, address, port, hostKey }) =>
        `${node.name}: ${node.controlPlane ? "control plane" : "worker"}, ${node.version}, at ${address}:${port}, host key ${hostKey}`,
    ),
    `${write} is written; the cluster and its machines are as they were`,
    "what the file can't say:",
    ...notes.map((line) => `  ${line}`),
    ...(refusals.length > 0
      ? ["an `up` with this file is refused:", ...refusals.map((line) => `  ${line}`)]
      : [
          "next: compare the host keys with those on the machines, then",
          `  pulumi stack init ${stackName(write)}`,
          `  pulumi config set --secret foresail:sshPrivateKey < ${keyFile}`,
          "  pulumi preview --diff",
        ]),
  ];
}

/** Returns the stack's name in the path of its file, which becomes the cluster's, too. */
function stackName(file: string): string {
  const name = /(?:^|\/)Pulumi\.([^/]+)\.yaml$/.exec(file)?.[1];
  if (name === undefined) throw new UsageError(`--write ${file}: a stack file is named Pulumi.<stack>.yaml`);
  const issue = dnsLabelIssue(name, 40);
  if (issue !== undefined)
    throw new UsageError(`--write ${file}: the stack's name becomes the cluster's: ${issue}`);
  return name;
}

/** Reads the stack file, if there is one. @throws UsageError for one that has a cluster already */
function existingFile(file: string): Record<string, unknown> {
  if (!existsSync(file)) return {};
  const content: unknown = readYaml(readFileSync(file, "utf8")) ?? {};
  if (!isObject(content)) throw new UsageError(`--write ${file}: it is not a stack file`);
  if (CLUSTER in configOf(content))
    throw new UsageError(`--write ${file}: it has ${CLUSTER} already; name another stack`);
  return content;
}

const configOf = ({ config }: Record<string, unknown>): Record<string, unknown> =>
  isObject(config) ? config : {};

function addressOf(text: string): [node: string, where: { address: string; port: number }] {
  const [, node, address, port] = /^([^=]+)=([^=:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (node === undefined || address === undefined)
    throw new UsageError(`--address ${text}: it has to be NODE=ADDRESS or NODE=ADDRESS:PORT`);
  const number = port === undefined ? SSH_PORT : Number(port);
  if (number < 1 || number > 65_535)
    throw new UsageError(`--address ${text}: a port is a number from 1 to 65535`);
  return [node, { address, port: number }];
}

/** Returns host:port of the kubeconfig's API server. */
function serverOf(kubeconfig: string): string {
  const { clusters } = readYaml(kubeconfig) as { clusters?: { cluster: { server?: string } }[] };
  const { hostname, port } = new URL(clusters?.[0]?.cluster.server ?? "https://127.0.0.1");
  return `${hostname}:${port || "443"}`;
}
