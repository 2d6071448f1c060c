import type { KubernetesClient } from "../lib/kubernetes";
import type { TemplateGuard } from "./azimuth/resources/template-change";
import type { GuardArgs } from "./kubernetes/resources/inputs";

/** A system's rule that an object must pass before it is used. */
export type Guard = TemplateGuard;

/** Returns why the guard's rule refuses the object; undefined when it passes. */
export async function guardRefusal(
  kubernetes: KubernetesClient,
  args: GuardArgs<Guard>,
): Promise<string | undefined> {
  const { refuseTemplateChange } = await import("./azimuth/resources/template-change.js");
  return refuseTemplateChange(kubernetes, args);
}
