import { changesCertificate, changesEndpoint, changesEtcd } from "../configuration/configuration";
import { nodeRolloutSteps, type NodeRolloutStep } from "../steps";
import { listedUpdates } from "../updates/updates";
import { AGENT_VERSION_PATTERN, CERTIFICATES, CONFIGURATION, DRIFT } from "./annotations";
import { isKubernetes, type RolloutStep } from "./desired";

/** Software whose change replaces files and no program. */
const OF_FILES = [CONFIGURATION, DRIFT, CERTIFICATES];

/** Returns a step as previews show it: "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)". */
export function previewStep(step: RolloutStep): NodeRolloutStep {
  const { node: machine, from, to, resumed } = step;
  const staysCordoned = step.staysCordoned ? { staysCordoned: true as const } : {};
  if (step.recalled && step.software.length === 0) return backStep(step, step.recalled);
  if (resumed && step.software.length === 0) return { kind: "finish", machine, to, ...staysCordoned };
  const software = step.software.filter(({ name }) => !isKubernetes(name) && name !== CERTIFICATES);
  if (step.software.length > 0 && step.software.every(({ name }) => OF_FILES.includes(name))) {
    const configuration = software.find(({ name }) => name === CONFIGURATION);
    if (configuration) return configureStep(step, configuration);
    return step.renews && software.length === 0 ? renewStep(step, step.renews) : repairStep(step);
  }
  if (step.updates && step.software.length === 1) return updateStep(step, step.updates);
  const work = step.how === "software" ? "the node agent changes it" : step.how;
  return {
    kind: "upgrade",
    machine,
    ...(from === to ? {} : { from }),
    to,
    ...(software.length > 0 ? { software } : {}),
    ...(resumed ? { resumed: true } : {}),
    ...(step.keepsPods ? { keepsPods: true } : {}),
    how: step.software.length === 0 ? "desired versions written" : work,
    ...renewing(step),
    ...staysCordoned,
  };
}

/** Returns the step of a node that keeps what it has, and is asked for it again. */
function backStep(
  { node: machine, drains, staysCordoned }: RolloutStep,
  recalled: NonNullable<RolloutStep["recalled"]>,
): NodeRolloutStep {
  // others may be able to write a Node's annotations
  const shown = (version = "none") => (new RegExp(AGENT_VERSION_PATTERN).test(version) ? version : "another");
  // the three programs of Kubernetes have one version
  const each = recalled.filter(({ name }) => !isKubernetes(name) || name === "kubelet");
  return {
    kind: "back",
    machine,
    software: each.map(({ name, asked, to }) => ({
      name: name === "kubelet" ? "Kubernetes" : name,
      to: shown(to),
      asked: shown(asked),
    })),
    ...(drains ? { drains: true as const } : {}),
    ...(staysCordoned ? { staysCordoned: true as const } : {}),
  };
}

/** Returns the step of a node whose configuration alone changes. */
function configureStep(
  { node: machine, controlPlane, drains, resumed, staysCordoned, repairs, renews }: RolloutStep,
  { from, to }: RolloutStep["software"][number],
): NodeRolloutStep {
  return {
    kind: "configure",
    machine,
    from,
    to,
    ...(resumed ? { resumed: true } : {}),
    ...takenOut({ drains, staysCordoned }),
    ...(repairs === undefined ? {} : { repairs }),
    ...(controlPlane && changesEtcd(from, to) ? { etcd: true } : {}),
    ...(controlPlane && changesCertificate(from, to) ? { certificate: true } : {}),
    ...(changesEndpoint(controlPlane ? "control-plane" : "worker", from, to) ? { endpoint: true } : {}),
    ...(controlPlane ? { staticPods: true } : {}),
    ...renewing({ renews }),
  };
}

/** Returns the step of a node on which only what others changed is put back. */
function repairStep({ node: machine, repairs, resumed, ...step }: RolloutStep): NodeRolloutStep {
  const files = repairs ?? "its files";
  return {
    kind: "repair",
    machine,
    files,
    ...(resumed ? { resumed: true } : {}),
    ...takenOut(step),
    ...renewing(step),
  };
}

/** Returns the step of a control plane on which only certificates are renewed. */
function renewStep(
  { node: machine, resumed }: RolloutStep,
  { count: certificates, ends }: NonNullable<RolloutStep["renews"]>,
): NodeRolloutStep {
  // a Node's annotations are from outside, and this one was parsed
  return {
    kind: "renew",
    machine,
    certificates,
    day: ends.slice(0, 10),
    ...(resumed ? { resumed: true } : {}),
  };
}

/** Returns the step of a node that gets updates of its operating system alone. */
function updateStep(
  { node: machine, resumed, staysCordoned }: RolloutStep,
  updates: NonNullable<RolloutStep["updates"]>,
): NodeRolloutStep {
  const of = {
    machine,
    ...(resumed ? { resumed: true as const } : {}),
    ...(staysCordoned ? { staysCordoned: true as const } : {}),
  };
  if (updates.count === 0) return { kind: "reboot", ...of };
  return {
    kind: "update",
    ...of,
    packages: updates.count,
    list: updates.hash ?? "",
    reboot: updates.reboot,
    versions: listedUpdates(updates),
  };
}

const renewing = ({ renews }: Pick<RolloutStep, "renews">) =>
  renews === undefined ? {} : { certificates: renews.count };

function takenOut({ drains, staysCordoned }: Pick<RolloutStep, "drains" | "staysCordoned">) {
  return {
    ...(drains && !staysCordoned ? { cordons: true as const, uncordons: true as const } : {}),
    ...(drains ? { drains: true as const } : {}),
  };
}

/** Formats one line of a preview. */
export const describeRolloutStep = (step: RolloutStep): string => nodeRolloutSteps.format(previewStep(step));
