/** What the simulated engine's registry and machines do; everything is there and works by default. */
export interface DockerFaults {
  /** @returns why an image can't be pulled; undefined when it can. A promise delays the pull. */
  readonly pull?: (image: string) => Promise<string | undefined>;
  /** @returns what `kubeadm join` says when it fails on a machine of an image; undefined when it joins */
  readonly join?: (image: string) => string | undefined;
}

/** A container of the simulated engine. */
export interface Container {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: string;
  isRunning: boolean;
  /** path → content */
  readonly files: Map<string, string>;
}

/** A command in a container. */
export interface Exec {
  readonly container: Container;
  readonly command: readonly string[];
  readonly readsInput: boolean;
  /** undefined while it runs */
  exitCode?: number;
}

interface CommandResult {
  readonly exitCode: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

const STARTED = "/run/cluster-api/capd.bootstrap.started";

/**
 * Runs one of the commands that Cluster API's provider for Docker sends: those of a machine's boot, those of the join
 * data, and those that write the load balancer's configuration.
 */
export async function runCommand(
  { container, command }: Exec,
  input: string,
  { join, onJoin }: DockerFaults & { onJoin: (container: Container) => Promise<void> },
): Promise<CommandResult> {
  const { files, image } = container;
  const [program = "", ...args] = command;
  const line = command.join(" ");
  if (line === "crictl ps" || program === "mkdir" || program === "chmod") return { exitCode: 0 };
  if (program === "cp" && args[0] === "/dev/stdin") {
    files.set(args[1] ?? "", input);
    return { exitCode: 0 };
  }
  if (program === "cp" && args[1] === "/dev/stdout")
    return { exitCode: 0, stdout: files.get(args[0] ?? "") ?? "" };
  if (line.includes(`test -f ${STARTED}`)) return { exitCode: 0, stdout: String(files.has(STARTED)) };
  if (line.includes("kubeadm join")) {
    files.set(STARTED, "started");
    const stderr = join?.(image);
    if (stderr !== undefined) return { exitCode: 1, stderr };
    await onJoin(container);
    return { exitCode: 0, stdout: "This node has joined the cluster\n" };
  }
  return { exitCode: 127, stderr: `the simulated engine can't run: ${line}` };
}
