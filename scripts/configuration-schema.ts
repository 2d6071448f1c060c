import { z } from "zod";
import { FleetFile } from "../cli/fleet/plan/fleet";
import { StackLabels } from "../lib/layers/stack-labels";
import { SHARED_KEY } from "../lib/layers/shared-values";
import type { Renames } from "../lib/validation/renames";
import {
  AzimuthSection,
  ClusterInput,
  CollectorSection,
  CONFIGURATION_KEYS,
  type ConfigurationKey,
  EXISTING_MACHINE_FIELDS,
  MachinePoolSection,
  OpenstackSection,
  SharedSources,
  type System,
  SYSTEMS,
  TumblebugSection,
} from "../stacks/schema";

/** The part of JSON schema that zod generates and the pages read. */
export interface JsonSchema {
  /** several for a union */
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  allOf?: JsonSchema[];
  /** whether it is an old name of another field */
  deprecated?: boolean;
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  minimum?: number;
  maximum?: number;
  [keyword: string]: unknown;
}

/** Returns the JSON schema of the value of `foresail:cluster`, as users write it. */
export function clusterJsonSchema(): JsonSchema {
  return jsonSchema(ClusterInput, CONFIGURATION_KEYS.cluster.renames);
}

/** A key of one system alone, with all its fields. */
export interface SystemSection {
  key: string;
  system: System;
  schema: JsonSchema;
}

/** The sections of the systems, in the order in which the documentation has them. */
export function systemSections(): SystemSection[] {
  return [
    section("openstack", "openstack", OpenstackSection),
    section("tumblebug", "tumblebug", TumblebugSection),
    section("azimuth", "azimuth", AzimuthSection),
    section("machinePool", "machine-pool", MachinePoolSection),
    section("collector", "collector", CollectorSection),
  ];
}

function section(key: keyof typeof CONFIGURATION_KEYS, system: System, of: z.ZodType): SystemSection {
  const { renames }: ConfigurationKey = CONFIGURATION_KEYS[key];
  return { key, system, schema: jsonSchema(of, renames) };
}

function jsonSchema(of: z.ZodType, renames: Renames = {}): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(of, {
    io: "input",
    target: "draft-7",
  }) as JsonSchema;
  // Later renames see the names from earlier ones, so the old names are added in reverse order.
  for (const [from, to] of Object.entries(renames).reverse()) addOldName(schema, from, to);
  return schema;
}

/** Adds a field's deprecated old name; an object has only one of both names. */
function addOldName(schema: JsonSchema, from: string, to: string): void {
  const [parent, old] = parentOf(schema, from);
  const [holder, name] = parentOf(schema, to);
  const { default: _, ...field } = structuredClone(holder.properties?.[name] ?? {});
  const description = `Deprecated; write \`${to}\`.`;
  parent.properties = { ...parent.properties, [old]: { ...field, deprecated: true, description } };
  if (parent !== holder) return;
  const isRequired = parent.required?.includes(name) ?? false;
  if (isRequired) parent.required = parent.required?.filter((one) => one !== name);
  const either = { oneOf: [{ required: [name] }, { required: [old] }] };
  parent.allOf = [...(parent.allOf ?? []), isRequired ? either : { not: { required: [name, old] } }];
}

/** Returns the schema of the object with a field, and the field's name. @param path such as "pools[].size" */
function parentOf(schema: JsonSchema, path: string): [JsonSchema, string] {
  const [first = "", ...rest] = path.split(".");
  if (rest.length === 0) return [schema, first];
  const field = schema.properties?.[first.replace("[]", "")] ?? {};
  return parentOf(first.endsWith("[]") ? (field.items ?? {}) : field, rest.join("."));
}

/** Returns the JSON schemas of the keys of a stack file. */
function keySchemas(sections: readonly SystemSection[]): [string, JsonSchema][] {
  return Object.entries<ConfigurationKey>(CONFIGURATION_KEYS).map(([name, key]): [string, JsonSchema] => {
    const section = sections.find((one) => one.key === name);
    return [
      `foresail:${name}`,
      orReference(section ? { ...section.schema, description: key.description } : ofKey(name, key)),
    ];
  });
}

/** A text that stands for an output of another stack. */
const REFERENCE = { type: "string", pattern: "^\\$\\{shared\\.[^${}]+\\}$" } as const;

/** Returns a schema whose fields take a reference to an output of another stack instead of a value that is not a text. */
function orReference(schema: JsonSchema): JsonSchema {
  const { type, items, properties, additionalProperties: others } = schema;
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, orReference(field)] as const);
  const takesText = type === undefined || [type].flat().includes("string");
  return {
    ...schema,
    ...(!takesText && { type: [type, "string"].flat(), pattern: REFERENCE.pattern }),
    ...(items && { items: orReference(items) }),
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(typeof others === "object" && { additionalProperties: orReference(others) }),
  };
}

/** Returns the JSON schema of fleet.yaml, for editors. */
export function fleetJsonSchema(): JsonSchema {
  const $schema = "http://json-schema.org/draft-07/schema#";
  return { $schema, title: "Fleet of foresail: stacks in waves", ...jsonSchema(FleetFile) };
}

/** Returns the JSON schema of a layer, for editors: what stacks share, without secrets, complete or not. */
export function layerJsonSchema(): JsonSchema {
  const known: Readonly<Record<string, ConfigurationKey>> = CONFIGURATION_KEYS;
  const shared = keySchemas(systemSections()).flatMap(([name, schema]): [string, JsonSchema][] => {
    const key = name.slice("foresail:".length);
    if (key === "layer") return [];
    // the secret itself is in another stack
    return [[name, known[key]?.secret ? { ...REFERENCE, description: known[key].description } : schema]];
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Layer of foresail: what stacks share",
    type: "object",
    additionalProperties: false,
    properties: {
      config: {
        type: "object",
        additionalProperties: false,
        properties: Object.fromEntries(shared.map(([name, schema]) => [name, partial(schema)])),
      },
    },
  };
}

/**
 * Returns a schema in which nothing is required, since the stack file, or its layer, has the rest; null removes a
 * field. Lists replace each other, so their items are complete.
 */
function partial(schema: JsonSchema): JsonSchema {
  const { required: _, allOf: _rules, properties, ...rest } = schema;
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, nullable(partial(field))]);
  return { ...rest, ...(properties && { properties: Object.fromEntries(fields) as typeof properties }) };
}

function nullable(schema: JsonSchema): JsonSchema {
  const { type, enum: choices } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [type, "null"].flat() }),
    ...(choices && { enum: [...choices, null] }),
  };
}

/** Keys of a stack file besides `config:`, which the engine writes, or an environment of Pulumi ESC. */
const ENGINE_KEYS = ["secretsprovider", "encryptedkey", "encryptionsalt", "environment"];

/** Returns the pattern of keys of the project that foresail does not read; keys of providers may be there, too. */
const unknownKeys = (keys: readonly string[]) =>
  `^foresail:(?!(${keys.map((key) => key.slice("foresail:".length)).join("|")})$)`;

/** Returns the JSON schema of a whole stack file, for editors. */
export function stackFileJsonSchema(): JsonSchema {
  const sections = systemSections();
  const keys = keySchemas(sections);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Stack file of foresail",
    type: "object",
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(ENGINE_KEYS.map((key) => [key, {}])),
      config: {
        type: "object",
        patternProperties: { [unknownKeys(keys.map(([name]) => name))]: false },
        properties: Object.fromEntries(keys.map(([name, schema]) => [name, partial(schema)])),
        // what is missing here, the layer may have
        if: { not: { required: ["foresail:layer"] } },
        then: {
          properties: Object.fromEntries(keys),
          allOf: [...sections.map(onlyWithItsSystem), clusterBySystem(sections)],
        },
      },
    },
  };
}

function ofKey(name: string, { description, secret }: ConfigurationKey): JsonSchema {
  if (secret) return { type: "object", description: `${description} Encrypted.` };
  if (name === "layer") return { type: "string", description };
  if (name === SHARED_KEY) return { ...jsonSchema(SharedSources), description };
  if (name === "labels") return { ...jsonSchema(StackLabels), description };
  if (name === "system") return { type: "string", enum: [...SYSTEMS], default: "ssh", description };
  const { required, ...schema } = clusterJsonSchema();
  const always = required?.filter((field) => !(EXISTING_MACHINE_FIELDS as readonly string[]).includes(field));
  return { ...schema, required: always, description };
}

const isSystem = (...systems: string[]): JsonSchema => ({
  required: ["foresail:system"],
  properties: { "foresail:system": { enum: systems } },
});

function onlyWithItsSystem({ key, system }: SystemSection): JsonSchema {
  const section = { required: [`foresail:${key}`] };
  return { if: isSystem(system), then: section, else: { not: section } };
}

/**
 * Returns the schema of the cluster: with its machines, without them if a section of the system has them, or none at
 * all.
 */
function clusterBySystem(sections: readonly SystemSection[]): JsonSchema {
  const withCluster: readonly string[] = CONFIGURATION_KEYS.cluster.systems;
  const systems = sections.map(({ system }) => system);
  const required = ["foresail:cluster"];
  const cluster = (rule: JsonSchema): JsonSchema => ({ required, properties: { "foresail:cluster": rule } });
  return {
    if: isSystem(...systems.filter((system) => !withCluster.includes(system))),
    then: { not: { required } },
    else: {
      if: isSystem(...systems.filter((system) => withCluster.includes(system))),
      then: cluster({
        not: { anyOf: EXISTING_MACHINE_FIELDS.map((field) => ({ type: "object", required: [field] })) },
      }),
      else: cluster({ type: "object", required: ["machines"] }),
    },
  };
}
