/** The inputs of each resource of pulumi-resource-command 1.2.1 that the replacement serves: names, types, defaults. */
import type { Value } from "./wire.js";

export type InputType =
  | { readonly kind: "string"; readonly oneOf?: readonly string[] }
  | { readonly kind: "number" | "integer" | "boolean" | "any list" | "string list" | "string map" | "source" }
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, InputField>> };

export interface InputField {
  readonly type: InputType;
  readonly required?: boolean;
  /** Marked as secret in check, whether or not the program did. */
  readonly secret?: boolean;
  /** Filled in by check if the program gave nothing. */
  readonly default?: Value;
  /** Why the replacement cannot serve an input that 1.2.1 has. */
  readonly unsupported?: string;
}

export const REMOTE_COMMAND = "command:remote:Command";
export const COPY_TO_REMOTE = "command:remote:CopyToRemote";
const LOCAL_COMMAND = "command:local:Command";

const text: InputField = { type: { kind: "string" } };
const secretText: InputField = { type: { kind: "string" }, secret: true };
const integer = (value: number): InputField => ({ type: { kind: "integer" }, default: value });

const endpoint: Readonly<Record<string, InputField>> = {
  host: { ...text, required: true },
  port: { type: { kind: "number" }, default: 22 },
  user: { ...text, default: "root" },
  password: secretText,
  privateKey: secretText,
  privateKeyPassword: secretText,
  agentSocketPath: text,
  hostKey: text,
  dialErrorLimit: integer(10),
  perDialTimeout: integer(15),
};
const connection: InputField = {
  type: { kind: "object", fields: { ...endpoint, proxy: { type: { kind: "object", fields: endpoint } } } },
  required: true,
  secret: true,
};
const triggers: InputField = { type: { kind: "any list" } };
const commandInputs: Readonly<Record<string, InputField>> = {
  create: text,
  update: text,
  delete: text,
  triggers,
  stdin: text,
  environment: { type: { kind: "string map" } },
  logging: { type: { kind: "string", oneOf: ["none", "stdout", "stderr", "stdoutAndStderr"] } },
  addPreviousOutputInEnv: { type: { kind: "boolean" } },
};
const collected: InputField = {
  type: { kind: "string list" },
  unsupported: "the replacement for command 1.2.1 does not collect files; install the official plugin for it",
};

const INPUTS: Readonly<Record<string, Readonly<Record<string, InputField>>>> = {
  [REMOTE_COMMAND]: { ...commandInputs, connection },
  [COPY_TO_REMOTE]: {
    connection,
    triggers,
    remotePath: { ...text, required: true },
    source: { type: { kind: "source" }, required: true },
  },
  [LOCAL_COMMAND]: {
    ...commandInputs,
    interpreter: { type: { kind: "string list" } },
    dir: text,
    assetPaths: collected,
    archivePaths: collected,
  },
};

/**
 * The inputs of a resource type.
 * @throws Error for a type that the replacement does not serve
 */
export function inputsOf(type: string): Readonly<Record<string, InputField>> {
  const inputs = INPUTS[type];
  if (inputs !== undefined) return inputs;
  const served = Object.keys(INPUTS).join(", ");
  throw new Error(
    `${type} is not served by the replacement for command 1.2.1 (it serves ${served}): install the official plugin`,
  );
}
