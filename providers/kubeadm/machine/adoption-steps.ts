import { createHash } from "node:crypto";
import type { MemberFacts } from "../plan/adoption";
import { assertNames } from "../plan/validation/settings";
import { renderShell, shellCommands } from "./shell";
import { type Operation, type Script, step } from "./steps";

/** Returns a step that only reads: without the frame of the others, which writes a log and folders on the machine. */
const reading =
  (operation: Operation, files: string[] = []) =>
  (_cluster: string, machine: string) => {
    assertNames({ machine });
    const text = renderShell([...files, `steps/${operation}`].map(shellCommands).join("\n"), {});
    return {
      operation,
      machine,
      text: `# foresail: ${operation} ${machine}\n${text}\nexit 0`,
    } satisfies Script;
  };

/** Reads what identifies a member of a cluster that foresail did not make, for parseMemberFacts. Writes nothing. */
export const adoptionFactsScript = reading("adoption-facts", ["common/authority"]);

/** Reads the administrator's kubeconfig of a control plane. Answers its text, which is secret. Writes nothing. */
export const adoptionAccessScript = reading("adoption-access");

/** Returns the fingerprint of a certificate authority, as adopt.sh computes it. @param text PEM */
export const authorityFingerprint = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Parses the answer of adoptionFactsScript. */
export function parseMemberFacts(answer: string): MemberFacts {
  const facts = new Map(
    answer
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([name = "", value = ""]) => [name, Buffer.from(value, "base64").toString("utf8")]),
  );
  const of = (name: string) => (facts.get(name) ?? "").trim();
  const authority = facts.get("authority") ?? "";
  return {
    marker: of("marker"),
    authority: authority === "" ? "" : authorityFingerprint(authority),
    machineId: of("machineId"),
    addresses: of("addresses").split(/\s+/),
    system: of("system"),
    kubelet: of("kubelet"),
    controlPlane: of("controlPlane") === "yes",
  };
}

/**
 * Claims a member of a cluster that foresail did not make. Its answer is empty.
 *
 * @param authority fingerprint of the cluster's certificate authority; a machine with another one is refused
 */
export const adoptScript = (cluster: string, machine: string, authority: string): Script =>
  step("adopt", cluster, machine, { files: ["common/authority"], AUTHORITY: authority });

/** Removes the node agent and foresail's marks, and leaves Kubernetes as it is. Its answer is empty. */
export const releaseScript = (cluster: string, machine: string): Script =>
  step("release", cluster, machine, { files: ["common/adopted"] });
