import { initConfiguration } from "../../machine/configuration/configuration";
import { configureClusterScript } from "../../machine/steps";
import { beginWrite, endWrite, type WrittenPart } from "../../plan/configuration/configuration-record";
import { controlPlanesOf } from "../../plan/cluster/machine";
import type { ClusterSpecification } from "../../plan/cluster/specification";
import { restartKubeProxy, withAdoptedCluster, writeAdopted } from "../adoption/adopted-configuration";
import { changeRecord } from "./configuration-record";
import type { ConfigurationInputs } from "../declarations";
import { type MachinesSession, readyControlPlane } from "../session/machines-session";
import { moveEndpoint } from "../endpoint/moved-endpoint";

type Session = MachinesSession<ConfigurationInputs>;

/**
 * Writes parts of a configuration into the cluster's own objects, from which nodes get theirs. May be repeated after a
 * kill at any point: the record says before a write what it leaves behind.
 *
 * @param olds the settings of the state
 * @param isAdopted whether the objects are those of others, into which settings are merged
 * @param formerEndpoints that the objects may have
 */
export async function writeConfiguration(
  session: Session,
  parts: readonly WrittenPart[],
  {
    olds,
    isAdopted,
    formerEndpoints = [],
  }: { olds: ClusterSpecification; isAdopted: boolean; formerEndpoints?: readonly string[] },
): Promise<void> {
  if (parts.length === 0) return;
  const { specification: news } = session.inputs;
  await withAdoptedCluster(session, false, async (kubernetes) => {
    const { endpoint: found = [] } = await changeRecord(kubernetes, (record) =>
      beginWrite(record, parts, { olds, news }),
    );
    if (isAdopted) await writeAdopted(kubernetes, news);
    else await configure(session, parts);
    if (isAdopted && parts.includes("kubeProxy")) await restartKubeProxy(session);
    if (parts.includes("endpoint")) await moveEndpoint(session, [...new Set([...formerEndpoints, ...found])]);
    await changeRecord(kubernetes, (record) => endWrite(record, parts, news));
  });
}

/** Lets kubeadm write its ConfigMaps of a cluster that foresail made, through a control plane that is ready. */
async function configure(session: Session, parts: readonly WrittenPart[]): Promise<void> {
  const change = { upload: parts.includes("kubeadm"), kubeProxy: parts.includes("kubeProxy") };
  if (!change.upload && !change.kubeProxy) return;
  const { machines, specification, timeouts } = session.inputs;
  const controlPlanes = controlPlanesOf(machines);
  const machine = await readyControlPlane(controlPlanes);
  const script = configureClusterScript(session.cluster, machine.name, change);
  const data = initConfiguration(specification, machine, controlPlanes);
  await session.run(machine, script, { seconds: timeouts.init, data });
}
