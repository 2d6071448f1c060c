/** The replacement's Check: rejects inputs that 1.2.1 does not know, fills in defaults, marks secrets. Pure. */
import { elementPath, namedPath } from "./property-path.js";
import { inputsOf, type InputField, type InputType } from "./resource-types.js";
import { isArchive, isAsset, isObject, isUnknown, makeSecret, reveal, underSecret } from "./wire.js";
import type { Properties, Value } from "./wire.js";

export interface CheckFailure {
  /** Property path, as in `connection.proxy.port`. */
  readonly path: string;
  readonly reason: string;
}

interface Checked {
  readonly inputs: Properties;
  readonly failures: readonly CheckFailure[];
}

/**
 * Checks the inputs of one resource.
 * @returns the inputs with defaults and secret marks, and all validation issues
 * @throws Error for a resource type that the replacement does not serve
 */
export function checkInputs(type: string, inputs: Properties): Checked {
  const failures: CheckFailure[] = [];
  const checked = checkFields(inputs, inputsOf(type), "", failures);
  return { inputs: checked, failures };
}

function checkFields(
  given: Properties,
  fields: Readonly<Record<string, InputField>>,
  parent: string,
  failures: CheckFailure[],
): Properties {
  const checked: Properties = {};
  for (const [name, value] of Object.entries(given)) {
    const path = namedPath(parent, name);
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      failures.push({
        path,
        reason: `not an input of command 1.2.1; it knows ${Object.keys(fields).sort().join(", ")}`,
      });
      checked[name] = value;
    } else if (value !== null) {
      if (field.unsupported !== undefined) failures.push({ path, reason: field.unsupported });
      const inner = underSecret(value, (bare) => checkValue(bare, field.type, path, failures));
      checked[name] = field.secret === true ? makeSecret(inner) : inner;
    }
  }
  for (const [name, field] of Object.entries(fields)) {
    if (checked[name] !== undefined) continue;
    if (field.default !== undefined) checked[name] = field.default;
    else if (field.required === true)
      failures.push({ path: namedPath(parent, name), reason: "is required and missing" });
  }
  return checked;
}

function checkValue(value: Value, type: InputType, path: string, failures: CheckFailure[]): Value {
  if (isUnknown(value)) return value;
  if (type.kind === "object") {
    if (isObject(value)) return checkFields(value, type.fields, path, failures);
    failures.push({ path, reason: "must be an object" });
    return value;
  }
  for (const issue of issuesOf(value, type, path)) failures.push(issue);
  return value;
}

function issuesOf(value: Value, type: Exclude<InputType, { kind: "object" }>, path: string): CheckFailure[] {
  const plain = reveal(value);
  switch (type.kind) {
    case "string":
      if (typeof plain !== "string") return [{ path, reason: "must be a string" }];
      if (type.oneOf === undefined || type.oneOf.includes(plain)) return [];
      return [{ path, reason: `must be one of ${type.oneOf.join(", ")}` }];
    case "number":
    case "boolean":
      return typeof plain === type.kind ? [] : [{ path, reason: `must be a ${type.kind}` }];
    case "integer":
      return Number.isInteger(plain) ? [] : [{ path, reason: "must be a whole number" }];
    case "any list":
      return Array.isArray(plain) ? [] : [{ path, reason: "must be a list" }];
    case "string list":
      if (!Array.isArray(plain)) return [{ path, reason: "must be a list of strings" }];
      return plain.flatMap((inner, index) =>
        typeof inner === "string" ? [] : [{ path: elementPath(path, index), reason: "must be a string" }],
      );
    case "string map":
      if (!isObject(plain)) return [{ path, reason: "must be an object of strings" }];
      return Object.entries(plain).flatMap(([name, inner]) =>
        typeof inner === "string" ? [] : [{ path: namedPath(path, name), reason: "must be a string" }],
      );
    case "source":
      return sourceIssues(plain, path);
  }
}

function sourceIssues(source: Value, path: string): CheckFailure[] {
  if (isAsset(source)) {
    const local = typeof source["path"] === "string" || typeof source["text"] === "string";
    return local ? [] : [{ path, reason: "must be a file asset or a string asset, not a remote asset" }];
  }
  if (isArchive(source)) {
    return typeof source["path"] === "string"
      ? []
      : [{ path, reason: "must be a file archive: a path to a file or folder" }];
  }
  return [{ path, reason: "must be an asset or an archive" }];
}
