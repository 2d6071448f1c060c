const TEXTS: readonly [value: boolean, texts: readonly string[]][] = [
  [true, ["1", "t", "T", "true", "TRUE", "True"]],
  [false, ["0", "f", "F", "false", "FALSE", "False"]],
];

/** Returns the value of a boolean argument of Kubernetes' programs, as Go reads it; undefined for a text that is none. */
export const parseBoolean = (text: string): boolean | undefined =>
  TEXTS.find(([, texts]) => texts.includes(text))?.[0];
