import { TumblebugApi, type TumblebugOptions, type TumblebugSettings } from "./api";
import { TumblebugClient } from "./client";
import { findGeneration } from "./generation";
import { infraDialect } from "./infra/dialect";
import { LOOKING } from "./make-once";
import { mcisDialect } from "./mcis/dialect";
import { sharedLimits } from "./rate-limit";
import type { Tumblebug } from "./tumblebug";

/**
 * Opens a client for a server. Detects the generation if `settings` has none.
 *
 * @throws TumblebugRefusal, TumblebugUnreachable; UnexpectedAnswer if it is not a Tumblebug server of either generation
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
