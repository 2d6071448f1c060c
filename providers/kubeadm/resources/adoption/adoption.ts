import {
  below,
  formatPath,
  issueAt,
  issueLines,
  type ValidationIssue,
} from "../../../../lib/validation/validation-issue";
import {
  adoptionAccessScript,
  adoptionFactsScript,
  adoptScript,
  parseMemberFacts,
} from "../../machine/adoption/adoption-steps";
import { renderKubeconfig } from "../../machine/cluster/kubeconfig";
import { readAdoptable } from "../../client/adoptable";
import type { AdoptableCluster, InspectedMachine } from "../../plan/adoption/adoption-facts";
import { membershipIssues, nodeIssues, settingIssues } from "../../plan/adoption/adoption";
import { controlPlanesOf, type Machine } from "../../plan/cluster/machine";
import { decideOwnership, foreignOwner } from "../../../../lib/ownership/owner";
import { TAKE_OVER_FIELD } from "../../plan/facts/ownership";
import { selfOf } from "../facts/ownership";
import { firstAdminCredentials } from "../session/admin-credentials";
import type { ClusterInitInputs, ConfigurationInputs } from "../declarations";
import { allInParallel, type MachinesSession } from "../session/machines-session";

type Session = MachinesSession<ClusterInitInputs>;

/** What was found on the machines and in the cluster. Nothing was written on either. */
interface Inspection {
  inspected: InspectedMachine[];
  /** Undefined when the machines alone show that they can't be adopted. */
  cluster?: AdoptableCluster;
  /** Secret: the administrator's, for the previews of the other resources. */
  kubeconfig?: string;
  issues: ValidationIssue[];
}

/**
 * Inspects the machines, and the cluster through one of its control planes. Only reads.
 *
 * @throws the SSH client's typed errors, KubernetesUnreachable
 */
export async function inspectForAdoption(session: Session): Promise<Inspection> {
  const { machines, specification, takeOver } = session.inputs;
  const self = selfOf(session.inputs, takeOver);
  const inspected = await inspectMachines(session, machines);
  const issues = membershipIssues(session.cluster, inspected, self);
  if (issues.length > 0) return { inspected, issues };
  const kubeconfig = await administratorKubeconfig(session);
  const cluster = await readAdoptable({ kubeconfig });
  const { owner } = cluster;
  const found = decideOwnership(owner, self);
  if (found.is === "foreign") {
    const message = foreignOwner("the cluster", found.owner, self, TAKE_OVER_FIELD);
    return { inspected, cluster, issues: issueAt(["adopt"], message) };
  }
  return {
    inspected,
    cluster,
    kubeconfig,
    issues: [
      ...nodeIssues(specification.source, inspected, cluster.nodes),
      ...settingIssues(specification, cluster),
    ],
  };
}

async function inspectMachines(session: Session, machines: readonly Machine[]): Promise<InspectedMachine[]> {
  const found = new Map<string, InspectedMachine>();
  await allInParallel(machines, async (machine) => {
    const facts = parseMemberFacts(await session.run(machine, adoptionFactsScript));
    found.set(machine.name, { machine, facts });
  });
  return machines.flatMap(({ name }) => found.get(name) ?? []);
}

/** Returns control planes with the names in the certificates of their API servers. */
const namedServers = ({ serverNames = {} }: ConfigurationInputs, controlPlanes: readonly Machine[]) =>
  controlPlanes.map((machine) => ({ ...machine, certificateName: serverNames[machine.name] }));

/** Reads the administrator's credentials from the first control plane that has them. Writes nothing on it. */
export async function administratorKubeconfig(
  session: Pick<MachinesSession<ConfigurationInputs>, "run" | "cluster" | "inputs">,
): Promise<string> {
  const controlPlanes = controlPlanesOf(session.inputs.machines);
  const { admin } = await firstAdminCredentials(session, controlPlanes, adoptionAccessScript);
  return renderKubeconfig(
    session.cluster,
    { controlPlanes: namedServers(session.inputs, controlPlanes) },
    admin,
  );
}

/**
 * Adopts the cluster: inspects all machines, and claims them only when every one of them may be adopted. May be repeated.
 *
 * @throws Error with every issue; then nothing is written on any machine
 */
export async function adoptCluster(session: Session): Promise<void> {
  const { inspected, issues } = await inspectForAdoption(session);
  if (issues.length > 0) throw new Error(issueLines(below(["cluster"], issues)).join("\n"));
  const authority = inspected[0]?.facts.authority ?? "";
  const { machines } = session.inputs;
  await allInParallel(machines, async (machine) => {
    await session.run(machine, adoptScript(session.cluster, machine.name, authority));
    session.progress(`${machine.name} is adopted`);
  });
}

/** Returns the issues with their paths in the configuration, as failures of a check. */
export const failuresOf = (issues: readonly ValidationIssue[]) =>
  below(["cluster"], issues).map(({ path, message }) => ({ property: formatPath(path), reason: message }));
