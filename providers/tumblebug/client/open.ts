import type { Generation } from "../plan/model";
import { TumblebugApi } from "./api";
import { TumblebugClient } from "./client";
import { findGeneration } from "./generation";
import { infraDialect } from "./infra/dialect";
import { LOOKING, type Looking } from "./make-once";
import { mcisDialect } from "./mcis/dialect";
import { sharedLimits, type ServerLimits } from "./rate-limit";
import type { Tumblebug } from "./tumblebug";

/** Where a server is and who asks. */
export interface TumblebugSettings {
  /** with the path, such as "http://localhost:1323/tumblebug" */
  readonly address: string;
  readonly user: string;
  /** secret */
  readonly password: string;
  /** found out from the server when it is not given */
  readonly generation?: Generation;
  /** PEM, to trust beside those of the system */
  readonly caCertificates?: string;
}

export interface TumblebugOptions {
  /** Deadline of a short call with all its attempts; default 120. */
  readonly seconds?: number;
  /** Deadline of a call that makes or ends VMs; default 2400. */
  readonly longSeconds?: number;
  readonly signal?: AbortSignal;
  readonly progress?: (line: string) => void;
  /** For tests: how long a change whose answer was lost is looked for. */
  readonly looking?: Looking;
  /** For tests: limits of their own; otherwise all clients of a server share them in this process. */
  readonly limits?: ServerLimits;
}

/**
 * Opens a server, and finds out its generation unless it is given.
 *
 * @throws TumblebugRefusal, TumblebugUnreachable, UnexpectedAnswer when it is no Tumblebug of either generation
 */
export async function openTumblebug(
  settings: TumblebugSettings,
  options: TumblebugOptions = {},
): Promise<Tumblebug> {
  const api = new TumblebugApi(settings, options, options.limits ?? sharedLimits(settings.address));
  try {
    const generation = settings.generation ?? (await findGeneration(api));
    return new TumblebugClient(
      api,
      generation === "mcis" ? mcisDialect : infraDialect,
      options.looking ?? LOOKING,
    );
  } catch (error) {
    api.close();
    throw error;
  }
}
