import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";

/** Settings of which adoption decides what they may be; absent ones are not readable or not set. */
interface AdoptionSettings {
  adopt?: boolean;
  resetOnDestroy?: boolean;
  encryptSecretsAtRest?: boolean;
  network?: { plugin?: object };
}

/** Returns the issues of settings that only an adopted cluster has, and of those that it can't have. */
export function adoptionIssues({ adopt, resetOnDestroy, encryptSecretsAtRest, network }: AdoptionSettings) {
  const hasNone =
    network?.plugin !== undefined && "none" in network.plugin && network.plugin.none !== undefined;
  const when = (condition: boolean, path: string[], message: string): ValidationIssue[] =>
    condition ? issueAt(path, message) : [];
  if (!adopt)
    return [
      ...when(
        resetOnDestroy ?? false,
        ["resetOnDestroy"],
        "is for an adopted cluster; destroy always resets the machines of a cluster that foresail made; remove it",
      ),
      ...when(
        hasNone,
        ["network", "plugin", "none"],
        "is for an adopted cluster, which has a network plugin; choose another one: without any, no Node becomes Ready",
      ),
    ];
  return [
    ...when(
      !hasNone,
      ["network", "plugin"],
      "an adopted cluster keeps its own network plugin; write `plugin: { none: {} }`",
    ),
    ...when(
      encryptSecretsAtRest ?? true,
      ["encryptSecretsAtRest"],
      "foresail does not set up encryption on an adopted cluster; write false, and keep what its API servers have",
    ),
  ];
}
