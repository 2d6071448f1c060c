import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import * as ts from "typescript";
import { type HistoryEntry, recordHistory } from "../../../../lib/kubernetes/history";
import type { KubernetesClient } from "../../../../lib/kubernetes";
import { formatViolation, parseViolation } from "../../../../lib/text/policy-violation";

const ROOTS = ["cli", "components", "lib", "package", "policy", "providers", "stacks"];

/** Who prints, and how what it prints passes the filter. */
const PRINTERS: Readonly<Record<string, string>> = {
  "cli/terminal/terminal.ts": "print and printError filter",
  "cli/engine/early-handlers.ts": "passes on what Pulumi's provider prints: its port",
  "cli/engine/end-with-engine.ts": "prints nothing",
  "cli/engine/pulumi.ts": "showLines filters each line",
  "cli/engine/private-file.ts": "writes a file of a command to a device that the command line names",
  "cli/commands/preview.ts": "Markdown and JSON are filtered where they are made",
  "cli/commands/plan.ts": "the report is filtered where it is made",
  "cli/commands/drift.ts": "asks for colors only",
  "cli/commands/doctor.ts": "asks for colors only",
  "cli/commands/kubeconfig.ts": "a new key, which was asked for",
  "cli/commands/ssh.ts": "a person's own shell on a machine",
  "cli/commands/completion.ts": "the commands of foresail itself; the filter would change them",
  "cli/commands/up.ts": "asks for the width only",
  "cli/fleet/commands/report.ts": "Markdown and JSON are filtered where they are made",
  "cli/fleet/commands/export.ts": "files with names of variables; the filter would change them",
  "lib/pulumi/displayed-handlers.ts": "filters what Pulumi's provider prints",
  "lib/pulumi/log.ts": "report and warn filter",
  "lib/text/warnings.ts": "filters warnings of libraries",
  "policy/index.ts": "formatViolation filters",
};
const PRINTING = new Set([
  ...["log", "info", "warn", "error", "debug", "trace", "table", "dir"].map((name) => `console.${name}`),
  ...["process.stdout", "process.stderr", "process.emitWarning"],
  ...["debug", "info", "warn", "error"].map((name) => `pulumi.log.${name}`),
]);
/** Functions of `yaml` that read without limits. */
const UNBOUNDED = ["parse", "parseDocument", "parseAllDocuments", "Parser", "Lexer", "Composer"];

const files = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => path.join(root, file)),
).concat("index.ts");

/** Returns the files with a node that matches. */
function filesWith(matches: (node: ts.Node) => boolean): string[] {
  return files.filter((file) => {
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): boolean => matches(node) || (ts.forEachChild(node, visit) ?? false);
    return visit(source);
  });
}

describe("what the program prints", () => {
  it("leaves it in the known places, each of which filters", () => {
    const printers = filesWith((node) => ts.isPropertyAccessExpression(node) && PRINTING.has(node.getText()));
    assert.deepEqual(printers.sort(), Object.keys(PRINTERS).sort());
  });

  it("never comes from a parser of YAML without limits", () => {
    const parsers = filesWith(
      (node) =>
        ts.isImportDeclaration(node) &&
        (node.moduleSpecifier as ts.StringLiteral).text === "yaml" &&
        UNBOUNDED.some((name) => new RegExp(`\\b${name}\\b`).test(node.importClause?.getText() ?? "")),
    );
    assert.deepEqual(parsers, ["lib/yaml.ts"]);
  });

  it("has the warnings of libraries, without secrets and terminal sequences", async () => {
    const program = `
      require(${JSON.stringify(path.resolve("bin/lib/text/warnings.js"))}).displayWarnings();
      process.emitWarning("line password=hidden-value \\u001b[2J\\u202e");`;
    const { stderr } = await promisify(execFile)(process.execPath, ["-e", program]);
    assert.equal(stderr, "Warning: line password=[secret] \\u{202e}\n");
  });

  it("has violated rules without secrets, and they are read again", () => {
    const violation = {
      rule: "a",
      resource: "b",
      problem: "password=hidden-value \u001b[2J",
      fix: "c",
      isMandatory: true,
    };
    const line = formatViolation(violation);
    assert.equal(line.includes("hidden-value"), false);
    assert.deepEqual(parseViolation(line), { ...violation, problem: "password=[secret] " });
  });
});

describe("the history of a cluster", () => {
  it("has no secret, no control character and no second line", async () => {
    let written = "";
    const client = {
      change: (_ref: unknown, change: (found: undefined) => { data: { history: string } }) => {
        written = change(undefined).data.history;
        return Promise.resolve();
      },
    } as unknown as KubernetesClient;
    const entry: HistoryEntry = {
      stack: "dev",
      step: "w-1: join\u001b[2J",
      result: "failed: token=hidden-value\n\u202e2 of 3",
      seconds: 2,
    };
    await recordHistory(client, entry);
    assert.match(written, /^\S+ \S+@\S+ dev: w-1: join: failed: token=\[secret\] \\u\{202e\}2 of 3, 2 s\n$/);
  });
});
