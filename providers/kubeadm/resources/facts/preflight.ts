import { isKnown } from "../../../../lib/unknown";
import { printable } from "../../../../lib/text/quote";
import { messageOf } from "../../../../lib/error-message";
import { preflightScript } from "../../machine/steps";
import type { Machine } from "../../plan/cluster/machine";
import type { NodeGroupStep } from "../../plan/steps";
import type { NodeGroupInputs } from "../declarations";
import { allInParallel, withMachines } from "../session/machines-session";
import { clockIssue } from "../cluster/rebooting";

/** How long a machine may take to answer a check, in seconds: first the connection, then the step. */
const CONNECT_SECONDS = 6;
const STEP_SECONDS = 20;

/** Exit codes of a step that refuses its machine in words, with which the run would end, too. */
const REFUSALS: readonly (number | undefined)[] = [73, 74, 78];

interface Preflight {
  failures: { property: string; reason: string }[];
  notes: NodeGroupStep[];
}

/**
 * Asks machines that will join what keeps them from it, and what of others they keep, before anything is changed on them.
 * A machine that does not answer is only noted, since the run asks it again.
 */
export async function preflight(
  resource: string,
  inputs: NodeGroupInputs,
  joining: readonly Machine[],
): Promise<Preflight> {
  const { specification, credentials, jumpHost, timeouts, podNetwork = "other" } = inputs;
  const known = isKnown([specification, credentials, jumpHost]) ? joining.filter(isKnown) : [];
  const found: Preflight = { failures: [], notes: [] };
  if (known.length === 0) return found;
  const { SshCommandError } = await import("../../../../lib/ssh/errors.js");
  const limited = { ...inputs, timeouts: { ...timeouts, ssh: Math.min(timeouts.ssh, CONNECT_SECONDS) } };
  await withMachines(resource, limited, (session) =>
    allInParallel(known, async (machine) => {
      try {
        const script = preflightScript(specification, machine, podNetwork);
        const answer = await session.run(machine, script, { seconds: STEP_SECONDS });
        for (const line of answer.split("\n").filter((each) => each !== "")) {
          const clock = /^clock (\d{1,12})$/.exec(line)?.[1];
          const reason = clock === undefined ? undefined : clockIssue(machine, Number(clock));
          if (reason !== undefined) found.failures.push({ property: "machines", reason });
          if (clock === undefined)
            found.notes.push({ kind: "keeps", machine: machine.name, what: printable(line) });
        }
      } catch (error) {
        if (error instanceof SshCommandError && REFUSALS.includes(error.exitCode))
          found.failures.push({ property: "machines", reason: error.words });
        else found.notes.push({ kind: "unasked", machine: machine.name, why: printable(messageOf(error)) });
      }
    }),
  );
  return found;
}
