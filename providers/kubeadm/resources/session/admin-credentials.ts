import { describeFailure } from "../../../../lib/pulumi/failure";
import { adminCredentials, type AdminCredentials } from "../../machine/cluster/kubeconfig";
import type { Machine } from "../../plan/cluster/machine";
import type { MachinesSession } from "./machines-session";

/**
 * Reads the administrator's credentials from the first of these control planes that returns its admin.conf.
 *
 * @param script the step that reads the file
 * @param failed is told why a control plane did not return it
 * @throws Error with each reason
 */
export async function firstAdminCredentials(
  session: Pick<MachinesSession, "run">,
  controlPlanes: readonly Machine[],
  script: Parameters<MachinesSession["run"]>[1],
  failed: (reason: string) => void = () => undefined,
): Promise<{ admin: AdminCredentials; machine: Machine }> {
  const reasons: string[] = [];
  for (const machine of controlPlanes) {
    try {
      return { admin: adminCredentials(await session.run(machine, script)), machine };
    } catch (error) {
      const reason = describeFailure({ resource: machine.name, step: "read admin.conf" }, error);
      reasons.push(reason);
      failed(reason);
    }
  }
  throw new Error(`no control plane gave its admin.conf:\n${reasons.join("\n")}`);
}
