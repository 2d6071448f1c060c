import { PRELOADED_OPTIONS, preloading } from "../sandbox/engine-environment";
import { projectName } from "../sandbox/paths";
import type { Toolchain } from "../sandbox/toolchain";
import { makeCompiledClone, removeFolder } from "../test/engine/compiled-clone";
import { FleetCommand } from "../test/engine/fleet-command";
import { TestStack } from "../test/engine/test-stack";
import { type Cost, costOf } from "./cost";
import type { StackContent } from "./stack";

const PLAN = "plan.json";
/** Of a whole cluster, and more. */
const SECONDS = 1_800;

/** A stack in a clone of its own, which `foresail` previews and changes as a pipeline does: a plan first, then the run. */
export class ReviewedUp {
  private constructor(
    private readonly folder: string,
    private readonly command: FleetCommand,
  ) {}

  /** Makes the stack and its plan. @throws Error with what foresail printed */
  static async make(toolchain: Toolchain, { cluster, privateKey }: StackContent): Promise<ReviewedUp> {
    const folder = makeCompiledClone();
    const stack = new TestStack(
      { folder, project: projectName, stack: "bench", seconds: SECONDS },
      toolchain,
    );
    // foresail sets by itself what makes its engines fast; only the tool chain's part of the sandbox stays
    const environment = { NODE_OPTIONS: preloading([PRELOADED_OPTIONS]), PULUMI_PARALLEL_DIFF: undefined };
    const made = new ReviewedUp(folder, new FleetCommand(stack, environment));
    try {
      await stack.create();
      await stack.setSecret("sshPrivateKey", privateKey);
      stack.configure({ system: "ssh", cluster });
      await made.must("preview", "--save-plan", PLAN);
      return made;
    } catch (error) {
      made.delete();
      throw error;
    }
  }

  /** Runs `foresail up --plan`. @throws Error with what foresail printed */
  run(): Promise<Cost> {
    return costOf(() => this.must("up", "--plan", PLAN));
  }

  delete(): void {
    removeFolder(this.folder);
  }

  private async must(...args: string[]): Promise<void> {
    const { exitCode, stdout, stderr } = await this.command.run(...args, "--stack", "bench");
    if (exitCode !== 0)
      throw new Error(`foresail ${args[0]} ended with ${exitCode}:\n${(stdout + stderr).slice(-3000)}`);
  }
}
