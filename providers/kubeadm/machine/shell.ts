import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { NODE_PATHS } from "../plan/cluster/node-paths";

/** Folder of the shell files. They are not compiled, so this is the same in a clone and in an installed package. */
const FOLDER = path.resolve(__dirname, "../../../../providers/kubeadm/machine");

/** Values of a script's variables. true and false become yes and no, a list becomes an array. */
export type Parameters = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Quotes a word for a POSIX shell. */
export const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** The first lines of a shell file, for shellcheck and for withNeeds, which no machine gets. */
const HEADER = /^(?:# (?:shellcheck shell=bash|needs:|given:|replaces:).*\n)+/;

/** Returns the text of a shell file of this folder, without its header. */
export const shellFile = (name: string): string => fileText(name).replace(HEADER, "").trimEnd();

const fileText = (name: string) => readFileSync(path.join(FOLDER, `${name}.sh`), "utf8");

const needsOfFiles = new Map<string, readonly string[]>();

/** Returns shell files behind those that the line `# needs:` of each names, every one once. */
function withNeeds(names: readonly string[]): string[] {
  const needsOf = (name: string) => {
    const needs = needsOfFiles.get(name) ?? /^# needs: (.*)$/m.exec(fileText(name))?.[1]?.split(" ") ?? [];
    needsOfFiles.set(name, needs);
    return needs;
  };
  return [...new Set(names.flatMap((name) => [...withNeeds(needsOf(name)), name]))];
}

/** Returns the texts of shell files, each after those that it needs. */
export const textsOf = (names: readonly string[]): string => withNeeds(names).map(shellFile).join("\n\n");

/** Returns the commands of shell files, each after those that it needs, as shellCommands does. */
export const commandsOf = (names: readonly string[]): string =>
  withNeeds(names).map(shellCommands).join("\n");

/** The variables of NODE_PATHS with what finds their use: `member` is MEMBER_PATH. */
const PATHS = Object.entries(NODE_PATHS).map(([key, value]) => {
  const name = `${key.replace(/[A-Z]/g, "_$&").toUpperCase()}_PATH`;
  return { name, value, use: new RegExp(`\\$\\{?${name}\\b`) };
});

/** Returns one line `NAME='value'` per variable of a text: its parameters, and the paths that it uses. */
export function assignments(text: string, parameters: Parameters): string {
  const used = PATHS.filter(({ use }) => use.test(text)).map(({ name, value }) => [name, value] as const);
  return [...Object.entries(parameters), ...used]
    .map(([name, value]) => {
      if (typeof value === "object") return `${name}=(${value.map(quote).join(" ")})`;
      return `${name}=${quote(typeof value === "boolean" ? (value ? "yes" : "no") : String(value))}`;
    })
    .join("\n");
}

/** Returns a script: its variables, then this text. */
export const renderShell = (text: string, parameters: Parameters): string =>
  `${assignments(text, parameters)}\n\n${text}`;

/** Returns a step's text: its title, the environment of its own, its variables, then these commands. */
export const renderStep = (title: string, commands: string, parameters: Parameters): string =>
  `# foresail: ${title}\n${shellCommands("common/environment")}\n${renderShell(commands, parameters)}\nexit 0`;

const commandsOfFiles = new Map<string, string>();

/** Returns the commands of a shell file, without comments and blank lines outside of here-documents. */
export function shellCommands(name: string): string {
  // each machine's script has the same files
  const commands = commandsOfFiles.get(name) ?? withoutComments(shellFile(name));
  commandsOfFiles.set(name, commands);
  return commands;
}

function withoutComments(text: string): string {
  let end: string | undefined;
  return text
    .split("\n")
    .filter((line) => {
      if (end === undefined) {
        end = /(?<!<)<<'?(\w+)/.exec(line)?.[1];
        return !/^\s*(#|$)/.test(line);
      }
      if (line === end) end = undefined;
      return true;
    })
    .join("\n");
}

/** Command that unpacks a packed script on a machine for bash. Both programs are on every Debian and Ubuntu. */
export const UNPACK = "base64 -d | gunzip";

/**
 * Compresses a script to short text. State stores the input of a command resource twice and encrypted, and the engine
 * writes the whole state at every step: compression halves a machine's share (docs/benchmarks.md). A truncated script
 * does nothing, since bash never reads its closing brace.
 */
export const packScript = (script: string): string => gzipSync(script, { level: 9 }).toString("base64");
