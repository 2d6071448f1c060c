import type { Machine } from "../../plan/cluster/machine";
import { listed } from "../../../../lib/text/quote";
import type { MachinesSession } from "../session/machines-session";
import { readReportedFacts } from "./rebooting";

/** What completes what was interrupted. */
const NEXT = {
  destroy: "run `pulumi destroy` again, which completes it, and then `up`",
  removal: "take the machine out of the configuration, run `up`, which completes it, then add it again",
};

/** The state or the cluster has machines as members that a run has reset. */
class MachinesWereReset extends Error {
  constructor(names: readonly string[], interrupted: keyof typeof NEXT) {
    const were = names.length > 1 ? "were" : "was";
    super(
      `the cluster exists, but ${listed(names)} ${were} reset: a ${interrupted} was interrupted; ${NEXT[interrupted]}`,
    );
  }
}

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
  interrupted: keyof typeof NEXT = "destroy",
): Promise<void> {
  // one that does not answer is a matter of the steps that need it
  const facts = await Promise.all(
    members.map((machine) => readReportedFacts(session, machine).catch(() => undefined)),
  );
  const names = members.filter((_, index) => facts[index]?.member === false).map(({ name }) => name);
  if (names.length > 0) throw new MachinesWereReset(names, interrupted);
}
