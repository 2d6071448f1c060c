import type { KubernetesClient } from "../lib/kubernetes";
import type { TemplateGuard } from "./azimuth/resources/template-change";
import type { GuardArgs } from "./kubernetes/resources/guard-args";

/** A rule of a system that an object has to pass before it is used. */
export type Guard = TemplateGuard;

/** Why the object can't be used, by the rule that the guard names; undefined when it can. */
export async function guardRefusal(
  kubernetes: KubernetesClient,
  args: GuardArgs<Guard>,
): Promise<string | undefined> {
  const { refuseTemplateChange } = await import("./azimuth/resources/template-change.js");
  return refuseTemplateChange(kubernetes, args);
}
