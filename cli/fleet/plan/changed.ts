/** The stack files of a project. */
export interface StackFiles {
  /** Their folder in the project, with "/" as separator; empty for the project's own folder. */
  readonly folder: string;
  /** The layer that the file of each stack names. */
  readonly layerOf: Readonly<Record<string, string | undefined>>;
}

/** What a change touches. */
interface Touched {
  /** The stacks whose file or layer it changes, in the order of the files. */
  readonly stacks: readonly string[];
  /** Changed files that are not stack files, layers or pages: the program itself, which may change every stack. */
  readonly others: readonly string[];
}

/**
 * Returns the name of the stack that a file belongs to, by the file's name; undefined for other files. Only names that
 * Pulumi accepts count, so that a name is plain text wherever it is written.
 */
export const stackOfFile = (name: string): string | undefined =>
  /^Pulumi\.([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})\.yaml$/.exec(name)?.[1];

/**
 * Returns what a change of files touches.
 *
 * @param paths the changed files, in the project's folder; a renamed file has two
 */
export function touchedBy(paths: readonly string[], { folder, layerOf }: StackFiles): Touched {
  const prefix = folder === "" ? "" : `${folder}/`;
  const inFolder = (path: string) => (path.startsWith(prefix) ? path.slice(prefix.length) : "");
  const names = new Set(paths.map((path) => stackOfFile(inFolder(path))));
  const layers = new Set(paths.map((path) => layerOfFile(inFolder(path))));
  return {
    stacks: Object.entries(layerOf).flatMap(([stack, layer]) =>
      names.has(stack) || (layer !== undefined && layers.has(layer)) ? [stack] : [],
    ),
    others: paths.filter(
      (path) =>
        !path.endsWith(".md") && (stackOfFile(inFolder(path)) ?? layerOfFile(inFolder(path))) === undefined,
    ),
  };
}

const layerOfFile = (path: string): string | undefined => /^layers\/([^/]+)\.yaml$/.exec(path)?.[1];
