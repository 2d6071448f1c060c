import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { filesBelow, pages, PROJECT, read } from "./project";

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

function withoutCode(text: string): string {
  return text.replace(/^( *)(`{3,}|~{3,}).*?^\1\2$/gms, "");
}

function anchors(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
}

/** Targets of `[words](target)`, those of other sites left out. */
function links(text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Commands of a page, one per line; of another file, all its lines. */
function commandsOf(file: string): string[] {
  if (!file.endsWith(".md")) return read(file).split("\n");
  return [...read(file).matchAll(/^( *)```\w*\n(.*?)^\1```/gms)].flatMap(([, , code = ""]) =>
    code.split("\n"),
  );
}

/** Returns whether a command writes a kubeconfig or another secret to a file that others may read. */
function writesUnguarded(command: string): boolean {
  const isSecret = /kubeconfig|--show-secrets|config view .*--raw|create token/i.test(command);
  const writes = /(?<![-=<\d])>{1,2} *(?![&>(]|\/dev\/)["'\w~$./]|\btee\b/.test(command);
  return isSecret && writes && !/umask 077|install -m 0?600/.test(command);
}

describe("documentation pages", () => {
  it("write kubeconfigs only to files that only their owner can read", () => {
    for (const command of [
      "pulumi stack output kubeconfig --show-secrets > kubeconfig",
      "pulumi stack output kubeconfig --show-secrets >~/.kube/dev && export KUBECONFIG=~/.kube/dev",
      "pulumi stack output kubeconfig --show-secrets > kubeconfig && chmod 600 kubeconfig",
      "kubectl get secret a --output 'jsonpath={.data.value}' | base64 -d >> \"$HOME/kubeconfig\"",
      "kubectl config view --minify --raw | tee admin.yaml",
      "kubectl create token foresail-plan -n kube-system > token",
    ])
      assert.ok(writesUnguarded(command), command);
    for (const command of [
      "pulumi stack output kubeconfig --show-secrets | install -m 600 /dev/stdin kubeconfig",
      "(umask 077; pulumi stack output kubeconfig --show-secrets > kubeconfig)",
      "kubectl --kubeconfig kubeconfig get nodes >/dev/null 2>&1",
      "pulumi stack output status > status.json",
      "const read = (kubeconfig: string) => parse(kubeconfig)",
    ])
      assert.equal(writesUnguarded(command), false, command);
    const files = [".md", ".sh", ".yml", ".yaml"].flatMap((ending) => filesBelow(".", ending));
    const shown = files.filter((file) => file.endsWith(".md") || file.startsWith("examples/"));
    const found = shown.flatMap((file) => commandsOf(file).map((command) => ({ file, command })));
    assert.ok(found.some(({ command }) => command.includes("install -m 600")));
    assert.deepEqual(
      found.filter(({ command }) => writesUnguarded(command)),
      [],
    );
  });

  it("are found", () => {
    for (const page of ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/adr/README.md"])
      assert.ok(pages().includes(page), page);
  });

  for (const page of pages()) {
    it(`${page}: every relative link leads to a file, and to a heading in it`, () => {
      const broken = links(read(page)).filter((link) => {
        const [file = "", anchor] = link.split("#");
        const target = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
        if (!existsSync(path.join(PROJECT, target))) return true;
        return anchor !== undefined && !anchors(read(target)).includes(anchor);
      });
      assert.deepEqual(broken, []);
    });
  }

  it("name only npm scripts that exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const unknown = pages().flatMap((page) =>
      [...read(page).matchAll(/\bnpm (?:run(?: -s| --silent)? )?([a-z][a-z0-9:]*)/g)]
        .filter(([command, script = ""]) => command.includes("npm run") && !(script in scripts))
        .map(([command]) => `${page}: ${command}`),
    );
    assert.deepEqual(unknown, []);
    for (const script of ["start", "stop", "test"]) assert.ok(script in scripts, script);
  });

  it("list every decision in the index", () => {
    const index = read("docs/adr/README.md");
    const decisions = pages().filter((page) => /^docs\/adr\/\d{4}-/.test(page));
    const numbers = decisions.map((page) => Number(path.basename(page).slice(0, 4)));
    // pages of changes that came together may leave out a number
    assert.equal(new Set(numbers).size, numbers.length);
    assert.ok(decisions.length > 0);
    for (const page of decisions) assert.ok(index.includes(`(${path.basename(page)})`), page);
  });
});
