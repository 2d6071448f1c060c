import { isDeepStrictEqual } from "node:util";
import { type FieldPath, valueAt } from "./fields";

/** The desired status of an object, as its controller writes it. */
export interface DesiredStatus {
  /** Output name → field that must have a value: {clientId: "status.clientId"}. */
  fields?: Record<string, FieldPath>;
  /** Required conditions; the default status is "True". */
  conditions?: { type: string; status?: string }[];
  /** Fields that must have exactly this value: {path: "status.phase", value: "Active"}. */
  equals?: { path: FieldPath; value: unknown }[];
  /** Fields that end the wait at once: with this value, or with any value if none is given. */
  failures?: { path: FieldPath; value?: unknown }[];
  /** Fields whose text explains a failure or a long wait: ["status.failureMessage"]. */
  messages?: FieldPath[];
}

/** The verdict on an object's status: the values of its fields, the pending condition, or why it failed. */
type StatusJudgement = { done: Record<string, unknown> } | { pending: string } | { failed: string };

/** The fields of an object that its status verdict needs. */
export interface ObservedObject {
  metadata?: { generation?: unknown };
  status?: unknown;
  [field: string]: unknown;
}

interface Condition {
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
}

/**
 * Evaluates an object's status. Ignores what its controller wrote about an older generation, if the controller reports
 * the generation (`status.observedGeneration`, or a condition's own).
 */
export function judgeStatus(object: ObservedObject, desired: DesiredStatus): StatusJudgement {
  const words = explain(object, desired);
  for (const { path, value } of desired.failures ?? []) {
    const found = valueAt(object, path);
    if (value === undefined ? isSet(found) : isDeepStrictEqual(found, value))
      return { failed: `${path} is ${show(found)}${words}` };
  }
  if (!expectsSomething(desired)) return { done: {} };
  const generation = asNumber(object.metadata?.generation);
  const observed = asNumber(valueAt(object, "status.observedGeneration"));
  if (isOlder(observed, generation))
    return { pending: `its controller has seen generation ${observed} of ${generation}` };
  const missing = [
    ...Object.values(desired.fields ?? {})
      .filter((path) => !isSet(valueAt(object, path)))
      .map((path) => `${path} is not there yet`),
    ...(desired.equals ?? []).flatMap(({ path, value }) => {
      const found = valueAt(object, path);
      return isDeepStrictEqual(found, value) ? [] : [`${path} is ${show(found)}, not ${show(value)} yet`];
    }),
    ...(desired.conditions ?? []).flatMap(({ type, status = "True" }) =>
      conditionFault(object, type, status, generation),
    ),
  ];
  if (missing.length > 0) return { pending: missing.join("; ") + words };
  const values = Object.entries(desired.fields ?? {}).map(([name, path]) => [name, valueAt(object, path)]);
  return { done: Object.fromEntries(values) as Record<string, unknown> };
}

/** Returns whether there is anything to wait for; failures alone only end a wait. */
export function expectsSomething({ fields = {}, conditions = [], equals = [] }: DesiredStatus): boolean {
  return Object.keys(fields).length + conditions.length + equals.length > 0;
}

function conditionFault(
  object: ObservedObject,
  type: string,
  status: string,
  generation: number | undefined,
): string[] {
  const list = valueAt(object, "status.conditions");
  const conditions = (Array.isArray(list) ? list : []) as Condition[];
  const found = conditions.find((condition) => condition.type === type);
  if (found === undefined) return [`condition ${type} is not there yet`];
  if (isOlder(found.observedGeneration, generation)) return [`condition ${type} is of an older generation`];
  if (found.status === status) return [];
  return [describeCondition(found)];
}

/** Returns a condition as text: "condition Ready is False (WaitingForData: no data yet)". */
function describeCondition({ type, status, reason, message }: Condition): string {
  const why = [reason, message].filter(Boolean).join(": ");
  return `condition ${type} is ${status}${why === "" ? "" : ` (${why})`}`;
}

function explain(object: ObservedObject, { messages = [] }: DesiredStatus): string {
  const found = messages.map((path) => valueAt(object, path)).filter(isSet);
  return found.length === 0 ? "" : `: ${found.map(show).join("; ")}`;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function isOlder(observed: number | undefined, generation: number | undefined): boolean {
  return observed !== undefined && generation !== undefined && observed < generation;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function show(value: unknown): string {
  if (value === undefined) return "absent";
  return typeof value === "string" ? value : JSON.stringify(value);
}
