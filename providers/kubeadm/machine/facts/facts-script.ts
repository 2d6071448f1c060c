import type { MachineFacts } from "../../plan/facts/machine-facts";
import { parseMachineMark } from "../../plan/facts/machine-mark";
import { namedFacts, reading } from "../adoption/adoption-steps";

/** Reads what a preview has to know about a machine that is new to the stack, for parseMachineFacts. Writes nothing. */
export const machineFactsScript = reading("machine-facts");

const FIXED = ["podSubnet", "serviceSubnet", "dnsDomain", "endpoint"];

/** Parses the answer of machineFactsScript. */
export function parseMachineFacts(answer: string): MachineFacts {
  const facts = namedFacts(answer);
  const fixed = Object.fromEntries(
    (facts.get("fixed") ?? "").split("\n").flatMap((line) => {
      const [name = "", value = ""] = line.split(" ").map((word) => word.replaceAll('"', ""));
      return FIXED.includes(name) ? [[name, value] as const] : [];
    }),
  );
  const changing = (facts.get("changing") ?? "").trim();
  return {
    mark: parseMachineMark(facts.get("marker") ?? ""),
    ...((facts.get("member") ?? "") === "" ? {} : { member: true }),
    identity: (facts.get("identity") ?? "").trim(),
    ...(facts.get("member")?.startsWith("adopted") ? { adopted: true } : {}),
    ...(Object.keys(fixed).length > 0 ? { fixed } : {}),
    ...((facts.get("begunControlPlane") ?? "") === "" ? {} : { begunControlPlane: true }),
    ...(/^\d{1,9}$/.test(changing) ? { changingSeconds: Number(changing) } : {}),
  };
}
