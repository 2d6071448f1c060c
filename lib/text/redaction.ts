/**
 * Ends of names whose values are secret, as in `OS_PASSWORD`, `clientSecret`, `client-key-data`. "ssh-key" is not among
 * them: it names a key's object or its public half, and the private half is a PEM text.
 */
const NAMES = [
  "pass(?:word|wd|phrase|code)",
  "pwd",
  "token",
  "secret(?:[-_.]?(?:data|value|key|id))?",
  "api[-_.]?key",
  "(?:access|account|auth|certificate|encryption|master|private|shared|signing|storage)[-_.]?key(?:[-_.]?data)?",
  "client[-_.]?(?:key|certificate)[-_.]?data",
  "secret[-_.]?access[-_.]?key",
  "private[-_.]?key[-_.]?pem",
].join("|");

/** Headers that carry credentials. */
const HEADERS =
  "(?:proxy-)?authorization|x-(?:auth|subject|vault|api)-(?:token|key)|(?<![\\w-])(?:set-)?cookie";

/** A value: in quotes, with escapes, or up to the next blank or delimiter. */
const VALUE = String.raw`(?:\\"[^"\\\n]*\\"|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"',;&<>)}\]]+)`;

/** What looks like a secret, and what replaces it; earlier rows see the text first. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY|SECRET)[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g,
    "[private key]",
  ],
  // base64 of "-----BEGIN "
  [/\bLS0tLS1CRUdJTi[A-Za-z0-9+/=]{8,}/g, "[PEM data]"],
  [/\bAGE-SECRET-KEY-1[0-9A-Z]+/g, "[private key]"],
  // a header of any scheme: in an object to the end of its string, else to the end of the line
  [new RegExp(String.raw`((?:${HEADERS})\\?["']\s*[:=]\s*\\?["'])[^"'\\\r\n]+`, "gi"), "$1[secret]"],
  [new RegExp(String.raw`((?:${HEADERS})\s*[:=][ \t]*)[^"'\s][^\r\n]*`, "gi"), "$1[secret]"],
  [/\b(Bearer|Basic|Negotiate|Digest)\s+[\w.~+/=-]{6,}/g, "$1 [secret]"],
  // the engine writes some addresses of backends with one slash
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/?[^\s:@/"']{0,256}):[^\s@/"']{1,256}@/gi, "$1:[secret]@"],
  // curl's user and password
  [/(\s(?:-u|--user|--proxy-user)[\s=]+["']?[^\s:"']{1,256}):[^\s"']+/g, "$1:[secret]"],
  // YAML's block scalar
  [
    new RegExp(
      String.raw`^([ \t]*)(["']?[\w.-]{0,64}(?:${NAMES})["']?:[ \t]*)[|>][-+\d]*[ \t]*\n(?:\1[ \t]+.*(?:\n|$)|[ \t]*\n)+`,
      "gim",
    ),
    "$1$2[secret]\n",
  ],
  // `name: value`, `"name": "value"`, `name=value`
  [
    new RegExp(
      String.raw`((?:${NAMES})(?:\\?["'])?\s{0,8}(?:[:=]|=>|:=)\s{0,8})(?!\[secret\])${VALUE}`,
      "gi",
    ),
    "$1[secret]",
  ],
  // `--name value`
  [new RegExp(String.raw`(\s--?[\w-]{0,64}(?:${NAMES})\s+)(?!-|\[)${VALUE}`, "gi"), "$1[secret]"],
  [new RegExp(String.raw`(<([\w:.-]{0,64}(?:${NAMES}))>)[^<]*(</\2>)`, "gi"), "$1[secret]$3"],
  // tokens of known formats
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, "[bootstrap token]"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, "[token]"],
  [/\bgAAAAA[\w-]{20,}={0,2}/g, "[token]"],
  [
    /\b(?:gh[opsur]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft|soat)-|npm_|pul-|dop_v1_|dckr_pat_|xox[abeprs]-|xapp-|tskey-|hv[sbr]\.|sk-|sk_live_|rk_live_|whsec_|SG\.|ya29\.|AIza|shpat_|glsa_|pypi-|rubygems_|atlasv1\.|figd_|hf_|lin_api_)[\w.-]{12,}/g,
    "[token]",
  ],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, "[access key]"],
];

/**
 * Replaces what looks like a key, token or password in a text for messages. It is the last line of defence: a secret
 * that looks like nothing else passes, so no code may rely on it.
 */
export function redact(text: string): string {
  return SECRETS.reduce((safe, [secret, replacement]) => safe.replace(secret, replacement), text);
}
