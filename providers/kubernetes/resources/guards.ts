import type { KubernetesClient } from "../../../lib/kubernetes";
import type { Identity } from "../plan/identity";
import type { TemplateGuard } from "../../azimuth/resources/template-change";

/** A rule of a system that an object has to pass before it is used. */
export type Guard = TemplateGuard;

/** What a rule looks at. */
export interface GuardArgs<G extends Guard> {
  guard: G;
  /** the object that the state has, with the values that were read from it */
  before?: { name: string; values: Record<string, unknown> };
  object: Identity;
  live: unknown;
}

/** Why the object can't be used, by the rule that the guard names; undefined when it can. */
export async function guardRefusal(
  kubernetes: KubernetesClient,
  args: GuardArgs<Guard>,
): Promise<string | undefined> {
  const { refuseTemplateChange } = await import("../../azimuth/resources/template-change.js");
  return refuseTemplateChange(kubernetes, args);
}
