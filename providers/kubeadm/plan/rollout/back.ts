import { CERTIFICATES, DRIFT, OS_UPDATES } from "./annotations";
import { isKubernetes, type OnFailure, type RolloutStep } from "./desired";
import { minorsBetween } from "./versions";

/** Software whose change a node can't take back, with the reason. */
const STAYS: Readonly<Record<string, string>> = {
  "os-packages": "packages of the distribution do not go back",
  [OS_UPDATES]: "updates of the operating system do not go back",
  [DRIFT]: "files that were put back stay so",
  [CERTIFICATES]: "renewed certificates stay",
};

/**
 * Returns why a node stays as a failure of its step left it; undefined when it goes back.
 *
 * @param onFailure absent for back, except from a version of Kubernetes
 */
export function refuseBack(
  { controlPlane, from, to, software }: Pick<RolloutStep, "controlPlane" | "from" | "to" | "software">,
  onFailure: OnFailure | undefined,
): string | undefined {
  if (onFailure === "stop") return "it stays so, since rollout.onFailure is stop";
  // certificates are renewed last, and stay so; what failed before them goes back
  const renewed = software.filter(({ name }) => name !== CERTIFICATES);
  const names = (renewed.length > 0 ? renewed : software).map(({ name }) => name);
  if (names.length === 0) return "it stays so, since it already has what it would go back to";
  const stays = names.find((name) => name in STAYS);
  if (stays !== undefined) return `it stays so: ${STAYS[stays]}`;
  if (!names.some(isKubernetes)) return undefined;
  if (controlPlane && minorsBetween(from, to) !== 0)
    return `it stays so: a control plane does not go back from ${to} to ${from}, since an earlier minor version may not read what the later one has written to etcd`;
  return onFailure === "back"
    ? undefined
    : "it stays so: a version of Kubernetes goes back only with rollout.onFailure: back";
}

/** Returns the versions that were asked of a node and that it does not have. */
export function missedOf(
  asked: Readonly<Record<string, string>>,
  current: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(asked).filter(([name, version]) => current[name] !== version));
}
