/** What can go wrong before the engine does anything: how it says so, and what foresail says instead. */
const CAUSES: readonly [RegExp, (found: readonly string[]) => string][] = [
  [
    /passphrase must be set with PULUMI_CONFIG_PASSPHRASE/,
    () =>
      "the stack has no passphrase to decrypt its secrets. Set PULUMI_CONFIG_PASSPHRASE to it, or " +
      "PULUMI_CONFIG_PASSPHRASE_FILE to a file that contains it",
  ],
  [
    /\bincorrect passphrase\b/,
    () =>
      "the passphrase is wrong: it does not decrypt the secrets of the stack. Set PULUMI_CONFIG_PASSPHRASE, or the file of " +
      "PULUMI_CONFIG_PASSPHRASE_FILE, to the passphrase that the stack was created with",
  ],
  [
    /unable to read PULUMI_CONFIG_PASSPHRASE_FILE: open (.+): (.+)/,
    ([, file, why]) =>
      `the file of PULUMI_CONFIG_PASSPHRASE_FILE, ${file}, can't be read: ${why}. Set the variable to the file with the passphrase`,
  ],
  [
    /PULUMI_ACCESS_TOKEN must be set for login|Unauthorized: No credentials provided or are invalid/,
    () =>
      "no backend is logged in to, so there is no state. Run `pulumi login file://FOLDER` for state in a folder, or set " +
      "PULUMI_BACKEND_URL; for Pulumi Cloud, set PULUMI_ACCESS_TOKEN",
  ],
  [
    /unable to open bucket (file:\/\/[^\s?]{1,4096})\S{0,4096}: stat .*: no such file or directory/,
    ([, address]) =>
      `the folder of the backend ${address} does not exist. Create it, or correct PULUMI_BACKEND_URL or \`pulumi login\``,
  ],
  [
    /unable to open bucket \S+: failed to ping PostgreSQL: (.+)/,
    ([, why]) =>
      `the PostgreSQL server with the state can't be used: ${why}. Check that it runs, PULUMI_BACKEND_URL, and PGPASSWORD`,
  ],
  [
    /\(code=\w+\): (?:RequestError: send request failed\s+caused by: )?((?:\w+ "[^"]+": (?:dial|read|write|EOF)|NoCredentialProviders|NoSuchBucket|SignatureDoesNotMatch|InvalidAccessKeyId|ExpiredToken|AccessDenied).*?)\.?$/m,
    ([, why]) =>
      `the bucket with the state can't be used: ${why}. Check that its server runs, PULUMI_BACKEND_URL, and the credentials`,
  ],
  [
    /no stack selected/,
    () =>
      "no stack is selected. Give --stack NAME, or run `pulumi stack select NAME`; `pulumi stack ls` lists the stacks",
  ],
  [
    /no stack named '([^']+)' found/,
    ([, stack]) =>
      `there is no stack ${stack} in this backend. \`pulumi stack ls\` lists the stacks; \`pulumi stack init ${stack}\` creates it`,
  ],
];

/** Returns the cause and the fix of an error with which the engine ended; undefined for errors of another kind. */
export function explainEngineError(text: string): string | undefined {
  for (const [pattern, explain] of CAUSES) {
    const found = pattern.exec(text);
    if (found) return explain(found);
  }
  return undefined;
}

const CHANGED = /resource (urn:\S+) violates plan: properties changed: (.*)$/s;
const REFUSED = /(resource '[^']*'): property (\S+) value (.*)$/s;
const PROBLEM = " has a problem: ";
/** "    type name …", a row of the engine's display. Only types of foresail's stacks: a line of a value can look like others. */
const ROW =
  /^ (?:[ +~-]{2,3}) *(?:pulumi|pulumi-nodejs|foresail|command|kubernetes|openstack):[\w./-]+:\w+ [\w-]/;
/** The next message of the same resource. */
const MESSAGE = /^ {4}(?:error|warning): /;
/** Every line of a message begins with this. */
const INDENT = "    ";
// eslint-disable-next-line no-control-regex
const COLORS = /\u001b\[[0-9;]*m/g;

/**
 * Removes the values of properties from the engine's output. It prints them as Go prints its maps, `{[{map[name:{w-1}]}]}`,
 * over as many lines as they have, and those of secrets in plain text.
 */
export class ValueFilter {
  /** The lines of a message whose end has not been seen yet. */
  private held: string | undefined;

  /** @returns the lines to show instead of this one, which may be kept back */
  line(text: string): string[] {
    const plain = text.replace(COLORS, "");
    const continues = plain.startsWith(INDENT) && !ROW.test(plain) && !MESSAGE.test(plain);
    if (this.held !== undefined && continues) {
      this.held += `\n${text}`;
      return [];
    }
    const before = this.rest();
    if (!CHANGED.test(text) && !REFUSED.test(text)) return [...before, text];
    this.held = text;
    return before;
  }

  /** Returns what is kept back, at the end of the output. */
  rest(): string[] {
    const { held } = this;
    this.held = undefined;
    return held === undefined ? [] : withoutValues(held).split("\n");
  }
}

/** Returns a message of the engine without the values of properties. */
export function withoutValues(message: string): string {
  return message
    .replace(CHANGED, (_, urn: string, changes: string) => {
      const names = changedProperties(changes).join(", ");
      return `${urn.split("::").at(-1)} is no longer as reviewed (violates plan); changed: ${names}`;
    })
    .replace(REFUSED, (_, resource: string, property: string, rest: string) => {
      const at = rest.indexOf(PROBLEM);
      const reason = at < 0 ? "its value is refused" : rest.slice(at + PROBLEM.length);
      return `${resource}${PROBLEM}${property}: ${reason}`;
    });
}

/** Returns the names in "++machines[{…}!={…}], --token[{…}]"; a value that imitates that adds a word at most. */
function changedProperties(changes: string): string[] {
  return [...changes.matchAll(/(?:^|\], )(?:\+\+|--|~~)([\w.-]{1,80})(?=\[)/g)].map(([, name = ""]) => name);
}
