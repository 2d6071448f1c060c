import { stripVTControlCharacters } from "node:util";

/**
 * Ends of names whose values are secret, as in `OS_PASSWORD`, `clientSecret`, `client-key-data`. "ssh-key" is not among
 * them: it names a key's object or its public half, and the private half is a PEM text. Secrets of Kubernetes that a
 * field names are not secret.
 */
const NAMES = [
  "(?<!\\bno)pass(?:word|wd|phrase|code)",
  "(?:(?<![a-z])|admin|root|user|db|database|smtp|ldap|bind|mysql|redis|mail|proxy|key|store|trust)pass",
  "pwd",
  "token",
  "(?<!(?:existing|pull|tls|ca|issuer)[-_.]?)secret(?:[-_.]?(?:data|value|key|id))?",
  "api[-_.]?key",
  "(?:access|account|auth|encryption|master|preshared|pre[-_.]shared|private|shared|signing|storage|shared[-_.]?access)[-_.]?key(?:[-_.]?data)?",
  "certificate[-_. ]?key(?:[-_.]?data)?",
  "client[-_.]?(?:key|certificate)[-_.]?data",
  "secret[-_.]?access[-_.]?key",
  "private[-_.]?key[-_.]?pem",
  "foresail_(?:plan|fleet)_key",
  "(?<![a-z])psk",
  "shared[-_.]?access[-_.]?signature",
  "[jx]sessionid|phpsessid",
  "\\.docker(?:configjson|cfg)",
].join("|");

/** Names of lists whose items are secret; `secrets` and `keys` are often names. */
const LISTS = "pass(?:word|wd|phrase)s?|(?:api|access|private|secret|auth)[-_.]?keys?|tokens?";

/** Headers that carry credentials. */
const HEADERS =
  "(?:proxy-)?authorization|(?<![\\w-])x-[\\w-]{0,40}(?:token|key|secret|signature|authorization)|(?<![\\w-])(?:set-)?cookie";

/** Quotes of a name or a value, also within JSON that is a text of JSON. */
const QUOTE = String.raw`\\{0,7}["']`;

/** A value: in quotes, with escapes, or up to the next blank or delimiter. */
const VALUE = String.raw`(?:\\{1,7}"[^"\n]*"|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[^\s"',;&<>)}\]{[][^\s"',;&<>)}\]]*)`;

/** Words that begin a sentence about a field: `sshPrivateKey: is missing`. */
const PROSE =
  "is|isn't|are|was|were|has|have|had|must|may|might|can|can't|cannot|could|does|doesn't|do|did|not|no|never|needs|should|" +
  "will|would|belongs|names|contains|differs|and|or|the|an?|of|for|in|on|at|to|with|without|from|by|as|it|its|this|that|" +
  "these|if|when|unless|set|use|write|give|remove|correct|replace|expired|invalid|missing|required|unknown|wrong|too|only|" +
  "already|also|both|one|several|nothing|default";

/** Words that begin a step of a preview or a line of progress, such as `api-token: join as worker`. */
const STEPS =
  "add|adopt|another|apply|back|begins|beside|certificates|close|cluster|configuration|configure|cordon|create|delete|diff|download|drain|draining|" +
  "drift|encrypt|ends|ensure|etcd|eviction|failed|files|finish|follow|foresail|forget|go|host|install|join|keep|keeps|kubeadm|label|leaves|left|load|" +
  "look|lost|make|manifests|name|note|nulls|open|others|passed|pinned|protected|proxies|put|reads|ready|reboot|rebooting|recorded|" +
  "register|release|renew|reopen|repair|report|reserve|reset|restage|restart|restore|restored|roll|runs|scale|service|snapshot|stage|stays|still|stop|taint|take|there|turn|" +
  "unavailable|unread|update|upgrade|wait|waiting|waits|went|what";

/** What stands for a value: no secret, a reference, a file, or what another row put there. */
const NO_SECRET = [
  `(?:${PROSE})(?=[\\s;,.:)]|$)`,
  `(?:${STEPS})(?=,? [a-z\\d("\`]|: )`,
  "foresail:[a-z]|(?:done|draining|failed|passed|unchanged|ready)(?=[\\s;,.:)]*$|,? )",
  "(?:true|false|null|nil|none|undefined|yes|~)(?=[\\s;,.)\\]}\"'\\\\]|$)",
  "\\$\\{|\\$\\(|\\{\\{|\\$[a-z]+_[a-z_]+(?=[\\s\"'\\\\]|$)|<[\\w -]{1,40}>|\\*{3}|…|\\.\\.\\.(?=[\\s\"']|$)",
  "(?:~|\\.{1,2})\\/|\\/(?:etc|root|home|run|var|tmp|usr|opt|mnt|srv|dev|proc|data|Users)\\/",
  "\\[(?:secret|token|private key|access key|bootstrap token|PEM data|password hash)\\]",
].join("|");

const AFTER_NAME = String.raw`(?:${QUOTE})?(?:[ \t]is)?[ \t]{0,64}(?::=|=>|:(?!=)|=(?!>))[ \t]{0,64}(?:\r?\n[ \t]{1,64}(?=[^\s:#-][^\s:]*[ \t]*(?:[\r\n]|$)))?`;
const KEPT = String.raw`(?!(?:${QUOTE})?(?:${NO_SECRET})|${QUOTE}${QUOTE}(?!["']))`;

const row = (pattern: string, flags = "gi"): RegExp => new RegExp(pattern, flags);

/** What looks like a secret, and what replaces it; earlier rows see the text first. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY|SECRET)[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g,
    "[private key]",
  ],
  [/^(Private-Lines: \d+\s)[\s\S]*?(?=^Private-MAC|(?![\s\S]))/gm, "$1[private key]\n"],
  [/^(Private-MAC: )\w+/gm, "$1[secret]"],
  // base64 of "-----BEGIN ", of "openssh-key-v1", of `{"auths"`
  [/\bLS0tLS1CRUdJTi[A-Za-z0-9+/=]{8,}/g, "[PEM data]"],
  [/\bb3BlbnNzaC1rZXkt[A-Za-z0-9+/=]{8,}(?:\s[A-Za-z0-9+/=]{20,})*/g, "[private key]"],
  [/\beyJhdXRocy[A-Za-z0-9+/=_-]{8,}/g, "[token]"],
  [/\bAGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]{1,30})-1[0-9A-Z]+/g, "[private key]"],
  // hashes of passwords as crypt(3), bcrypt, Argon2, LDAP, PostgreSQL and Django write them
  [
    /\$(?:[1567]|2[abxy]|y|gy|apr1|md5|sha1|argon2(?:id?|d)|scrypt|pbkdf2(?:-sha\d{1,3})?|bcrypt-sha256)\$[\w./+=,$-]{8,}/g,
    "[password hash]",
  ],
  [/\{S?(?:SHA|MD5)(?:\d{3})?\}[A-Za-z0-9+/=]{16,}/g, "[password hash]"],
  [/\bSCRAM-SHA-\d{1,3}\$\d+:[\w+/=$:]{16,}/g, "[password hash]"],
  [/\b(?:pbkdf2_sha\d{1,3}\$|grub\.pbkdf2\.sha\d{1,3}\.)[\w.+/=$]{16,}/g, "[password hash]"],
  // a header of any scheme: in an object to the end of its string, else to the end of the line
  [row(`((?:${HEADERS})${QUOTE}\\s*[:=]\\s*\\[?\\s*${QUOTE})[^"'\\\\\\r\\n]+`), "$1[secret]"],
  [row(`((?:${HEADERS})\\s*[:=][ \\t]*)(?!${NO_SECRET})[^"'\\s][^\\r\\n]*`), "$1[secret]"],
  [
    /\b((?:[Bb]earer|BEARER|[Bb]asic|[Nn]egotiate|[Dd]igest)\s{1,8}["']?)(?=[\w.~+/=-]*(?:\d|[a-z][A-Z])|[\w.~+/=-]{20})[\w.~+/=-]{6,}/g,
    "$1[secret]",
  ],
  // the engine writes some addresses of backends with one slash
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/?[^\s:@/"']{0,256}):[^\s/"'<>]{1,256}@/gi, "$1:[secret]@"],
  [/\b(https?:\/\/)[^\s:@/"'\\]{20,256}@/gi, "$1[secret]@"],
  [
    /\b(hooks\.slack\.com\/(?:services|workflows)\/|discord(?:app)?\.com\/api\/webhooks\/)[\w/-]+/gi,
    "$1[secret]",
  ],
  [/([?&](?:sig|signature|x-(?:amz|goog)-signature|x-amz-security-token)=)[\w%.~+/=-]{8,}/gi, "$1[secret]"],
  // options and settings of single programs
  [/((?:^|\s)(?:-u|--user|--proxy-user)[\s=]+["']?[^\s:"']{1,256}):[^\s"']+/g, "$1:[secret]"],
  [
    /(\b(?:(?:docker|podman|nerdctl|helm|oras|skopeo|crane|registry) login|sshpass)\b[^\n]{0,200}?\s-p[ =]?)["']?[^\s"'[-][^\s"']{3,}["']?/g,
    "$1[secret]",
  ],
  [/(\s-pass(?:in|out)?\s+pass:)[^\s"']+/g, "$1[secret]"],
  [/(\blogin\s{1,8}\S{1,256}\s{1,8}password\s{1,8})[^\s[]\S*/g, "$1[secret]"],
  [/(\b(?:PASSWORD|IDENTIFIED BY)\s{1,8}')[^'\n]+'/gi, "$1[secret]'"],
  [/((?:^|[\s/:])_auth\s{0,8}=\s{0,8})["']?[\w+/=.-]{6,}["']?/gm, "$1[secret]"],
  [/(["']auth["']\s{0,8}:\s{0,8}\\{0,7}")[\w+/=-]{8,}/g, "$1[secret]"],
  [/(\\{1,7}"auth\\{1,7}"\s{0,8}:\s{0,8}\\{1,7}")[\w+/=-]{8,}/g, "$1[secret]"],
  [/^([ \t-]*auth:[ \t]*["']?)(?=[\w+/=-]*(?:\d|[a-z][A-Z]|=))[\w+/=-]{12,}/gm, "$1[secret]"],
  [/(certificate key:?\s{1,8})[0-9a-f]{64}\b/gi, "$1[secret]"],
  [/(\bpass(?:word|phrase) (?:is|was) (?:set to )?)(?=["']?[^\s"']*\d)\S{4,}/gi, "$1[secret]"],
  // variables of containers, in YAML and JSON, in both orders
  [
    row(
      `(${optional(QUOTE)}name${optional(QUOTE)}[ \\t]{0,8}:[ \\t]{0,8}${optional(QUOTE)}[\\w.-]{0,100}(?:${NAMES})${optional(QUOTE)}\\s{0,64},?\\s{0,64}${optional(QUOTE)}value${optional(QUOTE)}[ \\t]{0,8}:[ \\t]{0,8})${KEPT}${VALUE}`,
    ),
    "$1[secret]",
  ],
  [
    row(
      `(${QUOTE}value${QUOTE}\\s{0,8}:\\s{0,8})(?:"(?:[^"\\\\\\n]|\\\\.)*"|\\\\{1,7}"[^"\\n]*")(?=\\s{0,64},\\s{0,64}${QUOTE}name${QUOTE}\\s{0,8}:\\s{0,8}${QUOTE}[\\w.-]{0,100}(?:${NAMES})${QUOTE})`,
    ),
    "$1[secret]",
  ],
  // YAML's block scalar
  [
    row(
      String.raw`^([ \t]*)((?:-[ \t]+)?["']?[\w.-]{0,64}(?:${NAMES})["']?:[ \t]*)[|>][-+\d]*[ \t]*\n(?:\1[ \t]+.*(?:\n|$)|[ \t]*\n)+`,
      "gim",
    ),
    "$1$2[secret]\n",
  ],
  // lists, on one line and on several
  [
    row(
      `((?:${LISTS})${optional(QUOTE)}\\s{0,8}[:=]\\s{0,8})\\[(?!\\]|secret\\]|token\\])[^\\]{}]{1,4000}\\]`,
    ),
    "$1[secret]",
  ],
  [
    row(
      String.raw`^([ \t]*)((?:-[ \t]+)?["']?[\w.-]{0,64}(?:${LISTS})["']?:)[ \t]*\n(?:\1[ \t]*-[ \t]+(?!\[secret\])[^\n:]*(?:\n|$))+`,
      "gim",
    ),
    "$1$2 [secret]\n",
  ],
  // a line of YAML, whose value may have blanks
  [
    row(
      String.raw`^([ \t]*(?:-[ \t]+)?[\w.-]{0,64}(?:${NAMES}):[ \t]+)(?!["'&*!|>{[#]|${NO_SECRET})[^\s=:]+(?:[ \t]+[^\s=:#;]+)+[ \t]*$`,
      "gim",
    ),
    "$1[secret]",
  ],
  // `name: value`, `"name": "value"`, `name=value`
  [row(`((?:${NAMES})${AFTER_NAME})${KEPT}${VALUE}`), "$1[secret]"],
  // `--name value`, also as two texts of a list; the option of `pulumi config set` has no value
  [
    row(
      `((?<![\\w-]|config set )--?[\\w-]{0,64}(?:${NAMES})(?:${QUOTE},\\s{0,64}(?=${QUOTE})|\\s{1,8}))(?!-|\\[|[a-z][\\w.-]*:[a-z]|[|<>&])${KEPT}${VALUE}`,
    ),
    "$1[secret]",
  ],
  [row(`(<([\\w:.-]{0,64}(?:${NAMES}))>)[^<]*(</\\2>)`), "$1[secret]$3"],
  // tokens of known formats
  [/\b(?=[a-z.]{0,23}\d)[a-z0-9]{6}\.[a-z0-9]{16}\b/g, "[bootstrap token]"],
  // looks once at each run of characters, from its beginning: a run may have many places where a token could begin
  [/(?<![\w-])((?:(?!\beyJ)[\w-])*)\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, "$1[token]"],
  [/\bgAAAAA[\w-]{20,}={0,2}/g, "[token]"],
  [/\bsha256~[\w-]{40,}/g, "[token]"],
  [/\b(?:kubeconfig-[\w-]{1,40}|token-[a-z0-9]{5}):[a-z0-9]{50,}/g, "[token]"],
  [
    /\b(?:gh[opsur]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-|GR1348941|npm_|pul-|do[opr]_v1_|dckr_[po]at_|xox[abeprs]-|xapp-|tskey-|hv[sbr]\.|sk-(?!ecdsa|ssh)|sk_live_|rk_live_|whsec_|SG\.|ya29\.|AIza|GOCSPX-|shp(?:at|ss|ca|pa)_|gl(?:sa|c)_|pypi-|rubygems_|atlasv1\.|figd_|hf_|lin_api_|ntn_|NRAK-|sntry[su]_|ATATT3x|ATBB|PMAK-|dapi|dp\.(?:pt|st|ct)\.|sq0(?:atp|csp)-|fm2_|ops_ey)[\w./+=-]{12,}/g,
    "[token]",
  ],
  [/\b\d{8,10}:AA[\w-]{33}\b/g, "[token]"],
  [/(?<![\w~.-])[\w~.-]{3}8Q~[\w~.-]{31,34}/g, "[token]"],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, "[access key]"],
];

function optional(pattern: string): string {
  return `(?:${pattern})?`;
}

/**
 * Replaces what looks like a key, token or password in a text for messages. It is the last line of defence: a secret
 * that looks like nothing else passes, so no code may rely on it. A text with a secret loses its colors, since they can
 * divide a name from its value.
 */
export function redact(text: string): string {
  const plain = text.includes("\u001b") ? stripVTControlCharacters(text) : text;
  const safe = SECRETS.reduce((rest, [secret, replacement]) => rest.replace(secret, replacement), plain);
  return safe === plain ? text : safe;
}
