import { readGivenFile } from "../../lib/files";
import { isObject } from "../../lib/json";
import { atOnce } from "../../lib/process/at-once";
import { readYaml } from "../../lib/yaml";
import { displayJson, displayLine } from "../../lib/text/display";
import { plural } from "../../lib/text/plural";
import { dnsLabelIssue } from "../../lib/validation/names";
import { SSH_PORT } from "../../lib/validation/ports";
import { readMachine } from "../../providers/kubeadm/client/machine-reading";
import { NEWEST_VERSION } from "../../providers/kubeadm/plan/cluster/kubernetes-minors";
import type { Role } from "../../providers/kubeadm/plan/cluster/machine";
import {
  type AnsweredMachine,
  type Examination,
  examination,
} from "../../providers/kubeadm/plan/facts/examination";
import { plainSpecification } from "../../providers/kubeadm/plan/facts/plain-specification";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { colorsOf, print } from "../terminal/terminal";
import { findProject } from "../engine/pulumi";
import type { ExaminedMachines } from "../engine/stack-program";
import { toolFindings, type ToolFinding } from "../engine/tools";

export interface DoctorOptions {
  /** Reads the machines of this stack as its first preview does. */
  readonly stack?: string;
  /** YAML file with a list of machines, or a stack file. */
  readonly machines?: string;
  /** "USER@HOST[:PORT]" of machines that become control planes, then of workers. */
  readonly ssh: readonly string[];
  readonly worker: readonly string[];
  /** File with the private key; the SSH agent without it. */
  readonly key?: string;
  /** Kubernetes version, MAJOR.MINOR.PATCH; the newest known one without it. */
  readonly to?: string;
  readonly output: "text" | "json";
}

/** A machine as the command line or a file names it. */
interface NamedMachine {
  readonly name: string;
  readonly role: Role;
  readonly user: string;
  readonly address: string;
  readonly port: number;
  readonly internalAddress?: string;
}

const SECONDS = { connect: 6, read: 15 };
const AT_ONCE = 20;

/**
 * Reads this machine's tools and machines that may become nodes, without a stack or for one, and prints what the table of facts
 * says about them. Changes nothing.
 *
 * @returns the exit code: `blocked` if something would fail, else `unknown` if a machine could not be read
 */
export async function doctor(options: DoctorOptions, say = print, askTools = toolFindings): Promise<number> {
  const [tools, asked] = await Promise.all([
    askTools(),
    options.stack === undefined ? examineNamed(options) : examineStack(options.stack, options),
  ]);
  const { found, count } = asked;
  if (options.output === "json") say(displayJson({ tools, ...found }));
  else for (const line of asText(tools, found, count)) say(line);
  const refused = [...tools, ...found.findings].some(({ level }) => level === "refused");
  if (refused) return EXIT.blocked;
  return found.unread.length > 0 ? EXIT.unknown : EXIT.done;
}

/** Reads the machines of a stack with all that its configuration says: keys, jump host, proxy, registries, source. */
async function examineStack(
  stack: string,
  { machines, ssh, worker, key, to }: DoctorOptions,
): Promise<ExaminedMachines> {
  if (machines !== undefined || ssh.length + worker.length > 0 || key !== undefined || to !== undefined)
    throw new UsageError("--stack has its own machines, keys and version; leave the other options out");
  const { examineProgram } = await import("../engine/stack-program.js");
  return examineProgram(await findProject(), stack);
}

async function examineNamed(options: DoctorOptions): Promise<ExaminedMachines> {
  const machines = await machinesOf(options);
  const version = options.to ?? NEWEST_VERSION;
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new UsageError(`--to ${version}: write a version such as 1.36.3`);
  const privateKey =
    options.key === undefined
      ? undefined
      : (await readGivenFile(options.key, "the SSH key", "name it with --key")).toString();
  const access = privateKey === undefined ? { agentSocket: process.env.SSH_AUTH_SOCK } : { privateKey };
  return { found: examination(await readAll(machines, version, access)), count: machines.length };
}

async function readAll(
  machines: readonly NamedMachine[],
  version: string,
  access: { privateKey: string } | { agentSocket: string | undefined },
): Promise<AnsweredMachine[]> {
  const specification = plainSpecification(version);
  const neighborsOf = (own: NamedMachine) =>
    machines.flatMap(({ name, role, internalAddress, port }) =>
      name !== own.name && role === "control-plane" && internalAddress !== undefined
        ? [`${name} ${internalAddress} ${port}`]
        : [],
    );
  return atOnce(AT_ONCE, machines, async (machine) => {
    const { name, role, user, address, port, internalAddress } = machine;
    const wanted = { machine: { name, role, group: role }, specification, podNetwork: "bridge" as const };
    const inside = internalAddress === undefined ? {} : { internalAddress };
    const asked = { ...wanted, ...inside, neighbors: neighborsOf(machine) };
    const answer = await readMachine({ name, user, address, port, ...access }, asked, SECONDS);
    return { ...wanted, ...inside, answer };
  });
}

async function machinesOf({ machines, ssh, worker }: DoctorOptions): Promise<NamedMachine[]> {
  const named = [
    ...ssh.map((text, at) => machineOf("--ssh", text, `cp-${at + 1}`, "control-plane")),
    ...worker.map((text, at) => machineOf("--worker", text, `w-${at + 1}`, "worker")),
  ];
  if (machines === undefined) return named;
  const text = (await readGivenFile(machines, "the list of machines", "name it with --machines")).toString();
  const content: unknown = readYaml(text);
  const list = listIn(content);
  if (list === undefined)
    throw new UsageError(
      `--machines ${machines}: it is neither a list of machines nor a stack file with foresail:cluster.machines`,
    );
  const all = [
    ...list.map((each, at) => machineInFile(each, `${machines}[${at}]`, userIn(content))),
    ...named,
  ];
  const twice = all.find(({ name }, at) => all.findIndex((other) => other.name === name) < at)?.name;
  if (twice !== undefined)
    throw new UsageError(
      `two machines are called ${twice}; names of --ssh are cp-1, cp-2 …, of --worker w-1, w-2 …`,
    );
  return all;
}

const clusterIn = (content: unknown): unknown =>
  isObject(content) && isObject(content["config"]) ? content["config"]["foresail:cluster"] : undefined;

function listIn(content: unknown): unknown[] | undefined {
  if (Array.isArray(content)) return content as unknown[];
  const cluster = clusterIn(content);
  return isObject(cluster) && Array.isArray(cluster["machines"]) ? cluster["machines"] : undefined;
}

/** Returns the user of all machines in a stack file. */
function userIn(content: unknown): string {
  const cluster = clusterIn(content);
  const ssh = isObject(cluster) ? cluster["ssh"] : undefined;
  return isObject(ssh) && typeof ssh["user"] === "string" ? ssh["user"] : "root";
}

function machineInFile(each: unknown, where: string, user: string): NamedMachine {
  if (!isObject(each) || typeof each["name"] !== "string" || typeof each["address"] !== "string")
    throw new UsageError(`--machines ${where}: a machine has a name and an address`);
  const { name, address, role, port, internalAddress } = each;
  const issue = dnsLabelIssue(name, 63);
  if (issue !== undefined) throw new UsageError(`--machines ${where}: ${issue}`);
  const own = typeof each["user"] === "string" ? each["user"] : user;
  return {
    name,
    address,
    user: own,
    role: role === "worker" ? "worker" : "control-plane",
    port: typeof port === "number" ? port : SSH_PORT,
    ...(typeof internalAddress === "string" ? { internalAddress } : {}),
  };
}

function machineOf(option: string, text: string, name: string, role: Role): NamedMachine {
  const [, user, address, port = String(SSH_PORT)] =
    /^([^@:\s]+)@([^@:\s]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (user === undefined || address === undefined)
    throw new UsageError(`${option} ${text}: it has to be USER@HOST or USER@HOST:PORT`);
  return { name, role, user, address, port: Number(port) };
}

function asText(
  tools: readonly ToolFinding[],
  { findings, keeps, unread }: Examination,
  count: number,
): string[] {
  const { red, yellow, bold } = colorsOf(process.stdout);
  const mark = (level: ToolFinding["level"]) => (level === "refused" ? red("✗") : yellow("!"));
  const all = [...tools, ...findings];
  const refused = all.filter(({ level }) => level === "refused").length;
  const warnings = all.length - refused;
  return [
    ...all.map(({ level, sentence }) => `${mark(level)} ${displayLine(sentence)}`),
    ...keeps.map(({ machine, what }) => `  ${machine}: keeps ${displayLine(what)}`),
    ...unread.map(({ machine, why }) => `? ${machine}: could not be read: ${displayLine(why)}`),
    bold(
      `${plural(count, "machine")} asked, ${unread.length} unread: ${plural(refused, "refusal")}, ${plural(warnings, "warning")}`,
    ),
  ];
}
