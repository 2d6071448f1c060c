import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fileFault } from "../../../lib/files";
import { displayLine } from "../../../lib/text/display";
import { quoted } from "../../../lib/text/quote";
import { UsageError } from "../../terminal/exit-codes";

/**
 * Returns the files of a folder that differ from where this branch left a revision, committed or not; a renamed file
 * is two of them.
 *
 * @param newFiles the folder below it in which files count that git does not know yet
 * @throws UsageError when there is no such revision
 */
export async function changedSince(folder: string, revision: string, newFiles: string): Promise<string[]> {
  const name = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const commit = (await git(folder, name).catch(unknownRevision(revision))).trim();
  const options = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative"];
  const known = await git(folder, ["diff", ...options, "--merge-base", commit, "--"]);
  const added = ["ls-files", "-z", "--others", "--exclude-standard", "--", newFiles === "" ? "." : newFiles];
  return [known, await git(folder, added)].flatMap((text) => text.split("\0")).filter((file) => file !== "");
}

const unknownRevision = (revision: string) => (error: unknown) => {
  if (fileFault(error) !== undefined) throw error;
  throw new UsageError(
    `--since ${quoted(revision)} is not a commit, branch or tag of this repository; fetch it first`,
  );
};

async function git(cwd: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("git", args, { cwd, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    const why = fileFault(error) ?? stderr.trim();
    throw new Error(`git ${args[0]} failed: ${displayLine(why)}`, { cause: error });
  }
}
