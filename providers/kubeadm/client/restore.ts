import { messageOf } from "../../../lib/error-message";
import {
  fenceControlPlaneScript,
  finishRestoreScript,
  READY_SECONDS,
  restoreControlPlaneScript,
  restoreFactsScript,
  SNAPSHOT_SECONDS,
} from "../machine/backup/backup-steps";
import { type Script, withOwner } from "../machine/steps";
import { parseRemains, type Remains, type RestorePlan } from "../plan/backup/restore";
import type { Machine } from "../plan/cluster/machine";
import { type MachineAccess, runOnMachine } from "./machine-access";
import { openSnapshot } from "./snapshot-content";

type StepOf = (cluster: string, machine: string) => Script;

const scriptFor = ({ cluster, owner }: MachineAccess, { name }: Machine, step: StepOf) =>
  withOwner(step(cluster, name), owner);

/** Asks each control plane what is left of it, also those that are said to be gone. */
export async function remainsOf(
  access: MachineAccess,
  machines: readonly Machine[],
): Promise<Map<string, Remains>> {
  const asked = machines.filter(({ role }) => role === "control-plane");
  const remains = asked.map(async (machine): Promise<[string, Remains]> => {
    const answer = runOnMachine(access, machine, scriptFor(access, machine, restoreFactsScript));
    return [
      machine.name,
      await answer.then(parseRemains, (error: unknown) => ({ unreachable: messageOf(error) })),
    ];
  });
  return new Map(await Promise.all(remains));
}

/**
 * Carries out a restore. Every step may be repeated after a kill; the one that restores etcd is not repeated once it has ended.
 *
 * @param say prints a line of progress
 */
export async function restoreFrom(
  access: MachineAccess,
  { machine, fenced, gone, snapshot, again }: RestorePlan,
  { file, identities }: { file: string; identities: string },
  say: (line: string) => void,
): Promise<void> {
  const finish = () => runOnMachine(access, machine, scriptFor(access, machine, finishRestoreScript));
  if (again) await finish();
  await Promise.all(
    fenced.map(async (each) => {
      await runOnMachine(access, each, scriptFor(access, each, fenceControlPlaneScript), {
        stepSeconds: 120,
      });
      say(`${each.name}: its API server and etcd are stopped`);
    }),
  );
  say(`${machine.name}: begins to restore etcd and the files of the control plane`);
  const script = scriptFor(access, machine, (cluster, name) =>
    restoreControlPlaneScript(cluster, name, { snapshot, gone }),
  );
  const input = await openSnapshot(file, identities);
  await runOnMachine(access, machine, script, { input, stepSeconds: SNAPSHOT_SECONDS + READY_SECONDS });
  await finish();
}
