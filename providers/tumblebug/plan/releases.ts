import { isObject } from "../../../lib/json";
import type { Generation } from "./model";

/** The releases that simulated servers reproduce from recordings of real ones. */
const TESTED = "0.7.0 or 0.13.0";

/** What the answers of a server say about its release, which none of them names. */
export interface ReleaseAnswers {
  readonly generation: Generation;
  /** Names of the fields of a connection. */
  readonly connectionFields?: readonly string[] | undefined;
  /** Fields of a group of VMs; absent if the server describes none. */
  readonly groupFields?: GroupFields | undefined;
}

/** Names of the fields with which a group of VMs is created. */
export interface GroupFields {
  /** Those in the server's own description of its API. */
  readonly described: readonly string[];
  /** Those that foresail sends. */
  readonly sent: readonly string[];
}

/** Returns why a server's release is not supported, and what to do; undefined if its answers show no reason. */
export function unsupportedRelease({
  generation,
  connectionFields = [],
  groupFields,
}: ReleaseAnswers): string | undefined {
  if (generation === "mcis")
    return connectionFields.includes("providerName")
      ? `its connections have the field providerName instead of ProviderName, as in the releases 0.8.8 to 0.9.4, which foresail does not support; use a server of release ${TESTED}`
      : undefined;
  const missing = groupFields?.sent.filter((name) => !groupFields.described.includes(name)) ?? [];
  if (missing.length === 0) return undefined;
  const releases = missing.includes("cspImageName") ? ", as in the releases 0.12.6 to 0.12.8" : "";
  return `a group of VMs has no ${missing.join(", ")} there${releases}, so no VM can be created; use a server of release ${TESTED}`;
}

/**
 * Returns the names of the fields of a group of VMs from a description in the format of Swagger 2 or OpenAPI 3:
 * undefined if it is none, or has no such group.
 */
export function describedGroupFields(description: unknown): readonly string[] | undefined {
  const operation = at(description, "paths", "/ns/{nsId}/infra", "post");
  const parameters = at(operation, "parameters");
  const bodies = (Array.isArray(parameters) ? parameters : []).filter((one) => at(one, "in") === "body");
  const request =
    at(bodies[0], "schema") ?? at(operation, "requestBody", "content", "application/json", "schema");
  const groups = at(resolved(description, request), "properties", "nodeGroups", "items");
  const fields = at(resolved(description, groups), "properties");
  return isObject(fields) ? Object.keys(fields) : undefined;
}

/** Follows a reference within a description: "#/definitions/model.InfraReq". */
function resolved(description: unknown, schema: unknown): unknown {
  const reference = at(schema, "$ref");
  if (typeof reference !== "string") return schema;
  return at(description, ...reference.replace(/^#\//, "").split("/"));
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inside, key) => (isObject(inside) && Object.hasOwn(inside, key) ? inside[key] : undefined),
    value,
  );
}
