import { report } from "../../../../lib/pulumi/log";
import { below, issueLines, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import {
  endpointFactsScript,
  moveEndpointScript,
  parseEndpointFacts,
} from "../../machine/endpoint/endpoint-steps";
import { type EndpointFacts, movedEndpointIssues } from "../../plan/endpoint/moved-endpoint";
import { isKnown } from "../../../../lib/unknown";
import { hasKubeProxy } from "../../plan/configuration/configuration";
import { controlPlanesOf } from "../../plan/cluster/machine";
import { controlPlaneEndpoint } from "../../plan/cluster/specification";
import type { ClusterInitStep } from "../../plan/steps";
import type { ClusterInitInputs, ConfigurationInputs } from "../declarations";
import {
  errorOf,
  failuresOfEach,
  type MachinesSession,
  readyControlPlane,
  withMachines,
} from "../session/machines-session";

type Session = MachinesSession<ClusterInitInputs>;
type Recorded = Pick<ClusterInitInputs, "specification" | "machines">;

/** curl asks twice, up to four times for five seconds each. */
const READ_SECONDS = 60;

interface Answers {
  /** By machine, in the order of the configuration. */
  facts: ReadonlyMap<string, EndpointFacts>;
  /** The machines that could not be asked. */
  failures: Awaited<ReturnType<typeof failuresOfEach>>;
}

/**
 * Asks every member whether it reaches the API servers at a changed endpoint, and control planes whether their certificates
 * are for it. Only reads.
 */
async function readFacts(session: Session, olds: Recorded): Promise<Answers> {
  const { machines, specification } = session.inputs;
  const members = machines.filter(({ name }) => olds.machines.some((machine) => machine.name === name));
  const found = new Map<string, EndpointFacts>();
  const failures = await failuresOfEach(members, "ask for the new endpoint", async (machine) => {
    const script = endpointFactsScript(specification, machine.name);
    found.set(
      machine.name,
      parseEndpointFacts(await session.run(machine, script, { seconds: READ_SECONDS })),
    );
  });
  const answered = members.map(({ name }) => [name, found.get(name) ?? {}] as const);
  return { facts: new Map(answered.filter(([name]) => found.has(name))), failures };
}

/**
 * Returns why a cluster can't move to a changed endpoint, as far as its machines answer, and its step. A machine that does
 * not answer is reported; the run asks it again.
 */
export async function previewMove(
  resource: string,
  olds: Recorded,
  inputs: ClusterInitInputs,
): Promise<{ issues: ValidationIssue[]; step: ClusterInitStep }> {
  const { specification, owner: _, ...others } = inputs;
  const { facts, failures } = isKnown([specification, others])
    ? await withMachines(resource, inputs, (session) => readFacts(session, olds))
    : { facts: new Map<string, EndpointFacts>(), failures: [] };
  for (const { text } of failures) report(resource, `the run asks again before it writes: ${text}`);
  const found = [...facts.values()].find(({ hasKubeProxy: has }) => has !== undefined);
  const restarts = found?.hasKubeProxy ?? hasKubeProxy(specification);
  return {
    issues: movedEndpointIssues(specification, facts),
    step: {
      kind: "endpoint",
      endpoint: controlPlaneEndpoint(specification.endpoint),
      ...(restarts ? { kubeProxy: true } : {}),
    },
  };
}

/**
 * Refuses a changed endpoint to which not every machine can move.
 *
 * @throws Error with every issue, or with the machines that could not be asked
 */
export async function assertMovable(session: Session, olds: Recorded): Promise<void> {
  const { facts, failures } = await readFacts(session, olds);
  const issues = movedEndpointIssues(session.inputs.specification, facts);
  if (issues.length > 0) throw new Error(issueLines(below(["cluster"], issues)).join("\n"));
  if (failures.length > 0) throw errorOf(failures);
}

/**
 * Writes a changed endpoint into the cluster's own objects. May be repeated after a kill at any point.
 *
 * @param former endpoints that these may have
 * @throws Error when no control plane is ready
 */
export async function moveEndpoint(
  session: MachinesSession<ConfigurationInputs>,
  former: readonly string[],
): Promise<void> {
  const { machines, specification, timeouts } = session.inputs;
  const machine = await readyControlPlane(controlPlanesOf(machines));
  const script = moveEndpointScript(specification, machine.name, former);
  await session.run(machine, script, { seconds: timeouts.init });
}
