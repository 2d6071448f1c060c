import { renewalDays, warningDays } from "../../plan/certificates/validity";
import { daysUntil, dueRenewal, firstEnd, nearEnds, renewableEnds } from "../../plan/certificates/report";
import type { RolloutNode } from "../../plan/rollout/observed";
import type { RolloutPlan } from "../../plan/rollout/plan";
import { nodeRolloutSteps } from "../../plan/steps";
import type { NodeOutput, NodeRolloutInputs } from "../declarations";

type Inputs = Pick<NodeRolloutInputs, "certificates" | "machines" | "specification">;

/** Returns the days before their end at which certificates are renewed. */
export const renewBeforeDays = ({ certificates, specification }: Inputs): number =>
  renewalDays(specification, certificates?.renewBeforeDays);

/** Returns the names of the configured control planes whose certificates a run has to renew. */
export function renewingNodes(nodes: readonly RolloutNode[], inputs: Inputs, now = new Date()): string[] {
  const configured = new Set(inputs.machines.map(({ name }) => name));
  return nodes
    .filter(
      ({ name, controlPlane, certificates }) =>
        controlPlane &&
        configured.has(name) &&
        dueRenewal(certificates, renewBeforeDays(inputs), now) !== undefined,
    )
    .map(({ name }) => name)
    .sort();
}

/** Returns the remarks of a preview on certificates that end soon. */
export function certificateNotes(
  nodes: readonly RolloutNode[],
  { steps }: Pick<RolloutPlan, "steps">,
  inputs: Inputs,
  now = new Date(),
): string[] {
  return nodes.flatMap(({ name: machine, certificates }) => {
    if (certificates === undefined) return [];
    const { renews } = steps.find(({ node }) => node === machine) ?? {};
    const near = nearEnds(certificates, {
      days: warningDays(inputs.specification, inputs.certificates?.renewBeforeDays),
      now,
      isRenewed: renews !== undefined,
    });
    const left = renews && {
      kind: "renewsIn" as const,
      machine,
      days: Math.max(0, daysUntil(renews.ends, now)),
    };
    const ending = near && {
      machine,
      day: near.ends.slice(0, 10),
      names: near.names.join(", "),
      ...(near.days < 0 ? { kind: "ended" as const } : { kind: "ending" as const, days: near.days }),
    };
    return [left, ending].flatMap((step) => (step ? [nodeRolloutSteps.format(step as never)] : []));
  });
}

/** Returns the members with the first end of a certificate that kubeadm renews, which the agents of control planes report. */
export function withCertificateEnds(
  members: readonly NodeOutput[],
  nodes: readonly RolloutNode[],
): NodeOutput[] {
  return members.map((member) => {
    const node = nodes.find(({ name }) => name === member.name);
    const first = node?.controlPlane && node.certificates && firstEnd(renewableEnds(node.certificates));
    return first ? { ...member, certificatesExpire: first } : member;
  });
}
