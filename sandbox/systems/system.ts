import type { NodeKind } from "../nodes/node-kinds";
import type { Reporter } from "../progress";
import type { Needs } from "../set-up";
import type { Toolchain } from "../toolchain";

/** The context in which a system starts, is checked or stops. */
interface SandboxContext {
  readonly report: Reporter;
  readonly say: (line: string) => void;
}

/** The context once the programs are installed. */
export interface EquippedContext extends SandboxContext {
  readonly toolchain: Toolchain;
}

/** The configuration of a sandbox stack; keys without the project's name. */
export interface StackConfiguration {
  readonly values: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** What the user requested on the command line; absent: as before, or the default. */
export interface DesiredSize {
  readonly controlPlanes?: number | undefined;
  readonly workers?: number | undefined;
  /** What new machines are made of; absent: the default. */
  readonly kind?: NodeKind | undefined;
  /** Kinds of dirt that new workers have from their beginning. */
  readonly dirt?: readonly string[] | undefined;
}

/** A cluster of a system's stack, according to its configuration. */
export interface RecordedCluster {
  readonly name: string;
  readonly kubeconfig: string;
  readonly nodes: readonly { readonly name: string; readonly role: string }[];
}

/**
 * One system that `npm start -- SYSTEM` can bring up on this machine.
 * @typeParam Fixture what exists before `pulumi up`: machines, servers, controllers
 */
export interface System<Fixture = unknown> {
  readonly name: string;
  /** One line for the help text. */
  readonly summary: string;
  readonly needs: Needs;

  /** Starts what the stack needs; keeps what is running already. */
  start(context: EquippedContext, size: DesiredSize): Promise<Fixture>;

  /** Returns the stack's configuration for the fixture. */
  configure(fixture: Fixture): StackConfiguration;

  /** Writes files that the user needs, such as the kubeconfig, and removes machines that are no longer used. */
  postStart(context: EquippedContext, fixture: Fixture, outputs: Record<string, unknown>): Promise<void>;

  /**
   * Verifies that the result works.
   * @throws Error that names what does not
   */
  check(context: EquippedContext, fixture: Fixture, outputs: Record<string, unknown>): Promise<void>;

  /** Variables that the engine needs for the stack, here and when run by hand. */
  readonly environment?: Readonly<Record<string, string>>;

  /** Starts what destroying the stack's resources needs, unless it is running. */
  resume?(context: EquippedContext): Promise<void>;

  /** Returns suggestions for the next commands. */
  nextCommands(context: EquippedContext, outputs: Record<string, unknown>): string[];

  /** Returns whether anything of the fixture is left on this machine. */
  isStarted(): Promise<boolean>;

  /** Returns whether everything below the stack's resources is gone, so that a destroy could reach nothing. */
  isGone(): Promise<boolean>;

  /** Removes the fixture after `pulumi destroy`; ignores what is gone already. */
  stop(context: SandboxContext): Promise<void>;

  /** Returns the clusters of the stack from its configuration; empty before the first start. */
  clusters(): Promise<RecordedCluster[]>;
}

/** Returns the name of a system's stack in the sandbox. */
export function stackOf(system: Pick<System, "name">): string {
  return `sandbox-${system.name}`;
}
