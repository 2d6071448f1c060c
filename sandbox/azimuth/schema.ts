/** Helpers for defining custom resources concisely. */
import type { NewObject } from "../../lib/kubernetes";

export type Schema = Record<string, unknown>;

export const text: Schema = { type: "string" };
/** A string that is not empty. */
export const filled: Schema = { type: "string", minLength: 1 };
export const flag: Schema = { type: "boolean" };
export const uri: Schema = { ...filled, format: "uri" };
export const time: Schema = { ...text, format: "date-time" };
export const open: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

export const optional = (schema: Schema): Schema => ({ ...schema, nullable: true });
export const matching = (pattern: string): Schema => ({ ...text, pattern });
export const oneOf = (...values: string[]): Schema => ({ ...text, enum: values });
export const whole = (minimum?: number): Schema => ({
  type: "integer",
  ...(minimum === undefined ? {} : { minimum }),
});
/** An integer above zero, with an exclusive minimum. */
export const positive: Schema = { ...whole(0), exclusiveMinimum: true };
export const list = (items: Schema): Schema => ({ type: "array", items });
export const object = (properties: Record<string, Schema>, ...required: string[]): Schema => ({
  type: "object",
  properties,
  ...(required.length > 0 ? { required } : {}),
});
/** An object that preserves unknown fields. */
export const openObject = (properties: Record<string, Schema>, ...required: string[]): Schema => ({
  ...object(properties, ...required),
  "x-kubernetes-preserve-unknown-fields": true,
});
/** Names → values. */
export const map = (values: Schema): Schema => ({ ...open, additionalProperties: values });
export const anything: Schema = { "x-kubernetes-preserve-unknown-fields": true };

/** A phase; each of Azimuth's kinds starts as "Unknown". */
export const phase = (...phases: string[]): Schema => oneOf(...phases, "Unknown");

/** A column that `kubectl get` prints; `priority: 1` shows it with `-o wide` alone. */
interface Column {
  name: string;
  type: string;
  jsonPath: string;
  format?: string;
  priority?: number;
}

export interface Kind {
  group: string;
  version: string;
  kind: string;
  plural: string;
  spec: Schema;
  /** Schema of the status; null for a kind without one; when absent, any status. */
  status?: Schema | null;
  /** Whether an object may have no spec. */
  isSpecOptional?: boolean;
  clusterScoped?: boolean;
  categories?: string[];
  columns?: Column[];
}

/** The CustomResourceDefinition of a kind with one version. */
export function definition(kind: Kind): NewObject {
  const { group, version, plural, spec, status = open, columns, categories } = kind;
  const schema = object(
    { spec, ...(status ? { status } : {}) },
    ...(kind.isSpecOptional === true ? [] : ["spec"]),
  );
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind: kind.kind,
        plural,
        singular: kind.kind.toLowerCase(),
        listKind: `${kind.kind}List`,
        ...(categories ? { categories } : {}),
      },
      scope: kind.clusterScoped ? "Cluster" : "Namespaced",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(status ? { subresources: { status: {} } } : {}),
          ...(columns ? { additionalPrinterColumns: columns } : {}),
        },
      ],
    },
  };
}

/** Shows a column with `kubectl get -o wide` alone. */
export const wide = { priority: 1 };

/** A column of text, unless `over` names another type. */
export function column(name: string, jsonPath: string, over: Partial<Column> = {}): Column {
  return { name, type: "string", jsonPath, ...over };
}

export type KindInGroup = Omit<Kind, "group" | "version">;

/** Defines kinds of one of Azimuth's groups, with the category and the column that all of them have. */
export function kindsOf(group: string): (kind: KindInGroup) => NewObject {
  const age = column("Age", ".metadata.creationTimestamp", { type: "date" });
  return (kind) =>
    definition({
      group,
      version: "v1alpha1",
      categories: ["azimuth"],
      ...kind,
      columns: [...(kind.columns ?? []), age],
    });
}
