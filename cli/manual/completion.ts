import type { CommandFacts, OptionFacts } from "./command-tree";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Returns the script that completes the commands of foresail in a shell. */
export function completionScript(shell: Shell, commands: readonly CommandFacts[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands);
}

/** Returns the names of the commands directly below one. */
function below(commands: readonly CommandFacts[], parent: string): CommandFacts[] {
  const prefix = parent === "" ? "" : `${parent} `;
  return commands.filter(
    ({ path }) => path !== "" && path.startsWith(prefix) && !path.slice(prefix.length).includes(" "),
  );
}

const lastWord = ({ path }: CommandFacts): string => path.split(" ").at(-1) ?? "";

/** Returns the options of a command, with those that every command takes. */
function optionsOf(command: CommandFacts, [program]: readonly CommandFacts[]): OptionFacts[] {
  const shared = (program?.options ?? []).filter(
    ({ long }) => !command.options.some((own) => own.long === long),
  );
  return [...command.options, ...shared];
}

/** Texts in single quotes are taken as they are by each of the shells. */
const quotedFor = (text: string): string => `'${text.replaceAll("'", "").replaceAll("`", "")}'`;

function bashScript(commands: readonly CommandFacts[]): string {
  const words = commands.map(
    (command) =>
      `    ${quotedFor(command.path)}) words=${quotedFor([...below(commands, command.path).map(lastWord), ...optionsOf(command, commands).map(({ long }) => long)].join(" "))} ;;`,
  );
  const values = commands.flatMap((command) =>
    optionsOf(command, commands)
      .filter(({ takesValue }) => takesValue)
      .map((option) => `    ${quotedFor(`${command.path} ${option.long}`)}) ${valuesInBash(option)} ;;`),
  );
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quotedFor(path));
  return `# completion of foresail for bash: source <(foresail completion bash)
_foresail() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= word candidate words=
  local commands=(${paths.join(" ")})
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    candidate="\${command:+$command }$word"
    for words in "\${commands[@]}"; do
      if [[ $words == "$candidate" ]]; then command=$candidate; fi
    done
  done
  words=
  COMPREPLY=()
  case "$command $previous" in
${values.join("\n")}
  esac
  case "$command" in
${words.join("\n")}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _foresail foresail
`;
}

/** Without choices, a value is completed as a file. */
function valuesInBash({ choices }: OptionFacts): string {
  if (choices.length === 0) return "return";
  return `mapfile -t COMPREPLY < <(compgen -W ${quotedFor(choices.join(" "))} -- "$current"); return`;
}

function zshScript(commands: readonly CommandFacts[]): string {
  const described = (name: string, text: string) =>
    quotedFor(`${name.replaceAll(":", "\\:")}:${text.split("\n")[0] ?? ""}`);
  const cases = commands.map((command) => {
    const words = [
      ...below(commands, command.path).map((each) => described(lastWord(each), each.description)),
      ...optionsOf(command, commands).map(({ long, description }) => described(long, description)),
    ];
    return `    ${quotedFor(command.path)}) found=(${words.join(" ")}) ;;`;
  });
  const values = commands.flatMap((command) =>
    optionsOf(command, commands)
      .filter(({ takesValue }) => takesValue)
      .map((option) => `    ${quotedFor(`${command.path} ${option.long}`)}) ${valuesInZsh(option)} ;;`),
  );
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quotedFor(path));
  return `#compdef foresail
# completion of foresail for zsh: source <(foresail completion zsh)
_foresail() {
  local command= word candidate previous=$words[CURRENT-1]
  local -a commands found
  commands=(${paths.join(" ")})
  for word in "\${(@)words[2,CURRENT-1]}"; do
    candidate="\${command:+$command }$word"
    if (( \${commands[(Ie)$candidate]} )); then command=$candidate; fi
  done
  case "$command $previous" in
${values.join("\n")}
  esac
  case "$command" in
${cases.join("\n")}
  esac
  _describe foresail found || _files
}
compdef _foresail foresail
`;
}

const valuesInZsh = ({ choices }: OptionFacts): string =>
  choices.length === 0 ? "_files; return" : `compadd ${choices.map(quotedFor).join(" ")}; return`;

function fishScript(commands: readonly CommandFacts[]): string {
  const lines = commands.flatMap((command) => {
    const { path, options } = command;
    const names = below(commands, path).map(lastWord);
    const seen = path.split(" ").filter((word) => word !== "");
    const conditions = [
      ...seen.map((word) => `__fish_seen_subcommand_from ${word}`),
      ...(names.length > 0 ? [`not __fish_seen_subcommand_from ${names.join(" ")}`] : []),
    ];
    const when = conditions.length === 0 ? "" : ` -n ${quotedFor(conditions.join("; and "))}`;
    return [
      ...below(commands, path).map(
        (each) => `complete -c foresail -f${when} -a ${lastWord(each)} -d ${quotedFor(each.description)}`,
      ),
      ...options.map((option) => `complete -c foresail${when}${optionInFish(option)}`),
    ];
  });
  return `# completion of foresail for fish: foresail completion fish | source\n${lines.join("\n")}\n`;
}

function optionInFish({ long, short, description, takesValue, choices }: OptionFacts): string {
  return [
    ` -l ${long.replace(/^--/, "")}`,
    ...(short === undefined ? [] : [` -s ${short.replace(/^-/, "")}`]),
    ...(takesValue ? [choices.length > 0 ? ` -x -a ${quotedFor(choices.join(" "))}` : " -r"] : []),
    ` -d ${quotedFor(description)}`,
  ].join("");
}
