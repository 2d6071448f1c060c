import type { Machine } from "../../plan/cluster/machine";
import { wereReset } from "../../plan/membership/reset";
import type { MachinesSession } from "../session/machines-session";
import { readReportedFacts } from "./rebooting";

/** The state or the cluster has machines as members that a run has reset. */
class MachinesWereReset extends Error {}

/**
 * Refuses to go on with machines whose destroy or removal was interrupted. The state does not know that a destroy began: it
 * lost what is created here, and still has the cluster and the preparation of its machines.
 *
 * @param members machines that have to be members
 * @throws MachinesWereReset
 */
export async function assertNotReset(
  session: Pick<MachinesSession, "run">,
  members: readonly Machine[],
  interrupted: Parameters<typeof wereReset>[1] = "destroy",
): Promise<void> {
  // one that does not answer is a matter of the steps that need it
  const facts = await Promise.all(
    members.map((machine) => readReportedFacts(session, machine).catch(() => undefined)),
  );
  const names = members.filter((_, index) => facts[index]?.member === false).map(({ name }) => name);
  if (names.length > 0) throw new MachinesWereReset(wereReset(names, interrupted));
}
