import { dnsLabelIssue, userNameIssue } from "../../lib/validation/names";
import { messageOf } from "../../lib/error-message";
import { kubernetesVersionIssue } from "../../providers/kubeadm/plan/validation/kubernetes-version";
import { NEWEST_VERSION } from "../../providers/kubeadm/plan/cluster/kubernetes-minors";
import { UsageError } from "../terminal/exit-codes";
import { askText } from "../terminal/terminal";
import { type Inventory, type InventoryMachine, nameMachines } from "./plan/inventory";

/** What the command line says about the cluster; what is missing is asked. */
export interface GivenAnswers {
  readonly stack?: string;
  readonly kubernetes?: string;
  readonly user?: string;
  readonly controlPlane?: readonly string[];
  readonly worker?: readonly string[];
}

export interface Answers {
  readonly stack: string;
  readonly version: string;
  readonly user: string;
  readonly machines: readonly InventoryMachine[];
}

interface Question {
  readonly text: string;
  /** the option of the command line that answers it */
  readonly option: string;
  readonly fallback?: string;
  readonly issue?: (answer: string) => string | undefined;
}

type Ask = (question: string) => Promise<string | undefined>;

/** How often a wrong answer is asked again. */
const TRIES = 3;

const QUESTIONS = {
  stack: {
    text: "Name of the stack, and of its cluster",
    option: "--stack",
    fallback: "prod",
    issue: (answer) => dnsLabelIssue(answer, 40),
  },
  kubernetes: {
    text: "Version of Kubernetes",
    option: "--kubernetes",
    fallback: NEWEST_VERSION,
    issue: (answer) => kubernetesVersionIssue(answer.replace(/^v/, "")),
  },
  controlPlane: { text: "Addresses of the control planes, one or three", option: "--control-plane" },
  worker: { text: "Addresses of the workers", option: "--worker", fallback: "none" },
  user: {
    text: "User that logs in over SSH: root, or one with sudo without a password",
    option: "--user",
    fallback: "root",
    issue: userNameIssue,
  },
} as const satisfies Record<string, Question>;

/**
 * Asks for what neither the command line nor a list of machines says: at most five questions.
 *
 * @throws UsageError for a wrong answer, or without a terminal, where the options are named
 */
export async function answersFor(
  given: GivenAnswers,
  inventory: Inventory | undefined,
  ask: Ask = askText,
): Promise<Answers> {
  const stack = await answer(QUESTIONS.stack, given.stack, ask);
  const version = await answer(QUESTIONS.kubernetes, given.kubernetes ?? inventory?.version, ask);
  const machines = inventory?.machines ?? (await askMachines(given, ask));
  const users = machines.map(({ user }) => user);
  const known = users.every((user) => user !== undefined) ? users[0] : undefined;
  const user = await answer(QUESTIONS.user, given.user ?? known, ask);
  return { stack, version: version.replace(/^v/, ""), user, machines };
}

async function askMachines(given: GivenAnswers, ask: Ask): Promise<InventoryMachine[]> {
  const controlPlanes = await answer(QUESTIONS.controlPlane, given.controlPlane?.join(" "), ask);
  // a cluster of control planes alone is one, too
  const written = given.worker?.join(" ") ?? (given.controlPlane === undefined ? undefined : "none");
  const workers = await answer(QUESTIONS.worker, written, ask);
  const listed = (text: string, role: InventoryMachine["role"]) =>
    text
      .split(/[\s,]+/)
      .filter((address) => address !== "" && address !== "none")
      .map((address) => ({ role, address }));
  try {
    return nameMachines([...listed(controlPlanes, "control-plane"), ...listed(workers, "worker")]);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

async function answer(question: Question, given: string | undefined, ask: Ask): Promise<string> {
  const { text, option, fallback, issue } = question;
  const wrong = (value: string) => (value === "" ? "is missing" : issue?.(value));
  if (given !== undefined) {
    const why = wrong(given);
    if (why !== undefined) throw new UsageError(`${option}: ${why}`);
    return given;
  }
  let why: string | undefined;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const shown = fallback === undefined ? "" : ` [${fallback}]`;
    const words = await ask(`${why === undefined ? "" : `${why}\n`}${text}${shown}: `);
    if (words === undefined) throw new UsageError(`without a terminal, give ${option}`);
    const value = words === "" ? (fallback ?? "") : words;
    why = wrong(value);
    if (why === undefined) return value;
  }
  throw new UsageError(`${option}: ${why}`);
}
