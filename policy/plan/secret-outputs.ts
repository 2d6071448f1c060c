import { parseJson } from "../../lib/json";
import { hasPrivateKey } from "../../lib/text/quote";
import { type PolicyResource, type StackFinding, type StackRule } from "./rule";

/** Values of resources that are always secret. */
const SECRET_VALUES = [
  ...["credentials", "registryCredentials", "privateKey", "privateKeys", "adminPass", "password"],
  ...["foresail:sshPrivateKey", "foresail:tumblebugCredentials", "foresail:cloudApplicationCredential"],
];
/** Parts of them that name an account. */
const PUBLIC = /\.(?:user|username|id)$/;
/** Shorter texts are found everywhere. */
const SHORTEST_SECRET = 12;
/** Credentials in a kubeconfig, and tokens of service accounts. */
const CREDENTIALS = /client-key-data["']?\s*:|\btoken["']?\s*:\s*\S|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\./;

/** Returns all texts in a value, with their paths. */
function textsIn(value: unknown, path: string): { path: string; text: string }[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, path === "" ? key : `${path}.${key}`));
}

function secretsOf(resources: readonly PolicyResource[]): string[] {
  const texts = resources.flatMap(({ values }) =>
    SECRET_VALUES.flatMap((name) => {
      const value = values[name];
      // an object in the configuration is JSON
      return textsIn((typeof value === "string" ? parseJson(value) : undefined) ?? value, name);
    }),
  );
  const secrets = texts.filter(({ path, text }) => !PUBLIC.test(path) && text.length >= SHORTEST_SECRET);
  return [...new Set(secrets.map(({ text }) => text))];
}

/** Outputs of a stack show no secret. A pack can't see which values are marked as secret, so it knows their names. */
export const secretOutputs: StackRule<{ secretOutputs: string[] }> = {
  name: "no-secrets-in-outputs",
  description: "No output of the stack contains a secret in plain text.",
  parameters: {
    secretOutputs: {
      type: "array",
      items: { type: "string" },
      description: "Outputs that are marked as secret, and may contain secrets.",
      default: ["kubeconfig", "managementKubeconfig"],
    },
  },
  checkStack(resources, { secretOutputs: marked }) {
    const stack = resources.find(({ type }) => type === "pulumi:pulumi:Stack");
    if (stack === undefined) return [];
    const secrets = secretsOf(resources);
    const shown = Object.entries(stack.values).filter(([name]) => !marked.includes(name));
    return shown
      .flatMap(([name, value]) => textsIn(value, name))
      .filter(
        ({ text }) =>
          hasPrivateKey(text) || CREDENTIALS.test(text) || secrets.some((secret) => text.includes(secret)),
      )
      .map(({ path }): StackFinding => ({
        urn: stack.urn,
        problem: `the output ${path} contains a secret`,
        fix: "remove the output, or mark it with pulumi.secret and name it in the parameter secretOutputs",
      }));
  },
};
