import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import * as ts from "typescript";
import { redact } from "../../../../lib/text/redaction";

const ROOTS = ["cli", "components", "lib", "package", "policy", "providers", "stacks"];
/** Patterns of secrets, and a generated list of names. */
const WITHOUT_MESSAGES = ["lib/text/redaction.ts", "providers/kubeadm/plan/validation/kubernetes-fields.ts"];

const filesIn = (root: string, end: string): string[] =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(end))
    .map((file) => path.join(root, file));

/** Returns the texts in a source: literals, and templates with a word for each of their values. */
function textsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node))
      for (const first of ["x", "w-1", ...(isName(node) ? ["api-token", "demo-secret"] : [])])
        texts.push(
          node.head.text +
            node.templateSpans.map(({ literal }, at) => (at > 0 ? "x" : first) + literal.text).join(""),
        );
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

/** Returns whether a template begins with a name, as `w-1: join as worker` does. */
const isName = ({ head, templateSpans: [first] }: ts.TemplateExpression): boolean =>
  head.text === "" && /^: [a-z]/.test(first?.literal.text ?? "");

/** The content of a file for a machine. */
const CREDENTIALS = /^ {2}username = /;

const SOURCES = ROOTS.flatMap((root) => filesIn(root, ".ts")).filter(
  (file) => !WITHOUT_MESSAGES.includes(file),
);
const TEXTS = [...new Set(SOURCES.flatMap(textsOf))].filter((text) => !CREDENTIALS.test(text));

describe("messages of the program", () => {
  it("pass the filter of secrets unchanged", () => {
    assert.ok(TEXTS.length > 5_000, `${TEXTS.length} texts`);
    const changed = TEXTS.filter((text) => redact(text) !== text);
    assert.deepEqual(
      changed.map((text) => `${text} → ${redact(text)}`),
      [],
    );
  });

  it("pass it also behind the path of a secret field", () => {
    const paths = ["sshPrivateKey", 'registryCredentials["registry.example"].password', "tokens[0].token"];
    const sentences = TEXTS.filter((text) =>
      /^(?:is|are|has|have|must|can't|names|needs|contains) /.test(text),
    );
    assert.ok(sentences.length > 200, `${sentences.length} sentences`);
    for (const text of sentences)
      for (const name of paths) assert.equal(redact(`  ${name}: ${text}`), `  ${name}: ${text}`);
  });

  it("of scripts on machines pass it unchanged", () => {
    const lines = filesIn("providers/kubeadm/machine", ".sh")
      .flatMap((file) => readFileSync(file, "utf8").split("\n"))
      .filter((line) => /\b(?:echo|fail|say|note|refuse|problem)\b/.test(line));
    assert.ok(lines.length > 50, `${lines.length} lines`);
    for (const line of lines) assert.equal(redact(line), line);
  });
});
