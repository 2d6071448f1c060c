import type { Reporter } from "../sandbox/progress";
import type { Toolchain } from "../sandbox/toolchain";
import type { Image, Result } from "./results";
import type { LoadNotes } from "./environment";

/** The context of a benchmark. */
export interface BenchContext {
  readonly toolchain: Toolchain;
  readonly report: Reporter;
  /** Called before each run that counts. */
  readonly load: LoadNotes;
  readonly say: (line: string) => void;
  /** The number of runs, if the user requested another one than the benchmark's own. */
  readonly rounds: number | undefined;
}

/** What a benchmark found. */
export interface Measured extends Pick<Result, "rows" | "notes"> {
  /** Images for its table, as text of SVG. */
  readonly images?: readonly (Image & { readonly svg: string })[];
}

/** One benchmark that `npm run bench -- NAME` can run. */
export interface Measurement {
  readonly name: string;
  readonly title: string;
  /** One line for the help text. */
  readonly summary: string;
  measure(context: BenchContext): Promise<Measured>;
  /** Shows where the time goes, instead of comparing; its result has a name of its own. */
  readonly profile?: Measurement;
}
