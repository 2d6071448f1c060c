import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { fieldAt } from "../../kubernetes/plan/fields";

/** What a pool's machines are made from, as the inputs keep it. */
export interface PoolTemplate {
  /** kind and name of the infrastructure object: "AWSMachinePool workers" */
  infrastructure: string;
  /** the bootstrap of the pool, and the specification of the infrastructure object */
  rest: unknown;
}

/**
 * What a change of the template does with the machines that exist: others take their place, made by another object or
 * from another template; the provider decides; they stay.
 */
export type TemplateChange = "replace" | "roll" | "open" | "keep" | "none";

/** Machines that were made from an earlier template. */
export interface OutdatedMachines {
  infrastructure: string;
  /** path in that template's specification → digest of its value */
  fields: Record<string, string>;
  /** provider ids */
  machines: string[];
}

type FieldEffect = "roll" | "open" | "keep";

/** Effects of fields, and of all below them, by their paths; the longest path that fits counts. */
type FieldEffects = Readonly<Record<string, FieldEffect>>;

const EVERY_FIELD = "";

/** What the providers do when a field of their pools changes. */
const KINDS: Readonly<Record<string, FieldEffects>> = {
  // an instance refresh begins when one of these differs from the launch template; others only make a new version
  AWSMachinePool: {
    [EVERY_FIELD]: "keep",
    additionalTags: "roll",
    awsLaunchTemplate: "open",
    "awsLaunchTemplate.ami": "roll",
    "awsLaunchTemplate.instanceType": "roll",
    "awsLaunchTemplate.iamInstanceProfile": "roll",
    "awsLaunchTemplate.additionalSecurityGroups": "roll",
    "awsLaunchTemplate.instanceMetadataOptions": "roll",
  },
  AzureMachinePool: { [EVERY_FIELD]: "keep", template: "roll" },
  DevMachinePool: { [EVERY_FIELD]: "keep", "backend.docker.customImage": "roll" },
  DockerMachinePool: { [EVERY_FIELD]: "keep", "template.customImage": "roll" },
};

/** Pools of managed services change some fields of their machines in place. */
const MANAGED: FieldEffects = { [EVERY_FIELD]: "open" };

const OTHERS: FieldEffects = {
  [EVERY_FIELD]: "roll",
  minSize: "keep",
  maxSize: "keep",
  providerID: "keep",
  providerIDList: "keep",
};

function effectsOf(kind: string): FieldEffects {
  if (Object.hasOwn(KINDS, kind)) return KINDS[kind] ?? OTHERS;
  return kind.includes("Managed") ? MANAGED : OTHERS;
}

const isBelow = (path: string, field: string): boolean =>
  field === EVERY_FIELD || path === field || path.startsWith(`${field}.`);

function effectOf(kind: string, path: string, inPlaceFields: readonly string[]): FieldEffect {
  if (inPlaceFields.some((field) => isBelow(path, field))) return "keep";
  const effects = effectsOf(kind);
  const [longest = EVERY_FIELD] = Object.keys(effects)
    .filter((field) => isBelow(path, field))
    .sort((one, other) => other.length - one.length);
  return effects[longest] ?? "roll";
}

const digestOf = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);

/** Returns the digest of each value of a specification, by its path; a list is one value. */
function digests(value: unknown, path = ""): Record<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return value === undefined ? {} : { [path]: digestOf(value) };
  const below = Object.entries(value).map(([key, inner]) =>
    digests(inner, path === "" ? key : `${path}.${key}`),
  );
  return Object.assign({}, ...below) as Record<string, string>;
}

const kindOf = (infrastructure: string): string => infrastructure.split(" ")[0] ?? "";
const specificationOf = ({ rest }: PoolTemplate): unknown => fieldAt(rest, "infrastructure");

function changedFields(before: Record<string, string>, after: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]);
}

/** Returns what a change from a specification to a template does with the machines. */
function specificationChange(
  before: Pick<OutdatedMachines, "infrastructure" | "fields">,
  after: PoolTemplate,
  inPlaceFields: readonly string[],
): TemplateChange {
  if (before.infrastructure !== after.infrastructure) return "replace";
  const kind = kindOf(after.infrastructure);
  const specification = specificationOf(after);
  const paths = changedFields(before.fields, digests(specification));
  const effects = paths.map((path) => effectOf(kind, path, inPlaceFields));
  const strongest = (["roll", "open", "keep"] as const).find((effect) => effects.includes(effect)) ?? "none";
  const isRefused = strongest !== "none" && fieldAt(specification, "refreshPreferences.disable") === true;
  return isRefused ? "keep" : strongest;
}

/**
 * Returns what a change of a pool's template does with its machines. Of another bootstrap it is not known: most
 * providers give the new data to new machines only.
 *
 * @param inPlaceFields paths in the specification whose change replaces no machine, which the user has named
 */
export function templateChange(
  before: PoolTemplate,
  after: PoolTemplate,
  inPlaceFields: readonly string[] = [],
): TemplateChange {
  const fields = digests(specificationOf(before));
  const change = specificationChange({ ...before, fields }, after, inPlaceFields);
  const isSameBootstrap = isDeepStrictEqual(
    fieldAt(before.rest, "bootstrap"),
    fieldAt(after.rest, "bootstrap"),
  );
  return isSameBootstrap || change === "replace" || change === "roll" ? change : "open";
}

/** Whether a machine that was made from the earlier template must go. */
const mustGo = (change: TemplateChange): boolean => change === "replace" || change === "roll";

/**
 * Returns the machines that a change of the template must replace and that still exist: those of this change, and those
 * that an earlier one has left. Machines of the desired template stay, also when a change is taken back.
 *
 * @param known what was outdated at the last run
 * @param before the template at the last run; undefined without one
 * @param machines provider ids of the machines that exist, and whether each existed before the change
 */
export function outdatedMachines(
  known: readonly OutdatedMachines[],
  before: PoolTemplate | undefined,
  after: PoolTemplate,
  { machines, isOlder, inPlaceFields = [] }: PoolMachines,
): OutdatedMachines[] {
  const recorded = new Set(known.flatMap((group) => group.machines));
  const others = machines.filter((id) => !recorded.has(id) && isOlder(id));
  const last =
    before === undefined || !mustGo(templateChange(before, after, inPlaceFields))
      ? []
      : [
          {
            infrastructure: before.infrastructure,
            fields: digests(specificationOf(before)),
            machines: others,
          },
        ];
  return [...known, ...last]
    .filter((group) => mustGo(specificationChange(group, after, inPlaceFields)))
    .map((group) => ({ ...group, machines: group.machines.filter((id) => machines.includes(id)) }))
    .filter((group) => group.machines.length > 0);
}

interface PoolMachines {
  machines: readonly string[];
  isOlder: (providerID: string) => boolean;
  inPlaceFields?: readonly string[] | undefined;
}
