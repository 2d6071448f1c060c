import { isObject } from "../../../lib/json";
import { valueAt } from "../../../lib/validation/validation-issue";
import type { Generation } from "./model";

/** The releases that simulated servers reproduce from recordings of real ones. */
const TESTED = "0.7.0 or 0.13.0";

/** Names of the fields with which a group of VMs is created. */
export interface GroupFields {
  /** Those in the server's own description of its API. */
  readonly described: readonly string[];
  /** Those that foresail sends. */
  readonly sent: readonly string[];
}

/**
 * Returns why the release of an `mcis` server is not supported, and what to do; undefined if its answers show no reason.
 *
 * @param fields names of the fields of a connection
 */
export function connectionReleaseIssue(
  generation: Generation,
  fields: readonly string[],
): string | undefined {
  return generation === "mcis" && fields.includes("providerName")
    ? `its connections have the field providerName instead of ProviderName, as in the releases 0.8.8 to 0.9.4, which foresail does not support; use a server of release ${TESTED}`
    : undefined;
}

/** Returns why no VM can be created on an `infra` server, and what to do; undefined if its description shows no reason. */
export function groupReleaseIssue({ described, sent }: GroupFields): string | undefined {
  const missing = sent.filter((name) => !described.includes(name));
  if (missing.length === 0) return undefined;
  const releases = missing.includes("cspImageName") ? ", as in the releases 0.12.6 to 0.12.8" : "";
  return `a group of VMs has no ${missing.join(", ")} there${releases}, so no VM can be created; use a server of release ${TESTED}`;
}

/**
 * Returns the names of the fields of a group of VMs from a description in the format of Swagger 2 or OpenAPI 3:
 * undefined if it is none, or has no such group.
 */
export function describedGroupFields(description: unknown): readonly string[] | undefined {
  const operation = valueAt(description, ["paths", "/ns/{nsId}/infra", "post"]);
  const parameters = valueAt(operation, ["parameters"]);
  const bodies = (Array.isArray(parameters) ? parameters : []).filter(
    (one) => valueAt(one, ["in"]) === "body",
  );
  const request =
    valueAt(bodies[0], ["schema"]) ??
    valueAt(operation, ["requestBody", "content", "application/json", "schema"]);
  const groups = valueAt(resolved(description, request), ["properties", "nodeGroups", "items"]);
  const fields = valueAt(resolved(description, groups), ["properties"]);
  return isObject(fields) ? Object.keys(fields) : undefined;
}

/** Follows a reference within a description: "#/definitions/model.InfraReq". */
function resolved(description: unknown, schema: unknown): unknown {
  const reference = valueAt(schema, ["$ref"]);
  if (typeof reference !== "string") return schema;
  return valueAt(description, reference.replace(/^#\//, "").split("/"));
}
