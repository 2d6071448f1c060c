import * as pulumi from "@pulumi/pulumi";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../lib/json";
import type { SharedStack } from "../../lib/layers/shared-values";
import { UNKNOWN } from "../../lib/unknown";
import { qualifiedName } from "../../lib/pulumi/stack";
import { OWN_TYPES } from "../../lib/pulumi/state";
import { waitFor } from "../../lib/wait";
import type { Examination } from "../../providers/kubeadm/plan/facts/examination";
import { isControlPlane } from "../../providers/kubeadm/plan/facts/ownership";
import type { ClusterOwnerInputs } from "../../providers/kubeadm/resources/declarations";
import { examine } from "../../providers/kubeadm/resources/facts/examination";
import { loadConfiguration, withShared } from "../../stacks/schema";
import { engineReader } from "../../stacks/schema/reader";
import { build } from "../../stacks/systems";
import { UsageError } from "../terminal/exit-codes";
import { callPulumiJson, PulumiError, type Project } from "./pulumi";

/** How long a program may take until it has described its machines. */
const PROGRAM_SECONDS = 30;

/** What `pulumi config --json --show-secrets` prints of a key. */
interface ConfigurationValue {
  readonly value?: string;
  readonly secret: boolean;
}

/** What was found on machines, and how many there are. */
export interface ExaminedMachines {
  readonly found: Examination;
  readonly count: number;
}

/**
 * Reads the machines of a stack as its first preview does, with all that its configuration says.
 *
 * @throws UsageError for a stack whose machines are not new, and what {@link machinesOfProgram} throws
 */
export async function examineProgram(project: Project, stack: string): Promise<ExaminedMachines> {
  const inputs = await machinesOfProgram(project, stack);
  const { machines, desired, credentialsSum } = inputs;
  if (desired === undefined)
    throw new UsageError(
      `${stack} adopts a cluster, whose machines are nodes already; run: foresail preview`,
    );
  const controlPlanes = machines.filter(isControlPlane).map(({ name }) => name);
  const found = await examine(inputs, machines, desired, { controlPlanes, credentialsSum });
  return { found, count: machines.length };
}

/**
 * Runs the program of a stack file as a first preview does, but without an engine: nothing is registered, and no state is read.
 * Only once in a process.
 *
 * @returns what it gives to the resource that reads the machines; what only an engine could tell is unknown
 * @throws UsageError for a stack whose machines do not exist before `up`, and pulumi.RunError with the issues of its files
 */
async function machinesOfProgram(project: Project, stack: string): Promise<ClusterOwnerInputs> {
  const args = ["config", "--json", "--show-secrets", "--stack", stack];
  const values = Object.entries(
    (await callPulumiJson({ project, args })) as Record<string, ConfigurationValue>,
  );
  if (!values.some(([key]) => key.startsWith(`${project.name}:`)))
    throw new UsageError(
      `${stack} has no values of ${project.name}, so its machines are in a program; name them with --machines`,
    );
  // layers are found from here, as by the program
  process.chdir(project.folder);
  let given: ClusterOwnerInputs | undefined;
  const mocks = mocksOf((inputs) => (given = inputs));
  await pulumi.runtime.setMocks(mocks, project.name, stack, true, organizationIn(stack));
  const isSecret = values.flatMap(([key, { secret }]) => (secret ? [key] : []));
  pulumi.runtime.setAllConfig(
    Object.fromEntries(values.map(([key, { value = "" }]) => [key, value])),
    isSecret,
  );
  const reader = await withShared(engineReader(project.name), (name) => readSharedStack(project, name));
  const configuration = loadConfiguration(reader);
  if (configuration.system !== "ssh")
    throw new UsageError(
      `the machines of ${stack} exist only after \`up\`, since its system is ${configuration.system}; its preview reads them then`,
    );
  await build(configuration);
  return waitFor<ClusterOwnerInputs>({
    what: `the machines of ${stack}, as its program describes them`,
    seconds: PROGRAM_SECONDS,
    firstPauseMilliseconds: 20,
    probe: () => Promise.resolve(given ? { done: given } : { pending: "not all of its values are known" }),
  });
}

/** Returns the organization of a stack that is named with it; without one, shared stacks are those of a backend without organizations. */
const organizationIn = (stack: string) => (stack.includes("/") ? stack.split("/")[0] : undefined);

/** Exit code of the engine for a stack that does not exist (ExitStackNotFound of its package cmdutil). */
const NO_SUCH_STACK = 6;

/** Reads the outputs of a stack of `foresail:shared`, and which of them are secret; without outputs when there is no such stack. */
async function readSharedStack(project: Project, name: string): Promise<SharedStack> {
  const stack = qualifiedName(name);
  const read = async (...options: string[]) => {
    const args = ["stack", "output", "--json", ...options, "--stack", stack];
    return (await callPulumiJson({ project, args })) as Record<string, unknown>;
  };
  try {
    const [outputs, shown] = await Promise.all([read("--show-secrets"), read()]);
    const secrets = Object.keys(outputs).filter((key) => !isDeepStrictEqual(outputs[key], shown[key]));
    return { stack, outputs, secrets };
  } catch (error) {
    if (error instanceof PulumiError && error.exitCode === NO_SUCH_STACK) return { stack };
    throw error;
  }
}

function mocksOf(onOwner: (inputs: ClusterOwnerInputs) => unknown): pulumi.runtime.Mocks {
  return {
    newResource: ({ type, name, inputs }) => {
      if (type === `${OWN_TYPES}ClusterOwner`) onOwner(withoutMarks(inputs) as ClusterOwnerInputs);
      return { id: name, state: {} };
    },
    call: () => Promise.resolve({}),
  };
}

/** Returns a value as handlers get it: without the SDK's marks of secrets, which have the value in them. */
function withoutMarks(value: unknown): unknown {
  if (pulumi.isUnknown(value)) return UNKNOWN;
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isObject(value)) return value;
  if (pulumi.runtime.isRpcSecret(value)) return withoutMarks(pulumi.runtime.unwrapRpcSecret(value));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutMarks(each)]));
}
