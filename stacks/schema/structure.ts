import { hasPrivateKey } from "../../lib/text/quote";
import type { ConfigurationPath, ValidationIssue } from "../../lib/validation/validation-issue";
import { CONFIGURATION_KEYS, type KeyName } from "./keys";

/** Maximum nesting of a value. A Kubernetes object has about ten levels, and the rules visit all of them. */
const DEEPEST = 64;

const KEY_IN_PLAIN =
  "contains a private key, which would be stored and shown in plain text; remove it, and replace the key that was shown";
const NO_TEXT =
  "contains a NUL character or half of a character, which no file, program or Kubernetes object takes; remove it";

interface Structure {
  /** Issues of values that are nested too deeply for other rules. */
  tooDeep: ValidationIssue[];
  issues: ValidationIssue[];
}

/** Returns issues that every key can have, independent of its schema: deep nesting, `__proto__`, plain private keys. */
export function structureIssues(values: Partial<Record<KeyName, unknown>>): Structure {
  const found: Structure = { tooDeep: [], issues: [] };
  for (const [key, value] of Object.entries(values)) {
    const { type, secret } = CONFIGURATION_KEYS[key as KeyName];
    if (type === "object") visit(value, [key], secret, found);
  }
  return found;
}

/** Visits a value without recursion, because its depth is unknown. */
function visit(value: unknown, root: ConfigurationPath, secret: boolean, found: Structure): void {
  const open: [value: unknown, path: ConfigurationPath][] = [[value, root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, path] = next;
    if (path.length > DEEPEST) {
      const message = `is nested more than ${DEEPEST} levels deep; write fewer`;
      found.tooDeep.push({ path: path.slice(0, 8), message });
      return;
    }
    if (typeof at === "string" && !secret) {
      if (hasPrivateKey(at)) found.issues.push({ path, message: KEY_IN_PLAIN });
      if (/[\0\p{Cs}]/u.test(at)) found.issues.push({ path, message: NO_TEXT });
    }
    if (typeof at !== "object" || at === null) continue;
    if (Object.hasOwn(at, "__proto__"))
      found.issues.push({
        path: [...path, "__proto__"],
        message: "is not a name that JavaScript accepts; remove it",
      });
    for (const [key, below] of Object.entries(at))
      open.push([below, [...path, Array.isArray(at) ? Number(key) : key]]);
  }
}
