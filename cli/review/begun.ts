import { isLeftOf } from "../../providers/kubeadm/plan/facts/preparation";
import { CONFIGURATION } from "../../providers/kubeadm/plan/rollout/annotations";
import * as kubeadm from "../../providers/kubeadm/plan/steps";
import { preparationIn } from "./steps";

/** Returns whether a line is what is left of the preparation that another one lists. */
function isLeftOfPreparation(current: string, reviewed: string): boolean {
  const [now, whole] = [current, reviewed].map(preparationIn);
  return now !== undefined && whole !== undefined && isLeftOf(now, whole);
}

/** What a join is after an earlier run began it: the machine is a member without a label, or was reset to join again. */
const BEGUN_JOINS: Readonly<Record<string, readonly string[]>> = {
  join: ["complete"],
  joinControlPlane: ["complete"],
  rejoin: ["complete", "join"],
  rejoinControlPlane: ["complete", "joinControlPlane"],
};

/** Returns whether a current step completes a reviewed join. */
function isBegunJoin(current: string, reviewed: string): boolean {
  const [now, promised] = [kubeadm.nodeGroupSteps.parse(current), kubeadm.nodeGroupSteps.parse(reviewed)];
  if (now === undefined || promised === undefined || !("machine" in now && "machine" in promised))
    return false;
  return BEGUN_JOINS[promised.kind]?.includes(now.kind) === true && now.machine === promised.machine;
}

/** Returns whether a current step is a reviewed init of which no kubeadm is asked for its components again. */
function isUnreadInit(current: string, reviewed: string): boolean {
  const [now, whole] = [current, reviewed].map((line) => kubeadm.clusterInitSteps.parse(line));
  return (
    now?.kind === "init" &&
    whole?.kind === "init" &&
    now.components === undefined &&
    now.machine === whole.machine
  );
}

/**
 * Returns whether a current step is a reviewed one that an earlier run began and did not finish: same machine, same
 * targets.
 */
export function isBegun(type: string, current: string, reviewed: string): boolean {
  if (isLeftOfPreparation(current, reviewed)) return true;
  if (type === "NodeGroup") return isBegunJoin(current, reviewed);
  if (type === "ClusterInit") return isUnreadInit(current, reviewed);
  if (type !== "NodeRollout") return false;
  const [now, promised] = [kubeadm.nodeRolloutSteps.parse(current), kubeadm.nodeRolloutSteps.parse(reviewed)];
  if (promised?.kind === "configure") return isBegunConfiguration(now, promised);
  if (promised?.kind === "repair" || promised?.kind === "renew")
    return (
      (now?.kind === "finish" || (now?.kind === promised.kind && now.resumed === true)) &&
      now.machine === promised.machine
    );
  if (promised?.kind === "update" || promised?.kind === "reboot") return isBegunUpdate(now, promised);
  if (promised?.kind === "back") return now?.kind === "finish" && now.machine === promised.machine;
  if (promised?.kind !== "upgrade" && promised?.kind !== "finish") return false;
  if (now?.kind === "finish") return now.machine === promised.machine && now.to === promised.to;
  const { software: known = [] } = promised.kind === "upgrade" ? promised : {};
  const isKnown = ({ name, to }: { name: string; to: string }) =>
    known.some((one) => one.name === name && one.to === to);
  if (now?.kind === "configure" && now.resumed)
    return now.machine === promised.machine && isKnown({ name: CONFIGURATION, to: now.to });
  if (now?.kind !== "upgrade" || !now.resumed) return false;
  return now.machine === promised.machine && now.to === promised.to && (now.software ?? []).every(isKnown);
}

/** Returns whether a step installs or closes reviewed updates of an operating system. */
function isBegunUpdate(
  now: kubeadm.NodeRolloutStep | undefined,
  promised: Extract<kubeadm.NodeRolloutStep, { kind: "update" | "reboot" }>,
): boolean {
  if (now?.kind === "finish") return now.machine === promised.machine;
  if (now?.kind !== promised.kind || now.machine !== promised.machine || !now.resumed) return false;
  return now.kind === "reboot" || (promised.kind === "update" && now.list === promised.list);
}

/** Returns whether a step completes or closes a reviewed change of configuration. */
function isBegunConfiguration(
  now: kubeadm.NodeRolloutStep | undefined,
  promised: Extract<kubeadm.NodeRolloutStep, { kind: "configure" }>,
): boolean {
  if (now?.kind === "finish") return now.machine === promised.machine;
  if (now?.kind !== "configure" || !now.resumed) return false;
  return now.machine === promised.machine && now.to === promised.to;
}
