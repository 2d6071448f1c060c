import { CONFIGURATION_KEYS, type ConfigurationKey } from "../stacks/schema";
import type { JsonSchema, SystemSection } from "./configuration-schema";

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const code = (text: string) => `\`${text}\``;

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => code(JSON.stringify(value))).join(" or ");
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === "array")
    return `list of ${schema.items?.properties ? "objects" : typeOf(schema.items ?? {})}`;
  const values = schema.additionalProperties;
  if (schema.type === "object" && !schema.properties && typeof values === "object") {
    return `map to ${typeOf(values)}`;
  }
  if (schema.type === "integer" && schema.minimum !== undefined) {
    return `integer, ${schema.minimum} to ${schema.maximum ?? "any"}`;
  }
  return schema.type ?? "any value";
}

function defaultOf(schema: JsonSchema, required: boolean): string {
  if (required) return "required";
  return schema.default === undefined ? "" : code(JSON.stringify(schema.default));
}

/** Returns whether a field is required unless its old name is set. */
const isOneOfTwo = ({ allOf = [] }: JsonSchema, name: string) =>
  allOf.some(({ oneOf }) =>
    (oneOf as JsonSchema[] | undefined)?.some(({ required }) => required?.includes(name)),
  );

/** Returns one row per field, those of nested objects after their parent. */
function rows(schema: JsonSchema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    const required = (schema.required?.includes(name) ?? false) || isOneOfTwo(schema, name);
    const row = [code(key), typeOf(field), defaultOf(field, required), field.description ?? ""];
    if (field.deprecated)
      return [`| ${[code(key), "", "", field.description ?? ""].map(cell).join(" | ")} |`];
    const nested = field.items?.properties ? rows(field.items, `${key}[]`) : rows(field, key);
    const values = field.additionalProperties;
    if (typeof values === "object") nested.push(...rows(values, `${key}.<name>`));
    return [`| ${row.map(cell).join(" | ")} |`, ...nested];
  });
}

function keyRow([name, key]: [string, ConfigurationKey]): string {
  const type = key.secret ? `${key.type}, secret` : key.type;
  const value = key.default === undefined ? "" : code(JSON.stringify(key.default));
  return `| ${[code(`foresail:${name}`), type, value, key.description].map(cell).join(" | ")} |`;
}

/** The guide to a section, as readers call it. */
const GUIDES: Record<string, string> = {
  openstack: "[OpenStack](openstack.md)",
  tumblebug: "[CB-Tumblebug](tumblebug.md)",
  azimuth: "[Azimuth](azimuth.md)",
  machinePool: "[machine pools](machine-pool.md)",
  collector: "[regions](regions.md#one-kubeconfig)",
};

function sectionText({ key, system, schema }: SystemSection): string {
  return `## Fields of foresail:${key}

Only with \`foresail:system: ${system}\`; ${GUIDES[key] ?? ""} leads through them.

${table(schema)}`;
}

function table(schema: JsonSchema): string {
  return ["| field | type | default | |", "| --- | --- | --- | --- |", ...rows(schema, "")].join("\n");
}

/**
 * Returns the page docs/configuration.md.
 * @param cluster JSON schema of the value of `foresail:cluster`
 * @param sections the systems' own sections
 * @param example text of the example stack file
 */
export function configurationPage(
  cluster: JsonSchema,
  sections: readonly SystemSection[],
  example: string,
): string {
  return `<!-- Written by \`npm run docs\` from stacks/schema/; do not edit. -->

# Configuration

One stack is one cluster. Its file is \`stacks/config/Pulumi.<stack>.yaml\`; what several stacks share can be in a
[layer](regions.md#environment-layers) below it. All validation issues in it are reported
before anything is changed, twenty at a time. A key that is not listed here is a validation issue, too. Put versions, modes and dates in quotes: YAML reads
\`1.30\` as 1.3, \`0600\` as 384 and \`2026-11-22\` as a timestamp,
which is accepted as \`bootstrapRevision\`, as \`osPackages\` and as the value of a label.

Deprecated fields are old names. They have the effect of the current ones, and each run warns of them.

## Keys

| key | type | default | |
| --- | --- | --- | --- |
${Object.entries<ConfigurationKey>(CONFIGURATION_KEYS).map(keyRow).join("\n")}

Secret keys are set with \`pulumi config set --secret\`, and never written in plain text:

\`\`\`sh
pulumi config set --secret foresail:sshPrivateKey < ~/.ssh/id_ed25519
pulumi config set --secret --path 'foresail:sshPrivateKeys.cp-1' < ~/.ssh/cp-1
pulumi config set --secret --path 'foresail:registryCredentials["registry.example.com"].username' reader
pulumi config set --secret --path 'foresail:registryCredentials["registry.example.com"].password'
pulumi config set --secret --path foresail:proxyCredentials.username node
pulumi config set --secret --path foresail:proxyCredentials.password
pulumi config set --secret --path foresail:cloudApplicationCredential.secret
pulumi config set --secret --path foresail:tumblebugCredentials.password
pulumi config set --secret foresail:managementKubeconfig < management.kubeconfig
\`\`\`

## Fields of foresail:cluster

\`[]\` stands for each item of a list, \`<name>\` for each name in a map. With \`foresail:system: openstack\` or
\`tumblebug\` the machines come from pools or groups: \`machines\`, \`lost\`, \`allowEvenControlPlanes\` and
\`endpoint\` are not written there.

${table(cluster)}

${sections.map(sectionText).join("\n\n")}

## Example

\`stacks/config/Pulumi.example-onprem.yaml\`:

\`\`\`yaml
${example.trimEnd()}
\`\`\`

## Help in the editor

\`docs/configuration.schema.json\` is a JSON schema of the stack file. Editors with the YAML language server take it from
the first line of the example; others are told to use it for \`stacks/config/Pulumi.*.yaml\`. \`docs/layer.schema.json\` is that of a layer,
\`stacks/config/layers/*.yaml\`.
`;
}
