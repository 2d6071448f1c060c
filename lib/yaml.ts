import { Composer, type Document, isMap, isScalar, LineCounter, Lexer, Parser, visit } from "yaml";
import { messageOf } from "./error-message";

/** What a text may have at most. */
interface YamlLimits {
  /** default: 4 MiB */
  readonly bytes?: number;
  /** how many aliases (`*name`); default: 256 */
  readonly aliases?: number;
  /** whether `<<` merges other maps, as in YAML 1.1; default: it is a key like others */
  readonly merge?: boolean;
}

/** A text that is not YAML, or more than foresail reads. The message begins with a verb: "is not YAML: …". */
export class YamlIssue extends Error {}

const MOST_BYTES = 4 * 2 ** 20;
const MOST_ALIASES = 256;
/** The parser recurses, and memory for its regular expressions ends the process where its stack is full. */
const MOST_LEVELS = 100;

/**
 * Reads YAML from outside in a time that grows with its length alone. Prints no warning of the parser, which would show
 * lines of the text. Keys of maps are texts, each once.
 *
 * @throws YamlIssue
 */
export function readYaml(text: string, limits: YamlLimits = {}): unknown {
  const document = readYamlDocument(text, limits);
  try {
    return document.toJS({ maxAliasCount: limits.aliases ?? MOST_ALIASES });
  } catch {
    throw new YamlIssue("has too many aliases, or one without an anchor; write the values out");
  }
}

/**
 * Reads YAML as {@link readYaml} does.
 *
 * @param source begins the message of an error: "ConfigMap kube-system/kubeadm-config: ClusterConfiguration"
 * @throws YamlIssue
 */
export function readYamlOf(source: string, text: string, limits: YamlLimits = {}): unknown {
  try {
    return readYaml(text, limits);
  } catch (error) {
    throw new YamlIssue(`${source} ${messageOf(error)}`, { cause: error });
  }
}

/** Reads a value of YAML as {@link readYaml} does; undefined where it would throw. */
export function parseYaml(text: string, limits: YamlLimits = {}): unknown {
  try {
    return readYaml(text, limits);
  } catch {
    return undefined;
  }
}

/**
 * Reads a document, to change it, with the limits of {@link readYaml}.
 *
 * @throws YamlIssue
 */
export function readYamlDocument(text: string, limits: YamlLimits = {}): Document.Parsed {
  const { bytes = MOST_BYTES, merge = false } = limits;
  if (Buffer.byteLength(text) > bytes)
    throw new YamlIssue(
      `is larger than ${bytes < 2 ** 20 ? `${bytes / 1024} KiB` : `${bytes / 2 ** 20} MiB`}`,
    );
  const lines = lineCounterOf(text);
  const options = { logLevel: "silent", prettyErrors: false, uniqueKeys: false, merge } as const;
  // the parser would compare each key with all others
  const [document, another] = composerOf(options, lines).compose(tokens(text, lines), true, text.length);
  if (document === undefined || document.errors.length > 0) throw new YamlIssue("is not YAML");
  if (another !== undefined) throw new YamlIssue("has several documents; write one");
  if (document.directives.yaml.version !== "1.2")
    throw new YamlIssue("is YAML of another version; remove the line %YAML");
  checkContent(document, lines, limits);
  return document;
}

/** Where the parser reports an error: an offset, a range or a token. */
type ErrorSource = number | readonly [number, ...number[]] | { readonly offset: number };

/** Returns a composer that ends at the first error: a text can have as many as characters, each with a stack trace. */
function composerOf(options: ConstructorParameters<typeof Composer>[0], lines: LineCounter): Composer {
  const composer = new Composer(options);
  let first: YamlIssue | undefined;
  composer["onError"] = (source: ErrorSource, _code: unknown, message: string, isWarning?: boolean) => {
    if (isWarning) return;
    const offset = typeof source === "number" ? source : "offset" in source ? source.offset : source[0];
    // the composer reports what it caught, again
    throw (first ??= new YamlIssue(`is not YAML: ${describe(message)}${at(lines, offset)}`));
  };
  return composer;
}

function* tokens(text: string, lines: LineCounter) {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MOST_LEVELS)
      throw new YamlIssue(`is nested more than ${MOST_LEVELS} levels deep${at(lines, parser.offset)}`);
  }
  yield* parser.end();
}

/** Returns a counter of the lines of a text, for the offsets of its nodes. */
export function lineCounterOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) lines.addNewLine(end + 1);
  return lines;
}

/** @throws YamlIssue for keys that are not texts, keys that are there twice, and too many aliases */
function checkContent(document: Document.Parsed, lines: LineCounter, limits: YamlLimits): void {
  const { aliases: most = MOST_ALIASES } = limits;
  let aliases = 0;
  visit(document, {
    Alias: () => {
      aliases++;
      if (aliases > most) throw new YamlIssue("has too many aliases; write the values out");
    },
    Collection: (_key, collection) => {
      if (!isMap(collection)) return;
      const keys = new Set<string>();
      for (const { key } of collection.items) {
        const where = at(lines, (key as { range?: [number] | null } | null)?.range?.[0]);
        if (!isScalar(key)) throw new YamlIssue(`has a key that is not a text${where}`);
        // the key of a merge, which may be there more than once
        if (typeof key.value === "symbol") continue;
        const name = String(key.value);
        if (keys.has(name)) throw new YamlIssue(`is not YAML: map keys must be unique${where}`);
        keys.add(name);
      }
    },
  });
}

function at(lines: LineCounter, offset: number | undefined): string {
  if (offset === undefined) return "";
  const { line, col } = lines.linePos(offset);
  return ` at line ${line}, column ${col}`;
}

/** Returns the message of the parser without the part that quotes the text. */
function describe(message: string): string {
  const words = message.replace(/(?<=\S): .*$/s, "");
  return words.slice(0, 1).toLowerCase() + words.slice(1);
}
