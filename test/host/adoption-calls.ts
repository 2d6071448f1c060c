import type { NewObject } from "../../lib/kubernetes";
import type { WidgetsFixture } from "./widgets-fixture";

export const ADOPTION = "kubernetes/Adoption";
export const STACK = "foresail/test";

export type Live = NewObject & {
  metadata: {
    uid: string;
    annotations?: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: { name: string; uid?: string }[];
  };
  spec: Record<string, unknown>;
};

/** Calls of the handlers of Adoption with one fixture's API server, and what others do to its objects. */
export function adoptionsOf(fixture: WidgetsFixture) {
  const inputs = (object: NewObject, over: object = {}) => ({
    kubeconfig: fixture.api.kubeconfig(),
    stack: STACK,
    timeoutSeconds: 5,
    object,
    ...over,
  });
  const live = (name: string) =>
    fixture.kubernetes.get<Live>({
      apiVersion: "test.foresail.dev/v1",
      kind: "Widget",
      namespace: "default",
      name,
    });
  const status = (name: string, value: object) =>
    fixture.kubernetes.mergePatch(
      { apiVersion: "test.foresail.dev/v1", kind: "Widget", namespace: "default", name },
      { status: value },
      { subresource: "status" },
    );
  const byOthers = (object: NewObject) => fixture.kubernetes.apply(object, { fieldManager: "helm" });
  const lines = async (news: object, olds: object = {}) =>
    (await fixture.host.check(ADOPTION, olds, news)).inputs["steps"] as string[];
  const changes = async (olds: object, news: object) =>
    (await fixture.host.diff(ADOPTION, olds, news)).changes;
  return { inputs, live, status, byOthers, lines, changes };
}
