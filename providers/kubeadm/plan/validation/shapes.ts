import { isObject } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { certificateNameIssue } from "../../../../lib/validation/addresses";
import { nearest } from "../../../../lib/validation/spelling";
import {
  below,
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
} from "../../../../lib/validation/validation-issue";
import { fieldsOf, isList, type Shape } from "./known-fields";

/** Shapes that one test decides, and what to write instead of another one. */
const SIMPLE = {
  text: [(value: unknown) => typeof value === "string", "a text, in quotes"],
  boolean: [(value: unknown) => typeof value === "boolean", "true or false, without quotes"],
  integer: [Number.isInteger, "a whole number, without quotes"],
  number: [Number.isFinite, "a number, without quotes"],
} as const;

interface ShapeOptions {
  /** Version of Kubernetes whose arguments are known. @default all supported ones */
  readonly version: string | undefined;
  /** Returns the message for a field that its object does not have. */
  readonly unknownField: (path: ConfigurationPath, known: readonly string[]) => string;
}

const kindOf = (value: unknown) =>
  Array.isArray(value) ? "a list" : isObject(value) ? "a map" : `a ${typeof value}`;

/** Returns an issue for each null in a value. */
export function nullIssues(value: unknown, path: ConfigurationPath): ValidationIssue[] {
  if (value === null)
    return issueAt(path, "is empty, which would remove what is set there; write a value, or remove the line");
  if (Array.isArray(value)) return value.flatMap((one, index) => nullIssues(one, [...path, index]));
  return isObject(value)
    ? Object.entries(value).flatMap(([key, one]) => nullIssues(one, [...path, key]))
    : [];
}

/** Returns the issues of a value that Kubernetes decodes strictly into a shape: unknown fields and wrong types. */
export function shapeIssues(
  value: unknown,
  shape: Shape,
  options: ShapeOptions,
  path: ConfigurationPath = [],
): ValidationIssue[] {
  // null has its own issue
  if (value === null || value === undefined || shape === "any" || shape === "argument") return [];
  const wrong = (wanted: string) => [{ path, message: `is ${kindOf(value)}; write ${wanted}` }];
  if (typeof shape === "string") return SIMPLE[shape][0](value) ? [] : wrong(SIMPLE[shape][1]);
  if (isList(shape)) return listIssues(value, shape[0], options, path);
  const all = shape["*"];
  if (!isObject(value))
    return wrong(all === undefined ? `a map with the fields ${Object.keys(shape).join(", ")}` : "a map");
  return Object.entries(value).flatMap(([key, one]) => {
    const known = Object.hasOwn(shape, key) ? shape[key] : all;
    const at = [...path, key];
    if (known === undefined) return issueAt(at, options.unknownField(at, Object.keys(shape)));
    return shapeIssues(one, known, options, at);
  });
}

function listIssues(
  value: unknown,
  item: Shape,
  options: ShapeOptions,
  path: ConfigurationPath,
): ValidationIssue[] {
  const field = path.at(-1);
  if (item === "argument") return argumentIssues(value, path, options.version);
  const isNamed = typeof item === "object" && !isList(item) && Object.hasOwn(item, "name");
  const named = isNamed
    ? namedIssues(value, path, 'a list of {name: …} entries, e.g. [{name: "audit", …}]')
    : [];
  if (!Array.isArray(value)) {
    if (isNamed) return named;
    const wanted = field === "taints" ? TAINTS : `a list${item === "text" ? " of texts" : ""}`;
    return [{ path, message: `is ${kindOf(value)}; write ${wanted}` }];
  }
  const items = value.flatMap((one: unknown, index): ValidationIssue[] => {
    const at = [...path, index];
    // entries that are not maps, and their names, are said
    if (isNamed) return isObject(one) ? shapeIssues({ ...one, name: undefined }, item, options, at) : [];
    // the rules for taints say more
    if (field === "taints") return [];
    const issues = shapeIssues(one, item, options, at);
    const isName = /(^c|^serverC|^peerC)ertSANs$/.test(String(field)) && typeof one === "string";
    return isName ? issueAt(at, certificateNameIssue(one)) : issues;
  });
  return [...named, ...items];
}

const TAINTS = "a list of {key, value, effect}; or use the taints of the machine";

/** Checks that each entry has a name: entries are merged by name, so that a repeated one would replace the first. */
function namedIssues(
  value: unknown,
  path: ConfigurationPath,
  wanted: string,
  mayRepeat = false,
): ValidationIssue[] {
  if (!Array.isArray(value)) {
    const since = isObject(value) ? ", as kubeadm's older v1beta3 had it" : "";
    return [{ path, message: `is ${kindOf(value)}${since}; write ${wanted}` }];
  }
  const names = new Set<string>();
  return value.flatMap((one: unknown, index): ValidationIssue[] => {
    if (one === null) return [];
    if (!isObject(one)) return [{ path: [...path, index], message: `is ${kindOf(one)}; write {name: …}` }];
    const { name } = one;
    const at = [...path, index, "name"];
    if (typeof name !== "string" || name === "") return [{ path: at, message: "is missing; write a text" }];
    if (names.has(name) && !mayRepeat)
      return [{ path: at, message: `${quoted(name)} is listed twice; remove one` }];
    names.add(name);
    return [];
  });
}

/** Programs by the field that their arguments are below. */
const PROGRAMS: Readonly<Record<string, string>> = {
  apiServer: "kube-apiserver",
  controllerManager: "kube-controller-manager",
  scheduler: "kube-scheduler",
  nodeRegistration: "kubelet",
  local: "etcd",
};

/** Checks a list of arguments. One may be repeated: a program gets each of them, in this order. */
function argumentIssues(
  value: unknown,
  path: ConfigurationPath,
  version: string | undefined,
): ValidationIssue[] {
  const found = namedIssues(value, path, 'a list of {name, value}, e.g. [{name: "v", value: "4"}]', true);
  if (!Array.isArray(value)) return found;
  const program = PROGRAMS[String(path.at(-2))];
  const fields = value.flatMap((one: unknown, index): ValidationIssue[] => {
    if (!isObject(one)) return [];
    const { name, value: text, ...others } = one;
    const isText = text === null || typeof text === "string";
    const wrong = text === undefined ? "is missing; write a text" : `is ${kindOf(text)}; put it in quotes`;
    return below(
      [...path, index],
      [
        ...issueAt(["name"], typeof name === "string" ? nameIssue(name, program, version) : undefined),
        ...Object.keys(others).flatMap((field) =>
          issueAt([field], "is not known; an argument has name and value"),
        ),
        ...issueAt(["value"], isText ? undefined : wrong),
      ],
    );
  });
  return [...found, ...fields];
}

function nameIssue(
  name: string,
  program: string | undefined,
  version: string | undefined,
): string | undefined {
  if (name.startsWith("-")) return `${quoted(name)} begins with a dash; write the name without it`;
  const known = program === undefined ? undefined : fieldsOf(version).flags[program];
  // empty names are said
  if (program === undefined || known === undefined || name === "" || known.includes(name)) return undefined;
  const others = fieldsOf().flags[program] ?? [];
  if (others.includes(name))
    return `${quoted(name)} is not an argument of ${program === "etcd" ? "the etcd of Kubernetes" : program} ${version}, only of other versions; remove it`;
  const meant = nearest(name, known);
  const fix = meant === undefined ? "remove it" : `did you mean ${quoted(meant)}?`;
  return `${quoted(name)} is not an argument of ${program}; ${fix}`;
}
