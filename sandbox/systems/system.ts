import type { Reporter } from "../progress";
import type { Needs } from "../set-up";
import type { Toolchain } from "../toolchain";

/** What a system works with while it starts, is checked or stops. */
interface SandboxContext {
  readonly report: Reporter;
  readonly say: (line: string) => void;
}

/** The same once the programs are there. */
export interface EquippedContext extends SandboxContext {
  readonly toolchain: Toolchain;
}

/** The configuration of a sandbox stack; keys without the project's name. */
export interface StackConfiguration {
  readonly values: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** What the person asked for on the command line; absent: as it was, or the default. */
export interface DesiredSize {
  readonly controlPlanes?: number | undefined;
  readonly workers?: number | undefined;
}

/** A cluster that a system's stack makes, as far as its configuration tells. */
export interface RecordedCluster {
  readonly name: string;
  readonly kubeconfig: string;
  readonly nodes: readonly { readonly name: string; readonly role: string }[];
}

/**
 * One system that `npm start -- SYSTEM` can bring up on this machine.
 * @typeParam Ground what stands before `pulumi up`: machines, servers, controllers
 */
export interface System<Ground = unknown> {
  readonly name: string;
  /** One line for the help text. */
  readonly summary: string;
  readonly needs: Needs;

  /** Starts what the stack stands on; what runs already stays as it is. */
  start(context: EquippedContext, size: DesiredSize): Promise<Ground>;

  /** The stack's configuration on that ground. */
  configure(fixture: Ground): StackConfiguration;

  /** Writes down what a person needs of the outputs, such as the kubeconfig, and lets go of ground that is in use no more. */
  settle(context: EquippedContext, fixture: Ground, outputs: Record<string, unknown>): Promise<void>;

  /**
   * Proves that what was made works.
   * @throws Error that says what does not
   */
  check(context: EquippedContext, fixture: Ground, outputs: Record<string, unknown>): Promise<void>;

  /** Variables that the engine needs for the stack, here and when a person runs it by hand. */
  readonly environment?: Readonly<Record<string, string>>;

  /** Brings up what destroying the stack's resources has to reach, when it does not run. */
  awaken?(context: EquippedContext): Promise<void>;

  /** What a person may want to type next. */
  nextCommands(context: EquippedContext, outputs: Record<string, unknown>): string[];

  /** Whether anything of the ground is left on this machine. */
  isStarted(): Promise<boolean>;

  /** Whether all that the stack's resources live on is gone, so that destroying them has nothing to reach. */
  isGone(): Promise<boolean>;

  /** Takes the ground down, after `pulumi destroy`; what is gone already is no error. */
  stop(context: SandboxContext): Promise<void>;

  /** The clusters of the stack, read from its configuration; empty before the first start. */
  clusters(): Promise<RecordedCluster[]>;
}

/** The stack that a system has in the sandbox. */
export function stackOf(system: Pick<System, "name">): string {
  return `sandbox-${system.name}`;
}
