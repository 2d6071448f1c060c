import * as pulumi from "@pulumi/pulumi";
import { isObject } from "../../lib/json";
import { UNKNOWN } from "../../lib/unknown";
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
import { callPulumi, callPulumiJson, type Project } from "./pulumi";

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
  const mocks = mocksOf(project, (inputs) => (given = inputs));
  await pulumi.runtime.setMocks(mocks, project.name, stack, true);
  const isSecret = values.flatMap(([key, { secret }]) => (secret ? [key] : []));
  pulumi.runtime.setAllConfig(
    Object.fromEntries(values.map(([key, { value = "" }]) => [key, value])),
    isSecret,
  );
  const configuration = loadConfiguration(await withShared(engineReader(project.name)));
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

function mocksOf(project: Project, onOwner: (inputs: ClusterOwnerInputs) => unknown): pulumi.runtime.Mocks {
  return {
    newResource: ({ type, name, inputs }) => {
      if (type === `${OWN_TYPES}ClusterOwner`) onOwner(withoutMarks(inputs) as ClusterOwnerInputs);
      return { id: name, state: {} };
    },
    call: async ({ token, inputs }) => {
      if (token !== "pulumi:pulumi:readStackOutputs") return {};
      const { name } = inputs as { name: string };
      const outputs = ["stack", "output", "--json", "--show-secrets", "--stack", name];
      const { stdout } = await callPulumi({ project, args: outputs });
      return { outputs: JSON.parse(stdout) as object };
    },
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
