/** A download whose checksum the publisher gives; URLs may be redirected to a mirror (see source-hosts.ts). */
export interface Download {
  readonly url: string;
  /** A file that holds the SHA-256 sum alone, or lines of "SUM  FILE NAME". */
  readonly checksums: string;
  /** For a .tar.gz: file name wanted → path inside the archive. Without it the download is the file itself. */
  readonly members?: Readonly<Record<string, string>>;
}

/** One `go build` in one of the folders of modules/. */
export interface Build {
  /** The folder below modules/. */
  readonly module: string;
  /** File name → package. */
  readonly packages: Readonly<Record<string, string>>;
  /** File name → package whose tests are compiled into that program. */
  readonly tests?: Readonly<Record<string, string>>;
  readonly ldflags?: string;
  /** Files of a module that are embedded, copied beside main.go before the build. */
  readonly embed?: { readonly module: string; readonly files: readonly string[] };
  /**
   * Files of a module that are installed beside the programs: all in one folder, or with their paths below one of the
   * module's folders.
   */
  readonly beside?: { readonly module: string; readonly files: readonly string[]; readonly below?: string };
  /** Built for the container nodes, which run Linux, and not for this machine's system. */
  readonly linux?: boolean;
}

/** A set of files of one version that are installed together, into one folder. */
export interface Program {
  /** The name that Need uses. */
  readonly name: string;
  readonly version: string;
  /** The title shown to users. */
  readonly title: string;
  /** The folder, relative to the cache. */
  readonly folder: string;
  readonly files: readonly string[];
  /** Looks for this version on the machine, outside the cache. Returns file name → path, or undefined. */
  readonly installed?: (cache: string) => Promise<Record<string, string> | undefined>;
  readonly downloads: readonly Download[];
  readonly builds: readonly Build[];
  /** Scripts written into the folder: file name → text. */
  readonly launchers?: Readonly<Record<string, string>>;
  /** Launchers to use when there is neither a download nor a Go module. */
  readonly replacement?: Readonly<Record<string, string>>;
}
