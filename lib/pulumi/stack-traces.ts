/** A file that lies in `node_modules` itself, or in the folder of a scope: source maps name such ones, packages have none. */
const OUTSIDE_PACKAGES = /([/\\])node_modules\1(?:@[^/\\\n]*\1)?(?=[^/\\\n]*$)/gm;

/**
 * A stack trace in which each file below `node_modules` lies in the folder of a package: "./" before its name makes it so.
 * Node 20.20 to 26.3 prints any other frame in colors for minutes, until its memory is full
 * (https://github.com/nodejs/node/issues/64011).
 */
export function placeInPackages(trace: string): string {
  return trace.replace(OUTSIDE_PACKAGES, (folder, separator: string) => `${folder}.${separator}`);
}

/**
 * Lets Pulumi print each exception of this program at once. The source map of @pulumi/pulumi calls its file
 * "node_modules/@pulumi/output.ts", and Pulumi prints in colors: a preview in which an `apply` throws seemed to hang.
 */
export function makeTracesPrintable(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object below
  const prepare = Error.prepareStackTrace;
  // without source maps every frame names the file that it is in
  if (prepare === undefined) return;
  Error.prepareStackTrace = (error, frames): unknown => {
    const trace: unknown = prepare.call(Error, error, frames);
    return typeof trace === "string" ? placeInPackages(trace) : trace;
  };
}
