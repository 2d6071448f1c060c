import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { pageOf } from "../../../lib/pages";
import { isObject } from "../../../lib/json";
import { CommandError } from "../../terminal/exit-codes";
import { Statement } from "../plan/trust";
import type { Packed, RunIdentity, SealedPlan, SealedStatement } from "./messages";

const VARIABLE = "FORESAIL_FLEET_KEY";
const SHORTEST_KEY = 32;

type Run = Omit<RunIdentity, "seal">;
type Outcome = { readonly review: unknown; readonly plan?: Packed };

/**
 * What the command and the workers of a fleet tell each other is sealed with a key that they share and the Temporal server
 * does not have. So nothing that others write to the namespace makes a worker act.
 */
export class FleetSeals {
  private constructor(
    private readonly key: string,
    private readonly fleet: string,
  ) {}

  /**
   * Takes the key out of the environment, so that no process that is started has it.
   *
   * @param fleet its name on the server
   * @throws CommandError without a key, or with one that can be guessed
   */
  static take(fleet: string, environment: NodeJS.ProcessEnv = process.env): FleetSeals {
    const key = environment[VARIABLE] ?? "";
    if (key.length < SHORTEST_KEY)
      throw new CommandError(
        "failed",
        `${VARIABLE} ${key === "" ? "is not set" : `has ${key.length} characters`}; it needs at least ${SHORTEST_KEY}, the same ones for the command and all workers of the fleet\n` +
          "Without it, everyone who may write to the Temporal namespace could change the stacks\n" +
          `Make one with \`openssl rand -hex 32\`, and set it in the environment of each (${pageOf("regions")})`,
      );
    delete environment[VARIABLE];
    return new FleetSeals(key, fleet);
  }

  private seal(...said: readonly unknown[]): string {
    return createHmac("sha256", this.key)
      .update(JSON.stringify(["foresail fleet, version 1", this.fleet, ...said]))
      .digest("hex");
  }

  private isSealed(found: unknown, ...said: readonly unknown[]): boolean {
    if (typeof found !== "string") return false;
    const [one, other] = [this.seal(...said), found].map((text) =>
      createHash("sha256").update(text).digest(),
    ) as [Buffer, Buffer];
    return timingSafeEqual(one, other);
  }

  run({ startedAt, review }: Run): RunIdentity {
    return { startedAt, review, seal: this.seal("run", startedAt, review) };
  }

  /** Returns why a run is none that a command with this key began; undefined when it is one. */
  runIssue(run: unknown): string | undefined {
    const { startedAt, review, seal } = (isObject(run) ? run : {}) as Partial<RunIdentity>;
    // it is the name of a folder, too
    const isDate =
      typeof startedAt === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(startedAt);
    return isDate && typeof review === "string" && this.isSealed(seal, "run", startedAt, review)
      ? undefined
      : `the run was not begun with the key of this fleet (${VARIABLE})`;
  }

  /**
   * Seals the plan that was reviewed for a stack.
   *
   * @param execution the server's identifier of the workflow, which is another one for each, so that no plan counts twice
   */
  plan({ startedAt, review }: Run, execution: string, stack: string, plan: Packed): SealedPlan {
    return { plan, seal: this.seal("plan", startedAt, review, execution, stack, plan) };
  }

  /** Returns whether a plan is the one that was reviewed for a stack in this execution of a run. */
  isPlan(
    { startedAt, review }: RunIdentity,
    execution: string,
    stack: string,
    sealed: unknown,
  ): sealed is SealedPlan {
    const { plan, seal } = (isObject(sealed) ? sealed : {}) as Partial<SealedPlan>;
    return typeof plan === "string" && this.isSealed(seal, "plan", startedAt, review, execution, stack, plan);
  }

  say({ startedAt, review }: Run, statement: Statement): SealedStatement {
    return { statement, seal: this.seal("statement", startedAt, review, ordered(statement)) };
  }

  /** Returns the statements about a run that were made with this key; all others are left out. */
  said({ startedAt, review }: Run, sealed: unknown): Statement[] {
    if (!Array.isArray(sealed)) return [];
    return sealed.flatMap((one: unknown) => {
      const statement = Statement.safeParse(isObject(one) ? one.statement : undefined).data;
      const isOurs =
        statement !== undefined &&
        this.isSealed((one as SealedStatement).seal, "statement", startedAt, review, ordered(statement));
      return isOurs ? [statement] : [];
    });
  }

  /** Seals the preview of a stack for the command that asked for it by `nonce`. */
  preview(nonce: string, stack: string, { review, plan }: Outcome): string {
    return this.seal("preview", nonce, stack, JSON.stringify(review), plan ?? null);
  }

  isPreview(nonce: string, stack: string, { review, plan, seal }: Outcome & { seal?: unknown }): boolean {
    return this.isSealed(seal, "preview", nonce, stack, JSON.stringify(review), plan ?? null);
  }
}

/** The server may give the fields in another order. */
const ordered = (statement: Statement) =>
  Object.entries(statement).sort(([one], [other]) => (one < other ? -1 : 1));
