import { z } from "zod";
import {
  ClusterInput,
  CONFIGURATION_KEYS,
  MACHINE_FIELDS,
  MachinePoolSection,
  OpenstackSection,
  SYSTEMS,
} from "../stacks/schema";

/** The part of JSON schema that zod writes and the pages read. */
export interface JsonSchema {
  /** several for a value that may be the one or the other */
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  minimum?: number;
  maximum?: number;
  [keyword: string]: unknown;
}

/** JSON schema of the value of `foresail:cluster`, as a person writes it. */
export function clusterJsonSchema(): JsonSchema {
  return jsonSchema(ClusterInput);
}

/** JSON schema of the value of `foresail:openstack`. */
export function openstackJsonSchema(): JsonSchema {
  return jsonSchema(OpenstackSection);
}

/** JSON schema of the value of `foresail:machinePool`. */
export function machinePoolJsonSchema(): JsonSchema {
  return jsonSchema(MachinePoolSection);
}

function jsonSchema(of: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(of, {
    io: "input",
    target: "draft-7",
  }) as JsonSchema;
  return schema;
}

/** JSON schema of a whole stack file, for editors. */
export function stackFileJsonSchema(): JsonSchema {
  const properties = Object.entries(CONFIGURATION_KEYS).map(([name, key]): [string, JsonSchema] => {
    if (name === "cluster") {
      const { required, ...schema } = clusterJsonSchema();
      const always = required?.filter((field) => !(MACHINE_FIELDS as readonly string[]).includes(field));
      return [`foresail:${name}`, { ...schema, required: always, description: key.description }];
    }
    if (name === "openstack")
      return [`foresail:${name}`, { ...openstackJsonSchema(), description: key.description }];
    if (name === "machinePool")
      return [`foresail:${name}`, { ...machinePoolJsonSchema(), description: key.description }];
    if (name === "system") {
      return [
        `foresail:${name}`,
        { type: "string", enum: [...SYSTEMS], default: "ssh", description: key.description },
      ];
    }
    return [`foresail:${name}`, { type: "object", description: `${key.description} Encrypted.` }];
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Stack file of foresail",
    type: "object",
    properties: {
      config: {
        type: "object",
        properties: Object.fromEntries(properties),
        ...bySystem(),
      },
    },
  };
}

/** What a stack file has to have, and may not have, by its system. */
function bySystem(): JsonSchema {
  const isSystem = (system: string) => ({
    required: ["foresail:system"],
    properties: { "foresail:system": { const: system } },
  });
  const any = (...keys: string[]) => ({
    anyOf: keys.map((key) => ({ type: "object", required: [`foresail:${key}`] })),
  });
  return {
    if: isSystem("openstack"),
    then: {
      required: ["foresail:cluster", "foresail:openstack"],
      not: any("machinePool"),
      properties: {
        "foresail:cluster": {
          not: { anyOf: MACHINE_FIELDS.map((field) => ({ type: "object", required: [field] })) },
        },
      },
    },
    else: {
      if: isSystem("machine-pool"),
      then: { required: ["foresail:machinePool"], not: any("cluster", "openstack") },
      else: {
        required: ["foresail:cluster"],
        properties: { "foresail:cluster": { type: "object", required: ["machines"] } },
        not: any("openstack", "machinePool"),
      },
    },
  };
}
