import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Document, isScalar, visit } from "yaml";
import { fileFault } from "../../../lib/files";
import { listed } from "../../../lib/text/quote";
import { EXIT, UsageError } from "../../terminal/exit-codes";
import { findProject } from "../../engine/pulumi";
import { print, printError } from "../../terminal/terminal";
import { loadFleetOfFiles } from "../files/load";
import type { ExportedFile } from "../plan/export/exported";
import { githubWorkflows } from "../plan/export/github";
import { ACTIONS } from "../plan/export/github-steps";
import { gitlabPipeline } from "../plan/export/gitlab";
import {
  operatorIssues,
  type OperatorSource,
  operatorSourceIssues,
  operatorStacks,
} from "../plan/export/operator";
import { readStackFiles } from "../files/stack-files";
import { fleetFileName, invalidFile } from "../files/yaml-file";

export interface FleetExportOptions {
  readonly file?: string;
  /** The folder for the files. */
  readonly write?: string;
  /** The folder with files to compare. */
  readonly check?: string;
}

/** Prints, writes or checks the workflows of the fleet for GitHub. @returns the exit code */
export async function exportGithub(options: FleetExportOptions): Promise<number> {
  const fleet = await loadFleetOfFiles(await findProject(), options.file);
  return exportFiles("github", githubWorkflows(fleet), options);
}

/** Prints, writes or checks the pipeline of the fleet for GitLab. @returns the exit code */
export async function exportGitlab(options: FleetExportOptions): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleetOfFiles(project, options.file);
  return exportFiles("gitlab", [gitlabPipeline(fleet, readStackFiles(project))], options);
}

/** Prints, writes or checks the Stack objects of the fleet for the Pulumi Kubernetes Operator. @returns the exit code */
export async function exportOperator(options: FleetExportOptions & OperatorSource): Promise<number> {
  const [wrong] = operatorSourceIssues(options);
  if (wrong !== undefined) throw new UsageError(wrong);
  const fleet = await loadFleetOfFiles(await findProject(), options.file);
  const issues = operatorIssues(fleet);
  if (issues.length > 0) throw invalidFile(fleetFileName(options.file), issues);
  return exportFiles("operator", [operatorStacks(fleet, options)], options);
}

/** Prints files, writes them into a folder, or compares them with those in a folder. */
async function exportFiles(
  target: string,
  files: readonly ExportedFile[],
  { write, check }: FleetExportOptions,
): Promise<number> {
  if (write !== undefined && check !== undefined) throw new UsageError("give --write or --check, not both");
  const texts = files.map((file) => [file.name, exportedText(file)] as const);
  if (check !== undefined) return compare(target, texts, check);
  if (write === undefined) {
    // not by print, which hides what looks like a secret: the text has names of variables only
    process.stdout.write(
      texts.map(([name, text]) => (texts.length > 1 ? `# ${name}\n${text}` : text)).join("---\n"),
    );
    return EXIT.done;
  }
  try {
    await mkdir(write, { recursive: true });
    for (const [name, text] of texts) await writeFile(path.join(write, name), text);
  } catch (error) {
    const why = fileFault(error) ?? String(error);
    throw new Error(`can't write into ${write}: ${why}; name a folder that you may write to`, {
      cause: error,
    });
  }
  for (const [name] of texts) print(`wrote ${path.join(write, name)}`);
  return EXIT.done;
}

async function compare(
  target: string,
  texts: readonly (readonly [string, string])[],
  folder: string,
): Promise<number> {
  const old: string[] = [];
  for (const [name, text] of texts) {
    const now = await readFile(path.join(folder, name), "utf8").catch(() => undefined);
    if (now !== text) old.push(path.join(folder, name));
  }
  if (old.length === 0) {
    print(`what is in ${folder} is what fleet.yaml and the stack files give`);
    return EXIT.done;
  }
  printError(`not what fleet.yaml and the stack files give: ${listed(old)}`);
  printError(`write it again: foresail fleet export ${target} --write ${folder}`);
  return EXIT.failed;
}

/** Returns the text of an exported file: YAML without aliases, with the version of each action beside its commit. */
export function exportedText({ comment, documents }: ExportedFile): string {
  const texts = documents.map((value) => {
    const document = new Document(value, { aliasDuplicateObjects: false });
    visit(document, {
      Pair(_, { key, value: uses }) {
        if (isScalar(key) && key.value === "uses" && isScalar(uses))
          uses.comment = versionOf(String(uses.value));
      },
    });
    return document.toString({ lineWidth: 0 });
  });
  return `${comment.replaceAll(/^/gm, "# ")}\n${texts.join("---\n")}`;
}

const versionOf = (uses: string) =>
  Object.values(ACTIONS).flatMap(([commit, version]) =>
    uses.endsWith(`@${commit}`) ? [` ${version}`] : [],
  )[0];
