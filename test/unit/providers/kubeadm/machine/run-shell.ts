import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { assignments, type Parameters, shellFile } from "../../../../../providers/kubeadm/machine/shell";

/** The texts of some functions of a shell file, without what the file does with them; of a file of functions, all. */
function functionsOf(file: string, names: readonly string[] | "all"): string {
  if (names === "all") return shellFile(file);
  return names
    .map((name) => {
      const [text] = new RegExp(`^${name}\\(\\) \\{\\n[^]*?^\\}$`, "m").exec(shellFile(file)) ?? [];
      if (text === undefined) throw new Error(`${file}.sh has no function ${name}`);
      return text;
    })
    .join("\n");
}

/** The functions that write containerd's settings, by file. */
export const CONTAINERD_FUNCTIONS: Readonly<Record<string, string[] | "all">> = {
  "common/containerd-settings": "all",
  "cluster/prepare": ["dump_enabled_settings", "require_effective_containerd", "configure_containerd"],
};

/** A containerd that prints a part of its settings, and uses all that is written. @param root the machine's folder */
export const containerdProgram = (
  root: string,
) => `if [ "$*" = "config dump" ]; then cat ${root}/etc/containerd/config.toml; exit; fi
printf '  %s\\n' 'sandbox_image = "old"' '[p.registry]' 'config_path = ""' '[p.runtimes.runc]' \\
  'runtime_type = "io.containerd.runc.v2"' '[p.runtimes.runc.options]' 'SystemdCgroup = x'`;

const roots: string[] = [];
after(() => roots.forEach((root) => rmSync(root, { recursive: true, force: true })));

/** A machine in a folder: its root, and fakes for the real programs. */
export class ShellMachine {
  readonly root = mkdtempSync(path.join(tmpdir(), "foresail-shell-"));

  constructor() {
    roots.push(this.root);
  }

  /** Puts a shell program on the machine's PATH. */
  program(name: string, text: string): void {
    this.write(`/programs/${name}`, `#!/bin/bash\n${text}\n`, 0o755);
  }

  write(file: string, text: string, mode = 0o644): void {
    const where = this.path(file);
    mkdirSync(path.dirname(where), { recursive: true });
    writeFileSync(where, text, { mode });
  }

  path(file: string): string {
    return path.join(this.root, file);
  }

  /** Runs commands after functions of shell files, common/system.sh and common/software.sh, with the folder in place of the machine's. */
  run(
    functions: Readonly<Record<string, string[] | "all">>,
    parameters: Parameters,
    commands: string,
    args: string[] = [],
  ) {
    const texts = Object.entries(functions).map(([file, names]) => functionsOf(file, names));
    return this.bash([shellFile("common/software"), ...texts, commands], parameters, args);
  }

  /**
   * Runs a whole step after files of functions, without its frame and its test for the machine's owner; the answer is on
   * standard output.
   *
   * @param data its secret data, and its standard input
   * @param fakes shell functions in place of those of the files
   */
  step(
    file: string,
    parameters: Parameters,
    files: readonly string[] = [],
    { data = "", fakes = "" }: { data?: string; fakes?: string } = {},
  ) {
    const texts = [...files.map(shellFile), fakes, shellFile(file)];
    const own =
      "claimed_by=mark claimed_id=id; refuse_foreign_machine() { :; }; refuse_unnamed_owner() { :; }";
    return this.bash([`${own}; exec 4>&1 5<&0`, ...texts], parameters, [], data);
  }

  private bash(texts: string[], parameters: Parameters, args: string[] = [], input = "") {
    const text = [shellFile("common/system"), ...texts].join("\n");
    const script = `set -euo pipefail\n${assignments(text, parameters)}\n${text}`.replace(
      /(?<![\w.}])\/(etc|run|opt|usr\/local|var)\//g,
      `${this.root}/$1/`,
    );
    const env = { ...process.env, PATH: `${this.path("programs")}:${process.env["PATH"]}` };
    return spawnSync("bash", ["-c", script, "script", ...args], { encoding: "utf8", env, input });
  }
}
