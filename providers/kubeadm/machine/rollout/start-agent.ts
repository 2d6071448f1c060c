import { type AgentLook, isSumOfWork } from "../../plan/rollout/silent-agent";
import { displayLine } from "../../../../lib/text/display";
import { reading } from "../adoption/adoption-steps";
import { ownerParameters, type Script } from "../steps";

/** What a run knows of an agent when it looks at its machine. */
export interface AgentSeen {
  /** For how many seconds it has written nothing. */
  readonly silentSeconds: number;
  /** What becomes of one that does nothing: it stays as it is, is started again, or stays stopped. */
  readonly end: "no" | "restart" | "stop";
  /** Whether one that changes nothing may be waiting for its next try. */
  readonly pauses?: boolean;
  /** What `works` said each time for too long; absent for none. */
  readonly idleSum?: string | undefined;
}

/** Starts the node agent when it does not run, and ends one that does nothing, for parseAgentLook. Waits for no lock. */
export const startAgentScript =
  ({ silentSeconds, end, pauses = false, idleSum = "" }: AgentSeen) =>
  (cluster: string, machine: string): Script =>
    reading("start-agent")(cluster, machine, {
      ...ownerParameters(cluster, machine),
      SILENT_SECONDS: Math.ceil(silentSeconds),
      END: end,
      PAUSES: pauses,
      IDLE_SUM: idleSum,
    });

/** Parses the answer of startAgentScript. @throws Error when it is none */
export function parseAgentLook(answer: string): AgentLook {
  const [, kind = "", rest = ""] = /^(\w+)(?: (.*))?$/.exec(answer.trim()) ?? [];
  if (kind === "says" && rest !== "") return { kind, words: displayLine(rest) };
  if (kind === "works" && isSumOfWork(rest)) return { kind, sum: rest };
  if (rest === "" && (kind === "started" || kind === "ended" || kind === "runs")) return { kind };
  throw new Error("the machine's answer about its node agent can't be read");
}
