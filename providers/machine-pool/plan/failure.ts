import { valueAt } from "../../kubernetes/plan/path";

/**
 * Returns the terminal failure of a Cluster API object, from `failureReason` and `failureMessage` of its status, which
 * v1beta2 keeps among the deprecated fields; undefined when it has none.
 */
export function failureOf(object: object): string | undefined {
  const words = ["failureReason", "failureMessage"].flatMap((field) => {
    const paths = [`status.${field}`, `status.deprecated.v1beta1.${field}`];
    const found = paths
      .map((path) => valueAt(object, path))
      .find((value) => value !== undefined && value !== "");
    return typeof found === "string" ? [found] : [];
  });
  return words.length === 0 ? undefined : words.join(": ");
}

/**
 * Returns the terminal failure of an object that a pool refers to; undefined while its controller has not observed the
 * current specification, which may have fixed it.
 */
export function terminalFailure(object: {
  metadata?: { generation?: number };
  status?: { observedGeneration?: number };
}): string | undefined {
  const { observedGeneration } = object.status ?? {};
  const isOutdated =
    observedGeneration !== undefined && observedGeneration < (object.metadata?.generation ?? 0);
  return isOutdated ? undefined : failureOf(object);
}
