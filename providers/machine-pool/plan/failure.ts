import { valueAt } from "../../kubernetes/plan/path";

/**
 * Why an object of Cluster API has failed for good, in its own words: `failureReason` and `failureMessage` of its status,
 * which v1beta2 keeps among the older fields; undefined when it says nothing of the kind.
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
 * Why an object to which a pool refers has failed for good; undefined while its controller has not seen the present
 * specification, which may have mended it.
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
