import type { Context } from "./kubeconfig-contexts";

/**
 * Variables that a login program does not get: the stack's passphrase and configuration, the token of its backend, and
 * what concerns foresail alone. Credentials of clouds stay, since such programs use them.
 */
const WITHHELD = /^(?:PULUMI|FORESAIL|TEMPORAL)_/i;

/** Returns the `exec` of a user, changed so that its program runs without the secrets of a run. */
export function withoutSecrets<Exec extends { command?: unknown; args?: unknown }>(
  exec: Exec,
  environment = process.env,
): Exec {
  const names = Object.keys(environment).filter((name) => WITHHELD.test(name));
  const given = Array.isArray(exec.args) ? exec.args.map(String) : [];
  const unset = names.flatMap((name) => ["-u", name]);
  return { ...exec, command: "env", args: [...unset, "--", String(exec.command), ...given] };
}

/**
 * Returns why the login of a user is not supported; undefined for others. kubectl supports `gcp` and `azure` no more
 * since 1.26, and their programs would run with the secrets of a run.
 */
export function loginIssue({ user, paths }: Pick<Context, "user" | "paths">): string | undefined {
  const { "auth-provider": provider, exec } = user as {
    "auth-provider"?: { name?: unknown; config?: { exec?: unknown } | null } | null;
    exec?: { command?: unknown } | null;
  };
  if (provider && (provider.name !== "oidc" || provider.config?.exec))
    return `${paths.user}.auth-provider is not "oidc", which kubectl supports no more; write exec for it`;
  if (exec && (typeof exec.command !== "string" || exec.command === ""))
    return `${paths.user}.exec has no command; write the program that logs in`;
  return undefined;
}
