import { octalIssues, positionText, WrittenText } from "../../lib/layers/positions";
import { formatPath, valueAt } from "../../lib/validation/validation-issue";
import { allFiles, type ConfigurationFiles, type FileIssue, inFile } from "./files";
import { CONFIGURATION_KEYS, type ConfigurationKey } from "./keys";
import type { ConfigurationReader } from "./reader";

const placeOf = ({ file, path }: FileIssue) => `${file}: ${formatPath(path)}`;

/** A number with a zero before it, which only a parsed text tells from the part of another text. */
const MAYBE_OCTAL = /(?:^|[\s,[{])[-+]?0[0-7]+(?=\s*(?:[,\]}#]|$))/m;

/** The texts of the stack file and its layer, as far as they can be read: where each value is, and how it is written. */
export class WrittenFiles {
  private readonly texts: ReadonlyMap<string, string>;
  private readonly parsed = new Map<string, WrittenText>();

  constructor(
    private readonly reader: Pick<ConfigurationReader, "project" | "readStackFile">,
    private readonly files: ConfigurationFiles,
  ) {
    const { stack, layer } = files;
    const ofStack = reader.readStackFile?.();
    this.texts = new Map([
      ...(ofStack === undefined ? [] : [[stack.file, ofStack] as const]),
      ...(layer === undefined ? [] : [[layer.file, layer.text] as const]),
    ]);
  }

  /** Returns an issue with the line of its value. */
  located(issue: FileIssue): FileIssue {
    const { file, path } = issue;
    const values = allFiles(this.files).find((each) => each.file === file)?.values ?? {};
    const known: Readonly<Record<string, ConfigurationKey>> = CONFIGURATION_KEYS;
    const isSecret = known[String(path[0])]?.secret === true;
    // a secret key is a map with the encrypted value in the file
    const position = isSecret
      ? this.textOf(file)?.at(path.slice(0, 1), {})
      : this.textOf(file)?.at(path, valueAt(values, path));
    return position === undefined ? issue : { ...issue, where: positionText(position) };
  }

  /** Returns an issue for each number that YAML reads as octal, unless its value has another issue. */
  octalIssues(others: readonly FileIssue[] = []): FileIssue[] {
    const said = new Set(others.map(placeOf));
    return [...this.texts].flatMap(([file, text]) => {
      if (!MAYBE_OCTAL.test(text)) return [];
      const issues = inFile(file, octalIssues(this.textOf(file)));
      return issues.filter((issue) => !said.has(placeOf(issue)));
    });
  }

  private textOf(file: string): WrittenText | undefined {
    const text = this.texts.get(file);
    if (text === undefined) return undefined;
    const parsed = this.parsed.get(file) ?? new WrittenText(text, this.reader.project);
    this.parsed.set(file, parsed);
    return parsed;
  }
}
