import { TumblebugApi, type TumblebugOptions, type TumblebugSettings } from "./api";
import { TumblebugClient } from "./client";
import { findGeneration } from "./generation";
import { infraDialect } from "./infra/dialect";
import { LOOKING } from "./make-once";
import { mcisDialect } from "./mcis/dialect";
import { sharedLimits } from "./rate-limit";
import type { Tumblebug } from "./tumblebug";

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
